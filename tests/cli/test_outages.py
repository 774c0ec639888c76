"""Why a command's database is away is said once, by its error."""

from __future__ import annotations

import logging
import subprocess
import sys

import click
import mongomock
import pytest

from gatewayfw.cli.outages import reason_of, tell_outages_of
from gatewayfw.errors import NotFound, Unavailable
from tests.cli.shop import shop

APP = """
from gatewayfw import gateway
gw = gateway(server_selection_timeout=0.1)
gw.odm.set_db("mongodb://127.0.0.1:9/none")
app = gw.create_app()
"""
REASON = "no answer (127.0.0.1:9: connection refused)"


@pytest.mark.slow
def test_a_command_says_the_reason_once_where_nobody_configured_a_log(tmp_path):
    (tmp_path / "app.py").write_text(APP, "utf-8")
    command = [sys.executable, "-m", "flask", "gateway", "jobs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"Error: {REASON}\n")


@pytest.mark.parametrize("given", [[], [logging.StreamHandler()]], ids=["no log", "a log"])
def test_the_storage_logs_only_where_somebody_configured_a_log(monkeypatch, given):
    logger = logging.getLogger("gatewayfw.storage")
    monkeypatch.setattr(logger, "handlers", [*given])
    odm = shop(mongomock.MongoClient().test).odm
    tell_outages_of(odm)
    tell_outages_of(odm)
    assert [type(one) for one in logger.handlers] == [type(one) for one in given or [logging.NullHandler()]]


def test_the_reason_is_the_databases_where_it_is_away():
    gw = shop("mongodb://127.0.0.1:9/none", server_selection_timeout=0.1)
    with pytest.raises(Unavailable) as caught:
        gw.odm.jobs()
    assert [reason_of(one, gw.odm) for one in (caught.value, NotFound("gone"))] == [REASON, "gone"]
    assert reason_of(caught.value) == "service unavailable, try again"
    with click.Context(click.Command("jobs")):
        assert reason_of(caught.value) == "service unavailable, try again"
        tell_outages_of(gw.odm)
        assert [reason_of(one) for one in (caught.value, NotFound("gone"))] == [REASON, "gone"]
    gw.odm.storage.close()
