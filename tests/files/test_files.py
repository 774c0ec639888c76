"""The files of a gateway: documents and bytes go together."""

from __future__ import annotations

import copy
import logging
import os
import time
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest
from bson import ObjectId
from flask import Flask

from gatewayfw import DirectoryFiles, GridFsFiles, gateway, integer, string
from gatewayfw.auth import Auth, Rule, Tokens, header
from gatewayfw.errors import (
    DefinitionError,
    Forbidden,
    NotFound,
    StillReferenced,
    StorageError,
    UsageError,
    ValidationError,
)
from gatewayfw.files import Files
from gatewayfw.files.links import links_of
from gatewayfw.odm.database import Database
from gatewayfw.settings import Settings
from tests.files.conftest import KEY, upload
from tests.waiting import wait_until
from tests.web.mount import raising

FACTS = {"name": 1, "type": 1, "size": 1, "sha256": 1}


def bytes_of(gw, id_):
    """The content of a file, as its route reads it."""
    act, body = gw.files.find_act(
        str(id_), dict(part.split("=") for part in gw.files.link(id_).partition("?")[2].split("&"))
    )
    with act.fn(body).content as content:
        return content.read()


def test_an_upload_is_a_document_and_bytes(gw, keys):
    one = upload(b"abc", "a.txt")
    stored = gw.files.insert(one, projection=FACTS)
    facts = {"name": "a.txt", "type": "application/octet-stream", "size": 3, "sha256": one.sha256}
    assert stored == {"_id": stored["_id"], **facts}
    assert (bytes_of(gw, stored["_id"]), len(keys())) == (b"abc", 1)


def test_the_model_of_files(database):
    gw = gateway()
    gw.odm.set_db(database)
    model = gw.files.model()
    text = {"kind": "string", "minLength": 1, "maxLength": 255, "presence": "required"}
    assert (model.name, model.count()) == ("file", 0)
    assert gw.catalog()["models"]["file"]["fields"] == {
        "_id": {"kind": "object_id", "presence": "required"},
        "name": text,
        "type": text,
        "size": {"kind": "integer", "minimum": 0, "presence": "required"},
        "sha256": {"kind": "string", "minLength": 64, "maxLength": 64, "presence": "optional"},
    }
    assert [index.keys for index in gw.odm.storage.indexes("file")] == [(("key", 1), ("_id", 1))]


def test_a_key_has_forty_characters(gw):
    given = {"name": "a", "type": "b", "size": 0}
    gw.odm.model("file").insert_one({**given, "key": "0" * 40})
    with pytest.raises(ValidationError) as raised:
        gw.odm.model("file").insert_one({**given, "key": "0" * 41})
    assert raised.value.errors == {"doc.key": ["Length must be 40."]}


def test_the_key_is_in_no_reply_and_no_copy(gw):
    avatar = gw.files.insert(upload())
    user = gw.odm.model("user").insert_one({}, relations={"avatar": {"_ids": avatar["_id"]}}, projection={"avatar": 1})
    assert set(avatar) == {"_id", *FACTS}
    assert set(user["avatar"]) == {"_id", *FACTS}


def test_a_document_may_have_fields_and_relations_of_its_own(database, store):
    gw = gateway()
    gw.odm.set_db(database)
    gw.files.use(store)
    owner = {"schemaName": "user", "type": "single", "relatedRelations": {"pictures": {"type": "multiple"}}}
    gw.odm.new_model("user", {"name": string()})
    gw.files.model("picture", {"width": integer()}, {"owner": owner})
    ann = gw.odm.model("user").insert_one({"name": "Ann"})["_id"]
    found = gw.files.insert(
        upload(),
        doc={"name": "me", "width": 5},
        relations={"owner": {"_ids": ann, "relatedRelations": {"pictures": True}}},
        projection={"name": 1, "width": 1, "owner": 1},
    )
    assert found == {"_id": found["_id"], "name": "me", "width": 5, "owner": {"_id": ann, "name": "Ann"}}


