"""A service that another gateway serves, as acts know it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from gatewayfw.acts.services import RemoteReply, RemoteService
from gatewayfw.errors import DefinitionError


def test_hooks_are_kept_as_given_and_made_callable_with_the_body():
    seen = []

    def with_body(body):
        seen.append(body)

    def without():
        seen.append(None)

    service = RemoteService("http://there/", "there", [with_body, without])
    for hook in service.act_hooks:
        hook({"act": "get"})
    assert (service.name, service.given, service.pre_act) == ("there", "http://there/", (with_body, without))
    assert seen == [{"act": "get"}, None]


def test_a_hook_that_is_none_is_refused_with_the_name_of_the_service():
    with pytest.raises(DefinitionError) as caught:
        RemoteService("http://there/", "there", [5])
    assert caught.value.message == "service there: pre_act[0] must be a function"


def test_how_to_call_it_is_for_others_to_say():
    with pytest.raises(NotImplementedError):
        RemoteService("http://there/", "there", []).call({}, {}, seconds=1)


def test_a_reply_of_it_has_no_headers_unless_it_says_so_and_cannot_be_changed():
    reply = RemoteReply(200, b"{}")
    assert reply.headers == {}
    with pytest.raises(FrozenInstanceError):
        reply.status = 500
