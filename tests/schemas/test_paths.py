"""The paths of refused values."""

from __future__ import annotations

import pytest

from gatewayfw.schemas.paths import Collected, below, shown


def test_paths_join_keys_by_dots() -> None:
    assert (below("", "set"), below("set", 0), below("set", "a\tb")) == ("set", "set.0", "set.a\\tb")


def test_messages_are_gathered_in_order_and_once() -> None:
    collected = Collected()
    collected.add_all({"b": {0: ["one", "two"]}, "a": {"_schema": ["whole"]}, "c": "text"}, "set")
    collected.add("set.b.0", "one")
    assert list(collected.errors.items()) == [
        ("set.b.0", ["one", "two"]),
        ("set.a", ["whole"]),
        ("set.c", ["text"]),
    ]


def test_a_message_about_a_whole_without_a_path_keeps_marshmallows_name() -> None:
    collected = Collected()
    collected.add_all({"_schema": ["whole"], "a": {"_schema": ["part"]}}, "")
    assert collected.errors == {"_schema": ["whole"], "a": ["part"]}


def test_a_clients_key_named_like_marshmallows_own_keeps_its_path() -> None:
    collected = Collected()
    collected.add_all({"_schema": {"x": ["Unknown field."]}}, "set")
    assert collected.errors == {"set._schema.x": ["Unknown field."]}


def test_a_key_is_cut_when_escaped() -> None:
    assert [shown("k" * 65), shown("\x80" * 60), shown("\x80")] == ["k" * 64, r"\x80" * 16, r"\x80"]


SHOWN = {
    "plain": ("user", "user"),
    "long": ("x" * 70, "x" * 64),
    "control": ("a\r\n\x1b[0m\x00", r"a\r\n\x1b[0m\x00"),
    "direction": ("a\u202eb", r"a\u202eb"),
    "surrogate": ("\ud800", r"\ud800"),
    "letters": ("کاربر", "کاربر"),
    "number": (5, "5"),
    "no name": (None, "<NoneType>"),
}


@pytest.mark.parametrize(("name", "expected"), SHOWN.values(), ids=SHOWN)
def test_names_in_messages_are_short_and_printable(name: object, expected: str) -> None:
    assert shown(name) == expected
