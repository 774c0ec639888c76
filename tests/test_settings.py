"""Settings from code, environment and defaults."""

from __future__ import annotations

import logging
import re
from dataclasses import FrozenInstanceError, asdict, fields
from pathlib import Path

import pytest

from gatewayfw import settings as settings_module
from gatewayfw.errors import DefinitionError
from gatewayfw.settings import OTHER_NAMES, PREFIX, GivenSettings, OpenSettings, Settings, open_to_config, read_config

ROOT = Path(__file__).parent.parent


DEFAULTS = {
    **{"deadline": 5.0, "operation_timeout": 30.0, "server_selection_timeout": 2.0},
    **{"max_body_bytes": 1_048_576, "max_upload_bytes": 67_108_864, "max_body_depth": 32, "max_body_nodes": 20_000},
    **{"max_body_text": 262_144, "max_body_key": 256, "max_ids": 1_000, "max_get_depth": 8, "max_get_leaves": 500},
    **{"max_get_queries": 100, "max_reply_bytes": 16_777_216, "max_batch": 0, "document_bytes": 4_194_304},
    **{
        "windows_bytes": 2_097_152,
        "max_text": 10_000,
        "require_access": False,
        "require_policy": False,
        "rate_limit_storage": "memory://",
    },
    **{"link_key": "", "link_key_fallbacks": (), "relation_limit": 1_000, "insert_copies": 20_000},
    **{"reverse_limit": 1_000, "inline_limit": 200, "fan_out_thread": True, "index_build_limit": 10_000},
    **{"remote_connect_timeout": 2.0, "remote_timeout": 4.0, "error_detail": False, "expose_errors": None},
    **{"playground_refused_in": ("production",), "playground_title": "Playground", "playground_color": ""},
    "playground_note": "",
}


def test_every_setting_has_a_default():
    assert asdict(Settings.load({})) == DEFAULTS


def test_type_checkers_know_each_setting_by_name_and_type():
    assert {name: hint.__forward_arg__ for name, hint in GivenSettings.__annotations__.items()} == {
        one.name: one.type for one in fields(Settings)
    }


def test_settings_do_not_change_and_show_no_secret():
    settings = Settings.load({}, link_key="k" * 32, link_key_fallbacks=["f" * 32])
    with pytest.raises(FrozenInstanceError):
        settings.deadline = 3
    assert [secret for secret in ("k" * 32, "f" * 32, "memory://") if secret in repr(settings)] == []


TITLE, NOTE = "a text of 1 to 60 characters in one line", "a text of at most 300 characters in one line"
COLOR, NAMES = "a colour such as #0f6b63", "a list of names"
SECRET, SECRETS = "a secret of at least 32 bytes", "a list of secrets of at least 32 bytes"


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        *(("playground_title", text, None) for text in ("x", "x" * 60, "a b")),
        *(("playground_title", text, TITLE) for text in ("", " ", "x" * 61, "a\nb", None)),
        *(("playground_color", text, None) for text in ("", "#0f6b63", "#0F6B6A")),
        *(("playground_color", text, COLOR) for text in ("0f6b63", "#0f6b6", "#0f6b633", "#0g6b63", 5)),
        *(("playground_note", text, None) for text in ("", "x" * 300)),
        *(("playground_note", text, NOTE) for text in ("x" * 301, "a\nb", None)),
        *(("link_key", text, None) for text in ("", "k" * 32, "é" * 16, "\ud800" * 32)),
        *(("link_key", text, SECRET) for text in ("k" * 31, "é" * 15 + "k", b"k" * 32)),
        *(("link_key_fallbacks", texts, None) for texts in ((), ["k" * 32, "l" * 32])),
        *(("link_key_fallbacks", texts, SECRETS) for texts in ([""], ["k" * 32, "l" * 31], [5], "k" * 32, None)),
        *(("playground_refused_in", names, None) for names in ((), ["a", "b"])),
        *(("playground_refused_in", names, NAMES) for names in ([1], ["a", None], "production", None)),
        *(("error_detail", flag, None) for flag in (True, False)),
        *(("error_detail", flag, "true or false") for flag in (None, 0, "true")),
        *(("expose_errors", flag, None) for flag in (True, False, None)),
        *(("expose_errors", flag, "true or false") for flag in (0, "")),
        *(("inline_limit", number, None) for number in (1, 2**31 - 1)),
        *(("max_batch", number, None) for number in (0, 1)),
        *(("deadline", number, None) for number in (1, 0.001, 2**31)),
        *(("deadline", number, "a positive number") for number in (float("inf"), None)),
    ],
    ids=repr,
)
def test_a_setting_takes_what_it_says(name, value, wanted):
    if wanted is None:
        assert getattr(Settings.load({}, **{name: value}), name) == value
        return
    with pytest.raises(DefinitionError) as raised:
        Settings.load({}, **{name: value})
    assert raised.value.message == f"setting {name!r}: expected {wanted}"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        *(("ERROR_DETAIL", text, True) for text in ("1", "true", "yes", "on", " TRUE ")),
        *(("FAN_OUT_THREAD", text, False) for text in ("0", "false", "no", "off", "Off\n")),
        ("PLAYGROUND_REFUSED_IN", " staging,, production ,", ("staging", "production")),
        ("MAX_IDS", " 7 ", 7),
        ("DEADLINE", "1e1", 10.0),
    ],
)
def test_a_text_of_the_environment_becomes_a_value(name, text, value):
    assert getattr(Settings.load({PREFIX + name: text}), name.lower()) == value


