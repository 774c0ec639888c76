"""The access log: gatewayfw.observe.access."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import re
import sys
from datetime import UTC, datetime

import pytest

from gatewayfw import DefinitionError
from gatewayfw.observe import access_log
from gatewayfw.observe.access import LOGGER
from tests.observe.calls import call, send, shop


@pytest.fixture(autouse=True)
def logger():
    """The logger without handlers; afterwards as it was before."""
    logger = logging.getLogger(LOGGER)
    level, handlers = logger.level, logger.handlers[:]
    logger.handlers[:] = []
    yield logger
    logger.setLevel(level)
    logger.handlers[:] = handlers


@contextlib.contextmanager
def unheard(logger):
    """Let no handler get the logger's records; not before the test, because pytest would add one."""
    logger.propagate = False
    try:
        yield
    finally:
        logger.propagate = True


def lines(caplog):
    return [record.getMessage() for record in caplog.records if record.name == LOGGER]


def test_a_line_has_address_act_code_status_time_and_id(caplog):
    log = access_log()
    log(call())
    log(call("add", "validation_error", 400, 1.5, "2001:db8::1"))
    log(call(code="not_found", status=404, unknown=True))
    assert lines(caplog) == [
        "127.0.0.1 main.book.buy ok 200 3.2ms test-1",
        "2001:db8::1 main.book.add validation_error 400 1500.0ms test-1",
        "127.0.0.1 _unknown not_found 404 3.2ms test-1",
    ]


def test_as_json_it_is_an_object(caplog):
    before = datetime.now(UTC)
    access_log(json=True)(call(seconds=0.0032004567))
    (line,) = lines(caplog)
    written = json.loads(line)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", written["time"])
    time = datetime.fromisoformat(written.pop("time"))
    assert before.replace(microsecond=0) <= time <= datetime.now(UTC)
    assert written == {
        "address": "127.0.0.1",
        "service": "main",
        "model": "book",
        "act": "buy",
        "code": "ok",
        "status": 200,
        "seconds": 0.0032,
        "requestId": "test-1",
    }


@pytest.mark.parametrize("address", ["::", "2001:DB8::A", "2001:db8::a", "1" * 45])
def test_an_address_is_in_the_line(caplog, address):
    access_log()(call(address=address))
    assert lines(caplog) == [f"{address} main.book.buy ok 200 3.2ms test-1"]


@pytest.mark.parametrize("address", ["", ":", "evil 200 ok", "1.2.3.4\x1b[2J", "unix:", "1" * 46])
def test_an_address_that_is_none_is_a_dash(caplog, address):
    access_log()(call(address=address))
    assert lines(caplog) == ["- main.book.buy ok 200 3.2ms test-1"]


def test_each_request_has_one_line(caplog):
    _, client = shop(access_log())
    send(client)
    send(client, "nope")
    send(client, "fail")
    seen = [line.split()[:4] for line in lines(caplog)]
    assert seen == [
        ["127.0.0.1", "main.book.list", "ok", "200"],
        ["127.0.0.1", "_unknown", "not_found", "404"],
        ["127.0.0.1", "main.book.fail", "internal_error", "500"],
    ]


def test_a_level_that_the_program_chose_stays(logger):
    logger.setLevel(logging.ERROR)
    access_log()
    assert logger.level == logging.ERROR


def test_without_a_handler_the_lines_go_to_the_standard_error(logger, capsys):
    with unheard(logger):
        access_log()(call())
        access_log()(call())
    assert capsys.readouterr().err == "127.0.0.1 main.book.buy ok 200 3.2ms test-1\n" * 2


def test_without_a_handler_filters_still_choose(logger, capsys):
    with unheard(logger):
        log = access_log()
        logger.addFilter(wanted := lambda record: "list" in record.getMessage())
        log(call())
        log(call("list"))
        logger.removeFilter(wanted)
    assert capsys.readouterr().err == "127.0.0.1 main.book.list ok 200 3.2ms test-1\n"


@pytest.mark.parametrize("stream", [None, io.StringIO()], ids=["none", "closed"])
def test_what_cannot_be_written_costs_its_line_alone(logger, monkeypatch, stream):
    if stream:
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    with unheard(logger):
        access_log()(call())


def test_records_are_those_of_the_programs_factory(caplog):
    """As OpenTelemetry replaces it, whose formats name what its records have."""
    made = logging.getLogRecordFactory()

    def traced(*words, **names):
        record = made(*words, **names)
        record.trace = "4bf9"
        return record

    logging.setLogRecordFactory(traced)
    try:
        access_log()(call())
    finally:
        logging.setLogRecordFactory(made)
    assert [record.trace for record in caplog.records if record.name == LOGGER] == ["4bf9"]


def test_another_format_is_refused():
    with pytest.raises(DefinitionError) as raised:
        access_log(json="yes")
    assert raised.value.message == "access_log: json must be true or false"


def test_a_record_is_one_of_the_log_and_names_no_line_of_a_program(caplog):
    access_log()(call())
    (record,) = (one for one in caplog.records if one.name == LOGGER)
    found = record.levelno, record.filename, record.lineno, record.args, record.exc_info
    assert (LOGGER, found) == ("gatewayfw.access", (logging.INFO, "access.py", 0, (), None))


def test_without_a_level_of_its_own_the_log_is_on_and_with_a_higher_one_silent(logger, capsys):
    logger.setLevel(logging.NOTSET)
    log = access_log()
    assert logger.level == logging.INFO
    logger.setLevel(logging.WARNING)
    with unheard(logger):
        log(call())
    assert capsys.readouterr().err == ""
