"""Copies of dictionaries and lists."""

from __future__ import annotations

from collections import OrderedDict

from gatewayfw.acts.attempts import copy_for_attempt
from gatewayfw.acts.context import Context


def test_dictionaries_and_lists_are_copied_at_any_depth():
    given = {"user": {"roles": [{"name": "Admin"}]}, "n": 1}
    copied = copy_for_attempt(given)
    copied["user"]["roles"][0]["name"] = "Ghost"
    copied["user"]["roles"].append(2)
    assert given == {"user": {"roles": [{"name": "Admin"}]}, "n": 1}
    assert copied == {"user": {"roles": [{"name": "Ghost"}, 2]}, "n": 1}


def test_all_other_objects_are_shared():
    request, pair = object(), ({},)
    copied = copy_for_attempt({"request": request, "pair": pair, "list": [request]})
    assert copied["request"] is request is copied["list"][0]
    assert copied["pair"] is pair


def test_a_copy_has_the_class_of_the_original():
    copied = copy_for_attempt(Context(user={"name": "Ana"}, order=OrderedDict(a=[1])))
    assert (type(copied), type(copied.order), copied.user) == (Context, OrderedDict, {"name": "Ana"})


def test_what_is_one_object_or_a_circle_stays_so():
    body = {"a": []}
    body["self"] = body
    one, other = copy_for_attempt([body, {"body": body}])
    assert one is not body
    assert one is other["body"] is one["self"]
