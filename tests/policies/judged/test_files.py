"""What policies keep back of stored files, one test a rule."""

from __future__ import annotations

import pytest

from gatewayfw import DirectoryFiles, any_, gateway, optional, string
from tests.files.conftest import KEY, upload


@pytest.fixture
def album(database, tmp_path):
    """A gateway with a public and a secret file, of which clerks see the public one, and who asks."""
    gw = gateway(roles=["Clerk"], link_key=KEY)
    gw.odm.set_db(database)
    gw.files.use(DirectoryFiles(tmp_path))

    def sign_in(body):
        user = {"_id": "u", "isGhost": gw.album["ghost"]}
        gw.context_fns.add_context({"user": user, "active_role": {"name": "Clerk"}})

    gw.sign_in = sign_in
    gw.files.model("photo", {"album": string()}, read=[sign_in])
    gw.policy("photo", roles=["Clerk"], rows=lambda context: {"album": "public"})
    gw.album = {one: str(gw.files.insert(upload(), doc={"album": one})["_id"]) for one in ("public", "secret")}
    gw.album["ghost"] = False
    gw.acts.act("photo", "link", set={"_id": any_}, pre_act=[sign_in])(
        lambda body: gw.files.link(body["details"]["set"]["_id"], seconds=60)
    )
    return gw


def link(album, name):
    """Return the reply to a clerk who wants a link to a file."""
    details = {"set": {"_id": album.album[name]}, "get": {}}
    return album.create_app().test_client().post("/gateway", json={"model": "photo", "act": "link", "details": details})


@pytest.mark.parametrize(
    ("name", "ghost", "status"), [("public", False, 200), ("secret", False, 404), ("secret", True, 200)]
)
def test_rows_join_the_filter_of_a_file_that_is_read(album, name, ghost, status):
    album.album["ghost"] = ghost
    with album.create_app().test_client().get(f"/gateway/files/{album.album[name]}") as reply:
        assert reply.status_code == status


def test_a_link_is_made_only_to_a_visible_file(album):
    assert [link(album, name).status_code for name in ("public", "secret")] == [200, 404]


def test_a_link_is_read_unrestricted(album):
    address = album.files.link(album.album["secret"], seconds=60)
    with album.create_app().test_client().get(address) as reply:
        assert (reply.status_code, reply.data) == (200, b"content")


def test_what_is_known_of_a_file_is_not_named_by_who_sends_it(album):
    def send(body):
        given = body["details"]["set"]
        return str(album.files.insert(upload(), doc={"album": "public", **given}, projection={"album": 1})["_id"])

    album.policy("photo", roles=["Clerk"], fixed=["name", "type", "sha256"], hide=["size"])
    album.acts.act("photo", "send", set={"name": optional(string)}, pre_act=[album.sign_in])(send)
    client = album.create_app().test_client()
    sent = [
        client.post("/gateway", json={"model": "photo", "act": "send", "details": {"set": given, "get": {}}})
        for given in ({}, {"name": "mine.txt"})
    ]
    assert [reply.status_code for reply in sent] == [200, 403]


def test_a_hidden_type_of_a_file_is_not_sent(album):
    picture = album.files.insert(upload(type_="image/png"), doc={"album": "public"})["_id"]
    album.policy("photo", roles=["Clerk"], hide=["type"])
    with album.create_app().test_client().get(f"/gateway/files/{picture}") as reply:
        assert (reply.status_code, reply.data, reply.content_type) == (200, b"content", "application/octet-stream")
