"""The paths of refused values."""

from __future__ import annotations

from typing import Any

import pytest

from gatewayfw.schemas.paths import Collected, below, flat, shown


def test_paths_join_keys_by_dots() -> None:
    assert below("", "set") == "set"
    assert below("set", 0) == "set.0"
    assert below("set", "a\tb") == "set.a\\tb"


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
    "long number": (10**70, "1" + "0" * 63),
    "true": (True, "<bool>"),
    "fraction": (0.5, "<float>"),
    "empty": ("", ""),
    "no name": (None, "<NoneType>"),
}


@pytest.mark.parametrize(("name", "expected"), SHOWN.values(), ids=SHOWN)
def test_names_in_messages_are_short_and_printable(name: object, expected: str) -> None:
    assert shown(name) == expected


def test_one_path_more_than_an_error_shows_is_kept_with_all_its_messages() -> None:
    collected, full = Collected(), []
    for number in range(150):
        collected.add(f"x{number}", "No.")
        full.append(collected.full)
    collected.add("x100", "Never.")
    collected.add("x101", "Never.")
    assert full.count(False) == 100
    assert full[100] is True
    assert len(collected.errors) == 101
    assert (collected.errors["x100"], list(collected.errors)[-1]) == (["No.", "Never."], "x100")


def test_messages_after_the_last_path_are_not_read() -> None:
    read = []

    class Many(dict[int, str]):
        def items(self) -> Any:
            for number in range(500):
                read.append(number)
                yield number, ["No.", "Never."]

    Collected().add_all(Many(), "x")
    assert len(read) == 101


@pytest.mark.parametrize("messages", [{}, [], {"a": []}, [{}]])
def test_a_refusal_without_words_is_one(messages: Any) -> None:
    assert [text for _, text in flat(messages, "x")] == ["Invalid value."]


def test_messages_of_any_form_are_flattened() -> None:
    messages = {"a": ("one", ["two"]), "b": {0: {"_schema": ["three"]}}, "c": 4, "_schema": {"d": "five"}}
    assert list(flat(messages, "x")) == [
        *(("x.a", "one"), ("x.a", "two"), ("x.b.0", "three"), ("x.c", "4"), ("x._schema.d", "five"))
    ]
    assert list(flat(["one", {"_schema": ["two"]}], "")) == [("", "one"), ("_schema", "two")]
