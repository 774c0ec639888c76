"""The contract's spelling of parameters."""

from __future__ import annotations

import pytest

from gatewayfw.spelling import pythonic


def test_object_and_keywords_mean_the_same():
    meant = {"schema": "user", "act_name": "addUser", "pre_act": []}
    assert pythonic({"schema": "user", "actName": "addUser", "preAct": []}, {}) == meant
    assert pythonic(None, {"schema": "user", "actName": "addUser", "preAct": []}) == meant
    assert pythonic({"schema": "user"}, {"act_name": "addUser", "preAct": []}) == meant


def test_unknown_keys_reach_the_method_that_names_them():
    assert pythonic({"fooBar": 1}, {}) == {"fooBar": 1}


@pytest.mark.parametrize(
    ("config", "keys", "message"),
    [
        ([], {}, "expected one object or keywords, not list"),
        ({1: 2}, {}, "keys must be strings, not int"),
        ({"actName": 1}, {"act_name": 2}, "'act_name' is given twice"),
        ({"schema": 1}, {"schema": 2}, "'schema' is given twice"),
    ],
)
def test_other_forms_are_refused(config, keys, message):
    with pytest.raises(TypeError) as raised:
        pythonic(config, keys)
    assert str(raised.value) == message
