"""Settings from code, environment and defaults."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from gatewayfw import settings as settings_module
from gatewayfw.errors import DefinitionError
from gatewayfw.settings import OTHER_NAMES, PREFIX, OpenSettings, Settings, open_to_config, read_config

ROOT = Path(__file__).parent.parent


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
    assert (Settings.load({}, rate_limit_storage=URI).rate_limit_storage, "hunter2" in repr(loaded)) == (URI, False)


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
        assert caplog.messages == [f"{PREFIX}{name} in the environment is no setting, and is ignored"]


def test_names_that_others_read_are_known(caplog):
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
    read_config(settings, {"GATEWAYFW_DEADLINE": 4, "GATEWAYFW_MAX_TEXT": 6, "DEBUG": True, "OTHER_DEADLINE": 9})
    assert (settings.deadline, settings.max_ids, settings.max_text) == (4, 7, 5)
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
    assert (raised.value.message, settings.max_text, type(settings)) == (message, Settings().max_text, OpenSettings)


def test_a_setting_that_was_used_cannot_change_any_more():
    settings = opened(link_key="k" * 32)
    assert settings.max_text == Settings().max_text
    read_config(settings, {"GATEWAYFW_MAX_TEXT": Settings().max_text})  # no change
    settings = opened()
    assert settings.link_key == ""
    with pytest.raises(DefinitionError) as raised:
        read_config(settings, {"GATEWAYFW_LINK_KEY": "s" * 32, "GATEWAYFW_DEADLINE": 3})
    assert raised.value.message == (
        "app.config: GATEWAYFW_LINK_KEY comes too late, 'link_key' was used before with another value: "
        "give it to gateway(...), or the app to Gateway(app) before anything is defined"
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
        "app.config: GATEWAYFW_DEADLINE comes too late, 'deadline' has the value it had when the gateway was first "
        "registered in an app: give all apps of a gateway the same, or make a gateway for each app"
    )
    assert settings.deadline == 3
