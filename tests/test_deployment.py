"""Every command of the page on deployment runs as it is shown."""

from __future__ import annotations

import os
import re
import shlex
import signal
import threading
from pathlib import Path

import pytest

from gatewayfw.cli import gateway_group
from gatewayfw.settings import Settings
from tests.cli.shop import make_app, shop, stock
from tests.waiting import wait_until

PAGE = (Path(__file__).parent.parent / "docs" / "deployment.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [shlex.split(line, comments=True) for block in BLOCKS for line in block.splitlines()]
CRON = [shlex.split(line)[5:] for line in PAGE.splitlines() if line.startswith("0 4 ")]


def words_of(command):
    assert command[:4] == ["flask", "--app", "shop", "gateway"]
    return command[4:]


@pytest.fixture
def app(database, tmp_path, monkeypatch):
    """The app of the page, all of its indexes built, in a directory of its own."""
    monkeypatch.chdir(tmp_path)
    gw = shop(database)
    stock(gw)
    gw.odm.ready()
    return make_app(shop=gw)


def terminate_when_handled():
    """Send SIGTERM as soon as this process would not be ended by it."""
    if wait_until(lambda: signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL):
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("command", COMMANDS, ids=[" ".join(words[4:]) for words in COMMANDS])
def test_every_command_succeeds(app, command):
    words = words_of(command)
    if words == ["work"]:
        threading.Thread(target=terminate_when_handled).start()
    result = app.test_cli_runner().invoke(gateway_group, words)
    assert (result.exit_code, result.exception) == (0, None)


def test_the_command_of_cron_succeeds(app, tmp_path):
    ((*command, otherwise, _, _, _, _),) = [line[: line.index("||") + 5] for line in CRON]
    command = [word.replace("/var/lib/shop", str(tmp_path)) for word in command]
    assert (otherwise, app.test_cli_runner().invoke(gateway_group, words_of(command)).exit_code) == ("||", 0)


def test_the_page_shows_every_command_of_upkeep():
    shown = {words_of(command)[0] for command in COMMANDS}
    others = {"acts", "types", "openapi", "jsonschema", "mcp", "new", "mongod"}
    assert shown == set(gateway_group.commands) - others


def test_the_settings_that_the_page_names_exist_with_these_values():
    settings = Settings.load({"GATEWAYFW_OPERATION_TIMEOUT": "3600", "GATEWAYFW_FAN_OUT_THREAD": "0"})
    assert settings.operation_timeout == 3600
    assert settings.fan_out_thread is False
    assert settings.inline_limit == 200
    assert "`inline_limit` copies (200)" in PAGE
    assert settings.index_build_limit > 0