def test_code_wins_over_environment_over_default():
    environ = {"GATEWAYFW_DEADLINE": "3.5", "GATEWAYFW_MAX_BODY_BYTES": "10", "GATEWAYFW_ERROR_DETAIL": "Yes", "X": "y"}
    settings = Settings.load(environ, deadline=2)
    shown = (settings.deadline, settings.max_body_bytes, settings.error_detail, settings.expose_errors)
    assert shown == (2, 10, True, None)
    assert settings.relation_limit == 1000


def test_a_number_that_switches_something_off_may_be_0():
    assert (Settings.load({}).max_batch, Settings.load({}, max_batch=0).max_batch) == (0, 0)
    assert Settings.load({"GATEWAYFW_MAX_BATCH": "20"}).max_batch == 20


URI = "mongodb://ann:hunter2@db.example:27017/limits"


def test_the_storage_of_rate_limits_is_text_that_no_repr_shows():
    loaded = Settings.load({"GATEWAYFW_RATE_LIMIT_STORAGE": URI})
    assert (loaded.rate_limit_storage, Settings.load({}).rate_limit_storage) == (URI, "memory://")
    assert Settings.load({}, rate_limit_storage=URI).rate_limit_storage == URI
    assert "hunter2" not in repr(loaded)


@pytest.mark.parametrize(
    "value",
    [URI.replace("mongodb", "redis"), "memory", "", "memory://x", "mongodb://", f"{URI} x", URI.encode(), None, 1],
)
def test_another_storage_of_rate_limits_is_refused_and_not_shown(value):
    with pytest.raises(DefinitionError) as raised:
        Settings.load({}, rate_limit_storage=value)
    assert raised.value.message == "setting 'rate_limit_storage': expected memory:// or a mongodb:// URI"
    if isinstance(value, str):
        with pytest.raises(DefinitionError) as raised:
            Settings.load({"GATEWAYFW_RATE_LIMIT_STORAGE": value})
        assert raised.value.message == "setting 'rate_limit_storage': expected memory:// or a mongodb:// URI"


INTEGER = "expected a positive integer below 2147483648"


