"""How commands end early: by our errors, by those of others, by Ctrl-C and SIGTERM."""

from __future__ import annotations

import errno
import os
import signal
from contextlib import contextmanager, suppress

import click
import mongomock
import pytest
from click.testing import CliRunner
from flask.cli import FlaskGroup

from gatewayfw.cli import gateway_group
from gatewayfw.cli.command import Commands, interruptible, stopping
from gatewayfw.errors import DefinitionError, Unavailable
from tests.cli.shop import APART, make_app, shop


def end(error):
    """What a command does that an error ends: exit status, output, what is raised beyond it."""
    group = Commands("gateway")

    @group.command("fail")
    def fail():
        raise error

    result = CliRunner(**APART).invoke(group, ["fail"])
    return result.exit_code, result.stdout, result.stderr, result.exception


@contextmanager
def closed_pipe():
    """The end to write to of a pipe that nobody reads any more, as after ``| head``."""
    reading, writing = os.pipe()
    os.close(reading)
    with suppress(BrokenPipeError), open(writing, "w", encoding="utf-8") as pipe:
        yield pipe


@contextmanager
def full_disk():
    """A file whose every write fails, as on a full disk."""
    with suppress(OSError), open("/dev/full", "w", encoding="utf-8") as output:
        yield output


@pytest.mark.parametrize("error", [Unavailable("gone"), DefinitionError("wrong")])
def test_our_errors_end_a_command_with_their_message(error):
    assert end(error)[:3] == (1, "", f"Error: {error.message}\n")


def test_the_message_cannot_command_a_terminal():
    assert end(DefinitionError("a\x1b[31m"))[2] == "Error: a\\x1b[31m\n"


OTHERS = [KeyError("ours"), OSError(errno.ENOSPC, "full", "a file"), OSError(errno.EPERM, "not allowed")]


@pytest.mark.parametrize("error", OTHERS, ids=repr)
def test_other_errors_are_not_hidden(error):
    assert end(error)[3] is error


@pytest.mark.parametrize("error", [Unavailable("gone"), KeyboardInterrupt()], ids=repr)
def test_what_a_command_left_on_a_terminal_is_taken_away(monkeypatch, error):
    shown = []
    monkeypatch.setattr("gatewayfw.cli.command.status_line", shown.append)
    end(error)
    assert shown == [""]


def test_wrong_usage_keeps_its_status():
    assert end(click.UsageError("no"))[0] == 2


def test_ctrl_c_ends_a_command_with_its_own_status():
    assert end(KeyboardInterrupt())[:3] == (130, "", "interrupted\n")


@pytest.mark.parametrize("words", [("acts",), ("check",), ("files", "sweep")], ids=" ".join)
def test_an_app_that_cannot_be_made_is_told_in_words(words):
    def create_app():
        raise DefinitionError("malformed MongoDB URI")

    cli = FlaskGroup(create_app=create_app, add_default_commands=False)
    cli.add_command(gateway_group)
    result = CliRunner().invoke(cli, ["gateway", *words])
    assert (result.exit_code, result.output) == (1, "Error: malformed MongoDB URI\n")


@pytest.mark.parametrize("words", ["acts", "openapi", "types --stdout", "types --check"])
def test_a_closed_pipe_is_quiet(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    with make_app(shop=shop(mongomock.MongoClient().shop)).app_context(), closed_pipe() as pipe:
        monkeypatch.setattr("sys.stdout", pipe)
        with pytest.raises(SystemExit) as ended:
            gateway_group.main(words.split())
    assert (ended.value.code, capsys.readouterr().err) == (1, "")


@pytest.mark.parametrize(
    "words", ["--help", "acts", "check --help", "check", "jobs --json", "openapi", "types --stdout"]
)
def test_a_full_disk_behind_the_output_is_told_in_words(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    with make_app(shop=shop(mongomock.MongoClient().shop)).app_context(), full_disk() as output:
        monkeypatch.setattr("sys.stdout", output)
        with pytest.raises(SystemExit) as ended:
            gateway_group.main(words.split())
    told = "Error: the output cannot be written: No space left on device\n"
    assert (ended.value.code, capsys.readouterr().err) == (1, told)


SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@SIGNALS
def test_the_first_signal_asks_to_stop_and_the_second_interrupts(default_signals, number):
    with stopping() as stop:
        assert not stop.is_set()
        signal.raise_signal(number)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)


def test_sigterm_interrupts_as_ctrl_c_does(default_signals):
    with interruptible(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("block", [stopping, interruptible])
def test_afterwards_signals_are_handled_as_before(default_signals, block):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyError), block():
        raise KeyError
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