@pytest.mark.parametrize("name", ["type", "size", "sha256", "key"])
def test_what_comes_from_the_file_cannot_be_said(gw, keys, name):
    with pytest.raises(ValidationError) as raised:
        gw.files.insert(upload(), doc={name: "x"})
    assert (raised.value.errors, keys()) == ({f"doc.{name}": ["Comes from the file."]}, [])


def test_bytes_are_stored_once_however_often_the_act_runs(gw, keys):
    one, runs = upload(b"abc"), []

    def act():
        runs.append(copy.deepcopy({"avatar": one}))
        assert runs[-1]["avatar"].stream.read() == b"abc"
        return gw.files.insert(runs[-1]["avatar"])["_id"]

    def twice():
        act()
        return act()

    id_ = gw.odm.transaction(twice)
    assert len(runs) == 2
    assert len(keys()) == 1
    assert bytes_of(gw, id_) == b"abc"


def test_changed_content_is_refused_and_not_kept(gw, keys):
    for write in (lambda stream: stream.write(b"xyz"), lambda stream: stream.truncate(1)):
        one = upload(b"abc")
        write(one.stream)
        with pytest.raises(UsageError) as raised:
            gw.files.insert(one)
        assert raised.value.message == "files.insert: the content of the upload was changed"
    assert (keys(), gw.odm.model("file").count()) == ([], 0)


def test_all_that_comes_from_the_file_is_named_at_once(gw):
    with pytest.raises(ValidationError) as raised:
        gw.files.insert(upload(), doc={"type": "x", "name": "b", "key": "x"})
    assert raised.value.errors == {f"doc.{name}": ["Comes from the file."] for name in ("key", "type")}


def test_missing_bytes_are_not_found_and_logged(gw, caplog):
    id_ = gw.files.insert(upload(b"abc"))["_id"]
    gw.odm.storage.update_many("file", {}, {"$set": {"size": 5}})
    with pytest.raises(NotFound) as raised:
        bytes_of(gw, id_)
    assert raised.value.message == "file not found"
    assert caplog.record_tuples == [("gatewayfw.files", logging.ERROR, f"the bytes of the file {id_} are missing")]


def test_only_uploads_are_stored(gw):
    with pytest.raises(UsageError) as raised:
        gw.files.insert(b"abc")
    assert raised.value.message == "files.insert: expected an Upload, not bytes"


# -- deletion


def test_deleting_a_document_deletes_its_bytes(gw, keys):
    one, two = (gw.files.insert(upload(content))["_id"] for content in (b"one", b"two"))
    gw.odm.model("file").delete_one({"_id": one})
    assert (len(keys()), bytes_of(gw, two)) == (1, b"two")


def test_an_upload_that_is_inserted_again_has_its_bytes_again(gw, keys):
    sent = upload(b"abc")
    gw.odm.model("file").delete_one({"_id": gw.files.insert(sent)["_id"]})
    id_ = gw.files.insert(sent)["_id"]
    assert (bytes_of(gw, id_), len(keys())) == (b"abc", 1)


def test_bytes_that_another_document_has_too_stay(gw, keys):
    same = upload(b"abc")
    one, two = gw.files.insert(same)["_id"], gw.files.insert(same)["_id"]
    gw.odm.model("file").delete_one({"_id": one})
    assert bytes_of(gw, two) == b"abc"
    gw.odm.model("file").delete_one({"_id": two})
    assert keys() == []


def test_a_deletion_that_is_undone_or_refused_keeps_the_bytes(gw):
    id_ = gw.files.insert(upload(b"abc"))["_id"]
    files, users = gw.odm.model("file"), gw.odm.model("user")

    def fail():
        files.delete_one({"_id": id_})
        raise KeyError

    with pytest.raises(KeyError):
        gw.odm.transaction(fail)
    users.insert_one({}, relations={"avatar": {"_ids": id_}})
    with pytest.raises(StillReferenced):
        files.delete_one({"_id": id_})
    assert bytes_of(gw, id_) == b"abc"


