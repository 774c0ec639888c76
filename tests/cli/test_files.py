"""``files sweep``: what it deletes, and what it ends with."""

from __future__ import annotations

import os

import pytest

from gatewayfw import DirectoryFiles, gateway
from gatewayfw.cli import upkeep
from gatewayfw.errors import ValidationError
from tests.cli.shop import make_app, runner
from tests.commands_page import has_page
from tests.files.conftest import upload


@pytest.fixture
def gw(database, tmp_path):
    gw = gateway()
    gw.odm.set_db(database)
    gw.files.use(DirectoryFiles(tmp_path))
    gw.files.model("file")
    return gw


def test_it_deletes_what_is_old_and_has_no_document(gw, tmp_path):
    run = runner(make_app(shop=gw))
    kept = gw.files.insert(upload(b"kept"))
    for content in (b"old", b"new"):
        with pytest.raises(ValidationError):
            gw.files.insert(upload(content), doc={"unknown": 1})
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.read_bytes() != b"new":
            os.utime(path, (0, 0))
    assert run("files", "sweep") == (0, "1 file swept\n")
    assert run("files", "sweep", "--name", "shop") == (0, "0 files swept\n")
    left = sorted(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert (left, gw.odm.model("file").count({"_id": kept["_id"]})) == ([b"kept", b"new"], 1)


def test_as_json_the_number_is_an_object(gw):
    assert runner(make_app(shop=gw))("files", "sweep", "--json") == (0, '{\n  "swept": 0\n}\n')


def test_on_a_terminal_the_number_grows(gw, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    seen = []
    with pytest.raises(ValidationError):
        gw.files.insert(upload(b"old"), doc={"unknown": 1})
    assert gw.files.sweep(-60, on_progress=seen.append) == 1
    assert seen == [1]


def test_on_a_terminal_the_command_shows_how_many_are_swept_and_clears_the_line(gw, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(upkeep, "status_line", shown.append)
    for content in (b"one", b"two"):
        with pytest.raises(ValidationError):
            gw.files.insert(upload(content), doc={"unknown": 1})
    for path in tmp_path.rglob("*"):
        os.utime(path, (0, 0))
    assert runner(make_app(shop=gw))("files", "sweep") == (0, "2 files swept\n")
    assert shown == ["1 file swept", "2 files swept", ""]


def test_a_lost_server_is_told(gw, tmp_path):
    with pytest.raises(ValidationError):
        gw.files.insert(upload(), doc={"unknown": 1})
    for path in tmp_path.rglob("*"):
        os.utime(path, (0, 0))
    lost = gateway(server_selection_timeout=0.1)
    lost.odm.set_db(f"mongodb://127.0.0.1:9/{gw.odm.storage.name}")
    lost.files.use(DirectoryFiles(tmp_path))
    lost.files.model("file")
    ended = runner(make_app(shop=lost))("files", "sweep")
    lost.odm.storage.close()
    assert ended == (1, "Error: no answer (127.0.0.1:9: connection refused)\n")


def test_a_gateway_without_files_has_nothing_to_sweep(database):
    gw = gateway()
    gw.odm.set_db(database)
    assert runner(make_app(shop=gw))("files", "sweep") == (0, "0 files swept\n")


def test_a_directory_that_is_gone_is_an_error_in_words(gw, tmp_path):
    tmp_path.rmdir()
    status, text = runner(make_app(shop=gw))("files", "sweep")
    assert (status, text) == (1, "Error: the directory of the files could not be swept\n")


def test_the_help_is_on_the_page():
    assert has_page("files sweep")
