"""Avatars: sent, embedded, read with a token or a link, replaced and forgotten."""

from __future__ import annotations

import hashlib
import io
from concurrent.futures import ThreadPoolExecutor

import pytest

from gatewayfw.client import CallError
from gatewayfw.testing.kit import GatewayClient
from tests.web.forms import PNG

NO_TOKEN = "you should send your id with token key in req header"
GET = {"first_name": 1, "avatar": {"_id": 1, "name": 1, "type": 1, "size": 1, "sha256": 1}}


@pytest.fixture
def app(service):
    return service.gw.create_app()


@pytest.fixture
def nobody(app, service):
    """A client of somebody who is not logged in."""
    return GatewayClient(app, service.auth.tokens)


@pytest.fixture
def clients(nobody, people):
    """A client of each of the people, by name."""
    return {name: nobody.as_user({"_id": person.id}) for name, person in people.items()}


def send(client, data=PNG):
    return client.act("user", "setAvatar", set={"avatar": io.BytesIO(data)}, get=GET)


def bytes_kept(service):
    return service.gw.odm.storage.count("fs.files", {})


def test_a_user_sends_an_avatar_and_sees_it(app, service, people, clients):
    user = send(clients["Employee"])
    avatar = user["avatar"]
    facts = {"name": "file", "type": "image/png", "size": len(PNG), "sha256": hashlib.sha256(PNG).hexdigest()}
    assert (user["first_name"], avatar) == ("Employee", {"_id": avatar["_id"], **facts})
    seen = clients["Admin"].act("user", "getUser", set={"userId": people["Employee"].id}, get={"avatar": 1})
    assert seen["avatar"] == avatar
    path = f"/gateway/files/{avatar['_id']}"
    with app.test_client().get(path, headers={"token": people["Ordinary"].token}) as reply:
        assert (reply.data, reply.headers["Content-Type"]) == (PNG, "image/png")
    refused = app.test_client().get(path)
    assert (refused.status_code, refused.get_json()["body"]) == (401, {"message": NO_TOKEN})


def test_a_link_needs_no_token(app, clients):
    id_ = send(clients["Employee"])["avatar"]["_id"]
    link = clients["Employee"].act("file", "getFileLink", set={"fileId": id_})["link"]
    with app.test_client().get(link) as reply:
        assert reply.data == PNG
    with pytest.raises(CallError) as raised:
        clients["Employee"].act("file", "getFileLink", set={"fileId": "0" * 24})
    assert (raised.value.status, raised.value.message) == (404, "file not found")


def test_another_avatar_replaces_the_one_before(service, clients):
    first = send(clients["Employee"])["avatar"]["_id"]
    second = send(clients["Employee"], PNG + b"more")["avatar"]
    assert second["size"] == len(PNG) + 4
    assert service.files.count({"_id": first}) == 0
    assert bytes_kept(service) == 1


def test_avatars_sent_at_once_leave_one(service, clients):
    with ThreadPoolExecutor(8) as threads:
        sent = list(threads.map(lambda number: send(clients["Employee"], PNG + b"%d" % number), range(8)))
    ids = {user["avatar"]["_id"] for user in sent}
    assert len(ids) == 8
    assert service.files.count() == 1
    assert bytes_kept(service) == 1


def test_an_avatar_that_somebody_else_has_stays(service, people, clients, act_as):
    shared = send(clients["Employee"])["avatar"]["_id"]
    service.users.add_relation({"_id": people["Ordinary"].id}, relations={"avatar": {"_ids": shared}})
    send(clients["Employee"], PNG + b"more")
    assert (service.files.count({"_id": shared}), bytes_kept(service)) == (1, 2)


@pytest.mark.parametrize("data", [b"<svg/>", b"GIF89a", b""])
def test_other_content_is_refused(service, clients, data):
    with pytest.raises(CallError) as raised:
        send(clients["Employee"], data)
    assert raised.value.status == 415
    assert service.files.count() == 0
    assert bytes_kept(service) == 0


def test_without_a_token_no_file_is_read(service, nobody):
    with pytest.raises(CallError) as raised:
        send(nobody)
    assert (raised.value.status, raised.value.message) == (401, NO_TOKEN)
    assert (service.files.count(), bytes_kept(service)) == (0, 0)


def test_data_about_a_file_elsewhere_has_no_bytes(app, people, clients):
    set_ = {"name": "a.png", "type": "image/png", "size": 1, "path": "/a.png"}
    id_ = clients["Employee"].act("file", "addFile", set=set_, get={"_id": 1})["_id"]
    reply = app.test_client().get(f"/gateway/files/{id_}", headers={"token": people["Employee"].token})
    assert (reply.status_code, reply.get_json()["body"]) == (404, {"message": "file not found"})