def test_bytes_go_after_the_outermost_commit(gw, keys):
    id_ = gw.files.insert(upload())["_id"]
    seen = []

    def delete():
        gw.odm.model("file").delete_one({"_id": id_})
        seen.append(len(keys()))

    gw.odm.transaction(delete)
    assert (seen, keys()) == ([1], [])


def test_bytes_of_a_cascade_go_too(database, store, keys_of):
    gw = gateway()
    gw.odm.set_db(database)
    gw.files.use(store)
    gw.odm.new_model("user", {})
    gw.files.model("file", {}, {"owner": {"schemaName": "user", "type": "single"}})
    ann = gw.odm.model("user").insert_one({})["_id"]
    for content in (b"a", b"b"):
        gw.files.insert(upload(content), relations={"owner": {"_ids": ann}})
    assert gw.odm.model("user").delete_one({"_id": ann}, hard_cascade=True)["cascaded"] == {"file": 2}
    assert keys_of(store) == []


@pytest.mark.mongo
def test_bytes_of_a_cascade_that_a_job_finishes_go_too(mongo_database, store, keys_of):
    gw = gateway(inline_limit=1)
    gw.odm.set_db(mongo_database)
    gw.files.use(store)
    gw.odm.new_model("user", {})
    gw.files.model("file", {}, {"owner": {"schemaName": "user", "type": "single"}})
    ann = gw.odm.model("user").insert_one({})["_id"]
    for content in (b"a", b"b", b"c"):
        gw.files.insert(upload(content), relations={"owner": {"_ids": ann}})
    gw.odm.model("user").delete_one({"_id": ann}, hard_cascade=True)
    assert gw.odm.work() == 0
    assert gw.odm.model("file").count() == 0
    assert keys_of(store) == []


def test_bytes_of_many_documents_go_with_them(gw, keys):
    for content in (b"a", b"b", b"c"):
        gw.files.insert(upload(content, content.decode()))
    gw.odm.model("file").delete_many({"name": {"$in": ["a", "b"]}})
    assert len(keys()) == 1


def test_bytes_that_cannot_be_deleted_are_left_to_the_sweep(gw, store, keys, caplog, monkeypatch):
    id_ = gw.files.insert(upload())["_id"]

    def fail(self, key):
        raise StorageError("secret")

    with monkeypatch.context() as broken:
        broken.setattr(type(store), "delete", fail)
        gw.odm.model("file").delete_one({"_id": id_})
    text = "the bytes of deleted files are left to the sweep: StorageError"
    assert caplog.record_tuples == [("gatewayfw.files", logging.WARNING, text)]
    assert len(keys()) == 1
    assert gw.files.sweep(-60) == 1
    assert keys() == []


# -- sweep


def test_the_sweep_tells_its_progress(gw):
    assert gateway().files.sweep() == 0
    for _ in range(3):
        with pytest.raises(ValidationError):
            gw.files.insert(upload(), doc={"unknown": 1})
    told = []
    assert (gw.files.sweep(-60, on_progress=told.append), told) == (3, [1, 2, 3])


def test_the_sweep_asks_for_500_keys_at_once(gw, store, monkeypatch):
    asked, deleted, find = [], [], type(gw.odm.storage).find

    def finding(self, name, filters, *more):
        asked.append((name, len(filters["key"]["$in"]), *more))
        return find(self, name, filters, *more)

    monkeypatch.setattr(type(gw.odm.storage), "find", finding)
    monkeypatch.setattr(type(store), "old", lambda self, origin, age: iter(f"{number:040}" for number in range(1001)))
    monkeypatch.setattr(type(store), "delete", lambda self, key: deleted.append(key))
    assert (gw.files.sweep(), len(set(deleted))) == (1001, 1001)
    assert asked == [("file", number, ["key"]) for number in (500, 500, 1)]