@pytest.mark.parametrize(
    ("environ", "given", "message"),
    [
        ({}, {"dedline": 1}, "unknown setting 'dedline'; did you mean 'deadline'?"),
        ({}, {"zzz": 1}, "unknown setting 'zzz'"),
        ({}, {"deadline": 0}, "setting 'deadline': expected a positive number"),
        ({}, {"deadline": "5"}, "setting 'deadline': expected a positive number"),
        ({}, {"deadline": float("nan")}, "setting 'deadline': expected a positive number"),
        ({}, {"deadline": True}, "setting 'deadline': expected a positive number"),
        ({}, {"max_body_depth": 1.5}, f"setting 'max_body_depth': {INTEGER}"),
        ({}, {"inline_limit": 2**31}, f"setting 'inline_limit': {INTEGER}"),
        ({}, {"max_body_depth": 0}, f"setting 'max_body_depth': {INTEGER}"),
        ({}, {"max_batch": -1}, f"setting 'max_batch': {INTEGER}, or 0"),
        ({}, {"max_batch": False}, f"setting 'max_batch': {INTEGER}, or 0"),
        ({"GATEWAYFW_MAX_BATCH": "off"}, {}, f"GATEWAYFW_MAX_BATCH: {INTEGER}, or 0"),
        ({}, {"error_detail": 1}, "setting 'error_detail': expected true or false"),
        ({"GATEWAYFW_DEADLINE": "soon"}, {}, "GATEWAYFW_DEADLINE: expected a positive number"),
        ({"GATEWAYFW_DEADLINE": "-1"}, {}, "setting 'deadline': expected a positive number"),
        (
            {"GATEWAYFW_MAX_BODY_BYTES": "1.5"},
            {},
            f"GATEWAYFW_MAX_BODY_BYTES: {INTEGER}",
        ),
        ({"GATEWAYFW_EXPOSE_ERRORS": "maybe"}, {}, "GATEWAYFW_EXPOSE_ERRORS: expected true or false"),
    ],
)
def test_wrong_settings_are_named(environ, given, message):
    with pytest.raises(DefinitionError) as raised:
        Settings.load(environ, **given)
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("DEADLIN", "DEADLINE"),
        ("DEDLINES", "DEADLINE"),
        ("MAX_BODY_BYTE", "MAX_BODY_BYTES"),
        ("MAXBATCH", "MAX_BATCH"),
        ("deadline", ""),
        ("PORT", ""),
        ("TOKEN_KEY_FALLBACK", "TOKEN_KEY_FALLBACKS"),
        ("PROXY", ""),
        ("DADLIN", "DEADLINE"),
        ("DADLI", ""),
        ("BASE_URLS", "BASE_URL"),
        ("EADLINE", "DEADLINE"),
        ("XXDEADLINE", "DEADLINE"),
        ("DEADLINEXX", "DEADLINE"),
        ("DXADLINX", ""),
        ("EDADLINE", "DEADLINE"),
        ("DEADINXE", "DEADLINE"),
        ("XXXDEADLINE", ""),
        ("DEADLINEXXX", ""),
        ("XEAXLIXE", ""),
        ("DLINE", ""),
    ],
)
def test_a_name_near_a_settings_is_refused_and_others_are_logged_once(monkeypatch, caplog, name, near):
    monkeypatch.setattr(settings_module, "WARNED", set())
    environ = {"EDITOR": "vi", PREFIX + name: "1"}
    if near:
        with pytest.raises(DefinitionError) as raised:
            Settings.load(environ)
        assert (
            raised.value.message == f"unknown setting {PREFIX}{name} in the environment; did you mean {PREFIX}{near}?"
        )
    else:
        assert Settings.load(environ) == Settings.load(environ) == Settings()
        told = f"{PREFIX}{name} in the environment is no setting, and is ignored"
        assert caplog.record_tuples == [("gatewayfw", logging.WARNING, told)]


def test_a_name_that_is_logged_cannot_forge_a_line(monkeypatch, caplog):
    monkeypatch.setattr(settings_module, "WARNED", set())
    Settings.load({"GATEWAYFW_OWN\nLINE": "1"})
    assert caplog.messages == ["GATEWAYFW_OWN\\nLINE in the environment is no setting, and is ignored"]


def test_names_that_others_read_are_known(caplog):
    names = "ENV MONGOD MCP_TOKEN TOKEN_KEY TOKEN_KEY_FALLBACKS PROXIES LOGIN_LIMIT PLAYGROUND BASE_URL CORS "
    names += "STATIC_PATH TEST_MONGO_URI TEST_FAULTS TEST_SOAK TEST_TOOLS SCREENSHOTS "
    names += "REQUIRE_MONGO REQUIRE_NODE REQUIRE_NGINX REQUIRE_BROWSER"
    assert {PREFIX + name for name in names.split()} == OTHER_NAMES
    assert Settings.load(dict.fromkeys(OTHER_NAMES, "x")) == Settings()
    assert caplog.messages == []


def test_every_name_in_the_sources_is_known():
    """The settings, and what package, sample and tests read themselves."""
    folders = [ROOT / name for name in ("gatewayfw", "sample_service", "benchmarks", "deploy")]
    paths = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".yaml", ".yml", ".conf")
    ]
    text = "\n".join(path.read_text("utf-8") for path in [*paths, ROOT / "dev", ROOT / ".ci" / "run"])
    named = set(re.findall(r"GATEWAYFW_[A-Z][A-Z_]*[A-Z]", text))
    settings = {PREFIX + one.name.upper() for one in fields(Settings)}
    assert named - settings - OTHER_NAMES == {"GATEWAYFW_PORT"}  # what the Kubernetes manifest keeps out


