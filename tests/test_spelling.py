"""The contract's spelling of parameters."""

from __future__ import annotations

import pytest

from gatewayfw.spelling import (
    MAIN,
    PARAMETERS,
    as_contract,
    pythonic,
)


def test_every_parameter_has_the_contracts_spelling():
    names = "act_name cors_headers hard_cascade idempotent_by max_get_depth max_get_leaves max_reply_bytes on_error "
    names += "post_act pre_act pre_validation pure_fields static_path type_generation validation_run_type"
    spelled = "actName corsHeaders hardCascade idempotentBy maxGetDepth maxGetLeaves maxReplyBytes onError "
    spelled += "postAct preAct preValidation pureFields staticPath typeGeneration validationRunType"
    assert dict(zip(spelled.split(), names.split(), strict=True)) == PARAMETERS
    assert MAIN == "main"


def test_object_and_keywords_mean_the_same():
    meant = {"schema": "user", "act_name": "addUser", "pre_act": []}
    assert pythonic({"schema": "user", "actName": "addUser", "preAct": []}, {}) == meant
    assert pythonic(None, {"schema": "user", "actName": "addUser", "preAct": []}) == meant
    assert pythonic({"schema": "user"}, {"act_name": "addUser", "preAct": []}) == meant


def test_what_an_object_may_not_hold_a_keyword_may():
    assert pythonic({"schema": "user"}, {"reveal": True}) == {"schema": "user", "reveal": True}


def test_unknown_keys_reach_the_method_that_names_them():
    assert pythonic({"fooBar": 1}, {}) == {"fooBar": 1}


@pytest.mark.parametrize(
    ("config", "keys", "message"),
    [
        ([], {}, "expected one object or keywords, not list"),
        ({1: 2}, {}, "keys must be strings, not int"),
        ({"actName": 1}, {"act_name": 2}, "'act_name' is given twice"),
        ({"schema": 1}, {"schema": 2}, "'schema' is given twice"),
        ({"schema": 1, "reveal": True}, {}, "'reveal' is no key of the object: only a keyword of the call"),
    ],
)
def test_other_forms_are_refused(config, keys, message):
    with pytest.raises(TypeError) as raised:
        pythonic(config, keys)
    assert str(raised.value) == message


class Shelf:
    """Has a method in both spellings."""

    def add_book(self, *, act_name, limit=None):
        """Add a book."""
        return act_name, limit

    addBook = as_contract(add_book)  # noqa: N815


def test_a_method_takes_one_object_or_keywords_as_the_contract_spells_them():
    shelf = Shelf()
    assert [shelf.addBook({"actName": "a"}), shelf.addBook(actName="a", limit=1)] == [("a", None), ("a", 1)]
    assert shelf.addBook.__doc__ == "Add a book."
    with pytest.raises(TypeError, match="unexpected keyword argument 'title'"):
        shelf.addBook({"title": "t"})