@pytest.fixture
def attend(monkeypatch):
    """Define files, and return the clock, the sweeps, and what the thread of the jobs calls now and then."""
    kept, swept, clock = [], [], SimpleNamespace(now=100.0)
    monkeypatch.setattr(Database, "keep_bytes", lambda self, *given: kept.append(given))
    monkeypatch.setattr(Files, "sweep", lambda self: swept.append(clock.now))
    monkeypatch.setattr("gatewayfw.files.files.time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr("gatewayfw.files.files.random", SimpleNamespace(uniform=lambda low, high: low + high))
    gw = gateway()
    gw.files.model("image")
    [(model, field, _, attend)] = kept
    assert (model, field) == ("image", "key")
    attend()  # there is no store yet
    gw.files.use(GridFsFiles())
    return clock, swept, attend


def test_the_first_sweep_is_after_about_an_hour_and_so_is_each_further_one(attend):
    clock, swept, attend = attend
    for now in (100.0, 7299.0, 7300.0, 7301.0, 14500.0):
        clock.now = now
        attend()
    assert swept == [7300.0, 14500.0]


def test_a_sweep_that_fails_is_logged_and_tried_again(attend, caplog, monkeypatch):
    clock, _, attend = attend
    error = StorageError("secret")
    monkeypatch.setattr(Files, "sweep", raising(error))
    for clock.now in (0.0, 10_000.0, 20_000.0):
        attend()
    assert [record[:2] for record in caplog.record_tuples] == [("gatewayfw.files", logging.WARNING)] * 2
    first, *_, last = caplog.messages[0].splitlines()
    assert (first, last) == ("the sweep of files failed", "gatewayfw.errors.StorageError code=storage_error")


def test_the_sweep_deletes_old_bytes_without_a_document(gw, store, keys):
    kept = gw.files.insert(upload(b"kept"))["_id"]
    with pytest.raises(ValidationError):
        gw.files.insert(upload(b"lost"), doc={"unknown": 1})
    assert (gw.files.sweep(), len(keys())) == (0, 2)
    assert gw.files.sweep(-60) == 1
    assert gw.files.sweep(-60) == 0
    assert len(keys()) == 1
    assert bytes_of(gw, kept) == b"kept"


def test_the_sweep_keeps_the_bytes_that_a_list_of_another_tool_names(gw, store, keys):
    kept = gw.files.insert(upload(b"kept"))["_id"]
    (key,) = keys()
    gw.odm.storage.update_many("file", {"_id": kept}, {"$set": {"key": [{"x": 1}, key]}})
    assert (gw.files.sweep(-60), keys()) == (0, [key])


def test_the_sweep_leaves_what_another_model_or_database_stored(gw, store, keys):
    other = gateway()
    other.odm.set_db(gw.odm.storage)
    other.files.use(store)
    other.files.model("image")
    with pytest.raises(ValidationError):
        other.files.insert(upload(), doc={"unknown": 1})
    assert gw.files.sweep(-60) == 0
    assert len(keys()) == 1
    assert other.files.sweep(-60) == 1


@pytest.mark.mongo
def test_the_thread_of_the_jobs_sweeps(mongo_database, tmp_path, monkeypatch):
    monkeypatch.setattr("gatewayfw.files.files.GRACE", 0.0)
    monkeypatch.setattr("gatewayfw.odm.jobs.background.PAUSE", 0.01)
    gw = gateway()
    gw.odm.set_db(mongo_database)
    gw.files.use(DirectoryFiles(tmp_path))
    gw.files.model("file")
    with pytest.raises(ValidationError):
        gw.files.insert(upload(), doc={"unknown": 1})
    for path in tmp_path.rglob("*"):
        if path.is_file():
            os.utime(path, (0, 0))
    gw.init_worker()
    assert wait_until(lambda: not any(path.is_file() for path in tmp_path.rglob("*")))


# -- links and definitions


def test_a_link_is_a_path_below_the_first_mount(gw):
    id_ = gw.files.insert(upload())["_id"]
    assert gw.files.link(id_).startswith(f"/gateway/files/{id_}?until=")
    gw.create_app(url_prefix="/api")
    gw.create_app(url_prefix="/other")
    assert gw.files.link(str(id_), 1).startswith(f"/api/gateway/files/{id_}?until=")


@pytest.mark.parametrize(("given", "seconds"), [([], 300), ([1], 1), ([2678400], 2678400)])
def test_a_link_lasts_as_long_as_is_said_else_five_minutes(gw, given, seconds):
    before = int(time.time())
    link = gw.files.link(ObjectId(), *given)
    until = int(dict(parse_qsl(link.partition("?")[2]))["until"])
    assert before + seconds <= until <= time.time() + seconds


def test_below_a_prefix_with_a_variable_there_are_no_links(gw):
    gw.init_app(Flask("host"), "/<tenant>")
    with pytest.raises(UsageError) as raised:
        gw.files.link(ObjectId())
    assert raised.value.message == "files.link: the gateway's first url_prefix has a variable"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x"], "files.link: expected the _id of a file"),
        ([None], "files.link: expected the _id of a file"),
        *(
            ([ObjectId(), seconds], "files.link: seconds must be a whole number from 1 to 2678400")
            for seconds in (0, -1, 1.5, True, 10**9)
        ),
    ],
)
def test_other_links_are_refused(gw, arguments, message):
    with pytest.raises(UsageError) as raised:
        gw.files.link(*arguments)
    assert raised.value.message == message


