"""The forms of ``returns=``."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from gatewayfw.acts.returns import Selected, parse_returns
from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import file, integer, object_, string


@pytest.fixture
def select(schemas):
    return schemas.select_struct("user")


def test_without_it_a_get_that_selects_returns_one_document(select):
    assert parse_returns(None, select) == Selected("one", select)
    assert parse_returns(None, object_({"a": integer()})) is None


@pytest.mark.parametrize("word", ["one", "optional", "many"])
def test_a_word_says_how_many_documents(select, word):
    assert parse_returns(word, select) == Selected(word, select)


def test_parts_select_by_the_parts_of_get_and_values_are_fields(select):
    count = integer()
    assert parse_returns({"users": "many", "count": count}, object_({"users": select})) == {
        "users": Selected("many", select, ("users",)),
        "count": count,
    }


def test_parts_select_by_the_whole_get_where_it_selects(select):
    assert parse_returns({"rows": "many"}, select) == {"rows": Selected("many", select)}
    assert Selected("many", select).path == ()
    with pytest.raises(FrozenInstanceError):
        Selected("many", select).word = "one"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("few", "returns: expected 'one', 'optional', 'many' or a value kind"),
        ({"users": "few"}, "returns, 'users': expected 'one', 'optional', 'many' or a value kind"),
        ({5: "one"}, "returns: the name 5 is not a string"),
        (file(most=1), "returns: a reply holds no files"),
        ({"a": {"b": file(most=1)}}, "returns, 'a': a reply holds no files"),
    ],
)
def test_other_forms_are_refused(select, given, message):
    with pytest.raises(DefinitionError) as caught:
        parse_returns(given, select)
    assert caught.value.message == message


def test_a_word_needs_a_get_that_selects():
    with pytest.raises(DefinitionError) as caught:
        parse_returns("many", object_({"a": string()}))
    assert caught.value.message == "returns: 'many' needs a get that selects from a model"