def opened(environ=(), **given):
    settings = Settings.load(dict(environ), **given)
    open_to_config(settings, given)
    return settings


def test_the_config_wins_over_the_environment_and_the_code_over_both():
    settings = opened({"GATEWAYFW_DEADLINE": "3", "GATEWAYFW_MAX_IDS": "7"}, max_text=5)
    read_config(settings, {"GATEWAYFW_DEADLINE": 4, "GATEWAYFW_MAX_TEXT": 6, "DEBUG": True, "OTHER_DEADLINE": 9, 5: 6})
    assert settings.deadline == 4
    assert settings.max_ids == 7
    assert settings.max_text == 5
    assert (type(settings), settings.max_body_bytes) == (Settings, Settings().max_body_bytes)


def test_the_config_has_values_or_texts():
    settings = opened()
    config = {"GATEWAYFW_DEADLINE": "2.5", "GATEWAYFW_ERROR_DETAIL": "on", "GATEWAYFW_FAN_OUT_THREAD": False}
    read_config(settings, {**config, "GATEWAYFW_PLAYGROUND_REFUSED_IN": ["staging", "production"]})
    shown = (settings.deadline, settings.error_detail, settings.fan_out_thread, settings.playground_refused_in)
    assert shown == (2.5, True, False, ("staging", "production"))


WRONG_CONFIG = {
    "GATEWAYFW_DEADLIN": (3, "unknown setting GATEWAYFW_DEADLIN in app.config; did you mean GATEWAYFW_DEADLINE?"),
    "GATEWAYFW_DEADLINE": (0, "setting 'deadline': expected a positive number"),
    "GATEWAYFW_MAX_IDS": ("many", f"GATEWAYFW_MAX_IDS: {INTEGER}"),
    "GATEWAYFW_LINK_KEY": ("short", "setting 'link_key': expected a secret of at least 32 bytes"),
    "GATEWAYFW_LINK_KEY_FALLBACKS": (
        f"{'k' * 32},short",
        "setting 'link_key_fallbacks': expected a list of secrets of at least 32 bytes",
    ),
}


@pytest.mark.parametrize("name", WRONG_CONFIG)
def test_wrong_config_is_named_and_changes_nothing(name):
    settings, (value, message) = opened(), WRONG_CONFIG[name]
    with pytest.raises(DefinitionError) as raised:
        read_config(settings, {"GATEWAYFW_MAX_TEXT": 5, name: value})
    assert raised.value.message == message
    assert settings.max_text == Settings().max_text
    assert type(settings) is OpenSettings


def test_a_setting_that_was_used_cannot_change_any_more():
    settings = opened(link_key="k" * 32)
    assert settings.max_text == Settings().max_text
    read_config(settings, {"GATEWAYFW_MAX_TEXT": Settings().max_text})  # no change
    settings = opened()
    assert settings.link_key == ""
    with pytest.raises(DefinitionError) as raised:
        read_config(settings, {"GATEWAYFW_LINK_KEY": "s" * 32, "GATEWAYFW_DEADLINE": 3})
    assert raised.value.message == (
        "app.config: GATEWAYFW_LINK_KEY comes too late, 'link_key' was used with another value: give it "
        "to gateway(...) or, before anything is defined, the app to Gateway(app); give all its apps the same"
    )
    assert settings.deadline == Settings().deadline


def test_a_second_app_has_the_settings_of_the_first():
    settings = opened()
    read_config(settings, {"GATEWAYFW_DEADLINE": 3})
    read_config(settings, {"GATEWAYFW_DEADLINE": 3})
    read_config(settings, {})
    with pytest.raises(DefinitionError) as raised:
        read_config(settings, {"GATEWAYFW_DEADLINE": 4})
    assert raised.value.message == (
        "app.config: GATEWAYFW_DEADLINE comes too late, 'deadline' was used with another value: give it "
        "to gateway(...) or, before anything is defined, the app to Gateway(app); give all its apps the same"
    )
    assert settings.deadline == 3