def test_without_a_key_there_are_no_links():
    gw = gateway()
    gw.files.model()
    with pytest.raises(UsageError) as raised:
        gw.files.link(ObjectId())
    assert raised.value.message == "files.link: set the setting 'link_key' to a secret of at least 32 bytes"
    assert links_of(Settings(link_key_fallbacks=(KEY,)), in_development=False) is None


def opened_by(settings, query, in_development=False):
    """Tell whether a link's query opens the file ``1`` under other settings."""
    return links_of(settings, in_development=in_development).opens("file", "1", dict(parse_qsl(query)), 0)


def test_development_has_links_of_a_random_key():
    links = links_of(Settings(), in_development=True)
    query = links.query("file", "1", 10)
    opens = links.opens("file", "1", dict(parse_qsl(query)), 0), opened_by(Settings(), query, in_development=True)
    assert opens == (True, False)


def test_a_random_key_has_32_bytes(monkeypatch):
    monkeypatch.setattr("gatewayfw.files.links.secrets", SimpleNamespace(token_hex=lambda size: "k" * size))
    random, known = links_of(Settings(), in_development=True), links_of(Settings(link_key=KEY), in_development=False)
    assert random.query("file", "1", 10) == known.query("file", "1", 10)


def test_links_of_former_and_next_keys_open():
    old = links_of(Settings(link_key=KEY), in_development=False).query("file", "1", 10)
    lists = [(), ("o" * 32,), ("o" * 32, KEY), (KEY, "o" * 32)]
    new = [Settings(link_key="n" * 32, link_key_fallbacks=one) for one in lists]
    assert [opened_by(one, old) for one in new] == [False, False, True, True]
    assert len({links_of(one, in_development=False).query("file", "1", 10) for one in new}) == 1


def test_without_read_only_links_open_a_file(gw):
    id_ = str(gw.files.insert(upload())["_id"])
    with pytest.raises(Forbidden) as forged:
        gw.files.find_act(id_, {"until": "99999999999", "signature": "A" * 43})
    assert forged.value.message == "the link is not valid, or not any more"
    for wrong in (id_, "", "x", id_ + "0", f"{id_}/x", "../" + id_, '{"$ne": null}'):
        with pytest.raises(NotFound) as missing:
            gw.files.find_act(wrong, {})
        assert missing.value.message == "file not found"
    with pytest.raises(NotFound, match="^file not found$"):
        gateway().files.find_act(id_, {})


@pytest.mark.parametrize(("read", "public", "need"), [([], False, True), ([], True, False), ([len], False, False)])
def test_links_are_needed_where_nothing_else_opens_a_file(read, public, need):
    files = gateway().files
    assert files.need_links() is False
    files.model(read=read, public=public)
    assert files.need_links() is need


def test_hooks_in_the_wrong_order_are_a_problem(database):
    gw = gateway(link_key=KEY)
    gw.odm.set_db(database)
    auth = Auth(gw.context_fns, Tokens(KEY), {}.get)
    gw.files.use(GridFsFiles())
    gw.files.model("file", read=[auth.load_user, auth.read_token])
    problem = "the hook load_user needs what read_token gives, which must come before it"
    assert list(gw.files.problems()) == [f"files.model: read: {problem}"]
    assert list(gateway().files.problems()) == []


def test_the_act_of_a_file_gets_its_id(gw):
    id_ = gw.files.insert(upload())["_id"]
    act, body = gw.files.find_act(str(id_).upper(), dict(parse_qsl(gw.files.link(id_).partition("?")[2])))
    assert body == {"service": "main", "model": "file", "act": "read", "details": {"set": {"_id": str(id_)}, "get": {}}}
    assert act.schema == "file"
    assert act.act_name == "read"
    assert act.public is True


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (lambda files: files.use("path"), "files.use: expected DirectoryFiles or GridFsFiles, not str"),
        (lambda files: files.model("a b"), "act a b.read: bad schema"),
        (
            lambda files: files.model("a", {"size": integer()}),
            "files.model: every file has the field 'size' of its own",
        ),
        (lambda files: files.model("a", read=[5]), "act a.read: pre_act[0] must be a function"),
        (lambda files: (files.model("a"), files.model("b")), "files.model: the model 'a' is defined already"),
    ],
)
def test_wrong_definitions_are_refused(define, message):
    with pytest.raises(DefinitionError) as raised:
        define(gateway().files)
    assert raised.value.message.startswith(message)


def test_a_model_without_a_store_is_a_mistake_that_the_start_reports(database):
    gw = gateway()
    gw.odm.set_db(database)
    gw.files.model("file")
    message = "no store for the files of 'file': call files.use(DirectoryFiles(path) or GridFsFiles())"
    with pytest.raises(DefinitionError) as raised:
        gw.create_app()
    assert raised.value.message == message
    with pytest.raises(UsageError, match=r"^files: no store; call gw\.files\.use\(\.\.\.\) first$"):
        gw.files.insert(upload())
    with pytest.raises(UsageError, match=r"^files: no model; call gw\.files\.model\(\.\.\.\) first$"):
        gateway().files.insert(upload())


def test_who_reads_files_cannot_have_a_role_in_set(gw):
    auth = Auth(gw.context_fns, Tokens("k" * 32), load_user=dict)
    with pytest.raises(DefinitionError, match=r"^files.model: read: the role is looked for in set"):
        gateway().files.model(read=[auth.read_token, auth.load_user, auth.grant(Rule(roles=("Clerk",)))])
    by_header = Auth(gw.context_fns, Tokens("k" * 32), load_user=dict, role_from=header("x-role"))
    hooks = [by_header.read_token, by_header.load_user, by_header.grant(Rule(roles=("Clerk",)))]
    assert gateway().files.model(read=hooks).name == "file"


@pytest.mark.parametrize(("options", "is_told"), [({"public": True}, True), ({}, False)])
def test_the_catalog_says_whether_files_can_be_opened_without_a_link(options, is_told):
    gw = gateway()
    gw.files.model("file", **options)
    assert gw.catalog()["models"]["file"].get("files", False) is is_told
