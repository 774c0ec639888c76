"""The request context: its functions by the contract, and who sees what."""

from __future__ import annotations

import copy
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context as Variables
from threading import Barrier
from types import MappingProxyType, SimpleNamespace

import pytest

from gatewayfw.acts.context import Context, ContextFns, copy_for_attempt, fill
from gatewayfw.context_variables import open_scratch


@pytest.fixture
def opened(context_fns):
    """Context functions inside an open request."""
    with context_fns.open():
        yield context_fns


def test_open_gives_empty_headers_and_no_body(context_fns):
    with context_fns.open() as context:
        assert context == {"Headers": {}, "body": None}
        assert context_fns.get_context_model() is context


def test_open_restores_the_previous_context_after_an_exception(opened):
    opened.add_context({"user": "outer"})
    with pytest.raises(LookupError), opened.open():
        opened.set_context({"user": "inner"})
        raise LookupError
    assert opened.get_context_model().user == "outer"


def test_current_context_is_live(opened):
    context = opened.get_context_model()
    context["user"] = "Ana"
    opened.set_context({"role": "Manager"})
    assert context == {"role": "Manager"}
    assert opened.get_context_model() is context


@pytest.mark.parametrize("name", ["set_context", "setContext", "add_contexts", "addContexts"])
def test_set_context_replaces_headers_and_body_too(opened, name):
    opened.add_context({"user": "Ana"})
    getattr(opened, name)({"body": 1})
    assert opened.get_context_model() == {"body": 1}


def test_set_context_to_the_context_itself_keeps_it(opened):
    opened.add_context({"user": "Ana"})
    opened.set_context(opened.get_context_model())
    assert opened.get_context_model() == {"Headers": {}, "body": None, "user": "Ana"}


@pytest.mark.parametrize("name", ["add_context", "addContext"])
def test_add_context_merges(opened, name):
    opened.add_context({"user": "Ana", "role": "Manager"})
    getattr(opened, name)({"user": "Bo"})
    assert opened.get_context_model() == {"Headers": {}, "body": None, "user": "Bo", "role": "Manager"}


@pytest.mark.parametrize("name", ["set_context", "add_contexts", "add_context"])
@pytest.mark.parametrize("value", [None, "user", [("user", "Ana")], 1], ids=repr)
def test_a_context_that_is_no_mapping_is_refused(opened, name, value):
    opened.add_context({"user": "Ana"})
    with pytest.raises(TypeError, match="expected a mapping"):
        getattr(opened, name)(value)
    assert opened.get_context_model() == {"Headers": {}, "body": None, "user": "Ana"}


def test_request_headers_and_body_have_keys_of_their_own(opened):
    request = object()
    opened.addReqToContext(request)
    opened.addHeaderToContext({"Token": "t"})
    opened.addBodyToContext({"act": "a"})
    assert opened.getContextModel() == {"Request": request, "Headers": {"token": "t"}, "body": {"act": "a"}}


def test_keys_read_and_write_as_attributes(opened):
    context = opened.get_context_model()
    context.user = "Ana"
    assert context["user"] == "Ana"
    assert context.user == "Ana"
    assert context.body is None


def test_a_missing_key_is_a_missing_attribute():
    context = Context(user="Ana")
    with pytest.raises(AttributeError, match="the context has no 'role'"):
        _ = context.role
    assert not hasattr(context, "role")


def test_names_of_dictionary_methods_are_keys_only():
    context = Context()
    with pytest.raises(AttributeError, match="'items' is a method of dictionaries"):
        context.items = 1
    context["items"] = 1
    assert context == {"items": 1}


def test_a_context_can_be_copied():
    assert copy.deepcopy(Context(user="Ana")) == Context(user="Ana")


def test_context_is_opened_with_values_of_its_own(context_fns):
    values = {"user": "Ana", "body": {"act": "x"}}
    with context_fns.open(values) as context:
        context["user"] = "Bo"
        assert context_fns.get_context_model() is context
        assert context == {"user": "Bo", "body": {"act": "x"}, "Headers": {}}
    assert values == {"user": "Ana", "body": {"act": "x"}}


def test_gateways_do_not_see_each_other():
    one, other = ContextFns(), ContextFns()
    with one.open() as context, other.open():
        assert one.get_context_model() is context
        one.add_context({"user": "Ana"})
        other.set_context({"user": "Bo"})
        assert (one.get_context_model().user, other.get_context_model().user) == ("Ana", "Bo")
    with other.open() as context:
        assert "user" not in context


#: Each of the seven functions, called.
CALLS = {
    "get_context_model": lambda fns: fns.get_context_model(),
    "set_context": lambda fns: fns.set_context({}),
    "add_contexts": lambda fns: fns.add_contexts({}),
    "add_context": lambda fns: fns.add_context({}),
    "add_req_to_context": lambda fns: fns.add_req_to_context(object()),
    "add_header_to_context": lambda fns: fns.add_header_to_context({}),
    "add_body_to_context": lambda fns: fns.add_body_to_context({}),
}
OUTSIDE = (
    "there is no context outside of a request: write 'with context_fns.open():' around this call, "
    "or hand a thread of your own 'context_fns.run_in_context(fn)'; "
    "around the generator of a streamed reply write Flask's 'stream_with_context'"
)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_outside_of_a_request_each_function_says_what_to_write(context_fns, call):
    def outside():
        with ContextFns().open(), pytest.raises(RuntimeError) as caught:
            call(context_fns)
        return str(caught.value)

    assert Variables().run(outside) == OUTSIDE
    with context_fns.open():
        call(context_fns)


def test_nothing_is_left_after_a_block(context_fns):
    def outside():
        with context_fns.open({"user": "Ana"}):
            pass
        context_fns.get_context_model()

    with pytest.raises(RuntimeError, match="there is no context"):
        Variables().run(outside)


def test_in_a_test_each_gateway_has_one_context_outside_of_requests(context_fns):
    other = ContextFns()
    context_fns.add_context({"user": "Ana"})
    with other.open(), context_fns.open() as context:
        assert "user" not in context
        other.add_context({"user": "Bo"})
    with other.open():
        assert context_fns.get_context_model() == {"Headers": {}, "body": None, "user": "Ana"}
    assert context_fns.get_context_model() == {"Headers": {}, "body": None, "user": "Ana"}
    assert other.get_context_model() == {"Headers": {}, "body": None}


def test_scratch_contexts_end_with_their_block(context_fns):
    context_fns.add_context({"user": "Ana"})
    with open_scratch():
        assert context_fns.get_context_model() == {"Headers": {}, "body": None}
        context_fns.add_context({"user": "Bo"})
    assert context_fns.get_context_model().user == "Ana"


class Request:
    """What a framework keeps of one request."""


class Web:
    """A framework that answers one request at a time."""

    def __init__(self):
        self.now = None
        self.fns, self.others = (ContextFns(self.running, self.begin) for _ in range(2))

    def begin(self, sent, known=MappingProxyType({})):
        """Return what a context begins with."""
        return Context({"body": None, **known})

    def running(self):
        """Return the current request."""
        if self.now is None:
            raise RuntimeError
        return self.now

    @contextmanager
    def answering(self, sent):
        """Make a request the current one."""
        before, self.now = self.now, sent
        try:
            yield self.fns
        finally:
            self.now = before


@pytest.fixture
def web():
    return Web()


def test_a_request_has_one_context_whoever_asks_first(web):
    first, second = Request(), Request()
    with web.answering(first) as fns:
        context = fns.get_context_model()
        fns.add_context({"user": "Ana"})
        with web.answering(second):
            assert fns.get_context_model() == {"body": None}
        assert fns.get_context_model() is context == {"body": None, "user": "Ana"}
        assert web.others.get_context_model() == {"body": None}
    assert list(vars(first)) == ["gatewayfw_contexts"]


def test_the_gateway_fills_in_what_it_knows_and_keeps_the_rest(web):
    with web.answering(Request()) as fns:
        fns.add_context({"user": "Ana", "body": "the host's"})
        fill(fns, web.now, {"body": None, "Address": "::1"})
        assert fns.get_context_model() == {"user": "Ana", "body": None, "Address": "::1"}


def test_the_gateways_part_is_the_context_where_there_was_none(web):
    with web.answering(Request()) as fns:
        fill(fns, web.now, {"Address": "::1"})
        assert list(vars(web.now)) == ["gatewayfw_later"]
        assert fns.get_context_model() is fns.get_context_model() == {"body": None, "Address": "::1"}
        assert web.others.get_context_model() == {"body": None}


def test_an_opened_context_is_passed_over_in_another_request(web):
    with web.fns.open({"user": "outer"}), web.answering(Request()) as fns:
        assert fns.get_context_model() == {"body": None}
        with fns.open({"user": "Ana"}) as context:
            fill(fns, web.now, {"Address": ""})
            assert fns.get_context_model() is context
            with web.answering(Request()):
                assert fns.get_context_model() == {"body": None}
                fill(fns, web.now, {"Address": ""})
                assert fns.get_context_model() == {"body": None, "Address": ""}
            assert fns.get_context_model() == {"user": "Ana", "body": None, "Headers": {}, "Address": ""}
        assert "user" not in fns.get_context_model()
    with web.fns.open({"user": "outer"}):
        assert web.fns.get_context_model().user == "outer"


def test_a_block_that_never_ended_is_not_seen_by_the_next_request(web):
    def abandon():
        with web.answering(Request()) as fns:
            fns.open({"user": "Ana"}).__enter__()
        with web.answering(Request()) as fns:
            return dict(fns.get_context_model())

    assert Variables().run(abandon) == {"body": None}


def test_run_in_context_takes_the_contexts_of_the_request_along(web):
    with web.answering(Request()) as fns:
        web.others.add_context({"role": "Manager"})
        fns.add_context({"user": "Ana"})

        def work():
            fns.add_context({"seen": fns.get_context_model().get("seen", 0) + 1})
            return dict(fns.get_context_model()), dict(web.others.get_context_model())

        carried = fns.run_in_context(work)
        with ThreadPoolExecutor(1) as pool:
            seen = [pool.submit(carried).result() for _ in range(2)]
        assert seen == [({"body": None, "user": "Ana", "seen": 1}, {"body": None, "role": "Manager"})] * 2
        assert fns.get_context_model() == {"body": None, "user": "Ana"}


def test_run_in_context_copies_a_context_that_nobody_had_asked_for(web):
    with web.answering(Request()) as fns:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(fns.run_in_context(lambda: fns.add_context({"user": "Ana"}))).result()
        assert fns.get_context_model() == {"body": None}


def test_run_in_context_takes_opened_contexts_along_beside_those_of_the_request(web):
    with web.answering(Request()) as fns, fns.open({"user": "Ana"}):
        alone = fns.run_in_context(lambda: dict(fns.get_context_model()))
        web.others.add_context({"role": "Manager"})
        both = fns.run_in_context(lambda: (fns.get_context_model().user, web.others.get_context_model().role))
        with ThreadPoolExecutor(1) as pool:
            found = [pool.submit(carried).result() for carried in (alone, both)]
    assert found == [{"Headers": {}, "body": None, "user": "Ana"}, ("Ana", "Manager")]


def test_run_in_context_copies_the_contexts_of_a_test(context_fns):
    def work():
        context_fns.add_context({"seen": context_fns.get_context_model().get("seen", 0) + 1})
        return dict(context_fns.get_context_model())

    context_fns.add_context({"user": "Ana"})
    carried = context_fns.run_in_context(work)
    with ThreadPoolExecutor(1) as pool:
        found = [pool.submit(carried).result() for _ in range(2)]
    assert found == [{"Headers": {}, "body": None, "user": "Ana", "seen": 1}] * 2
    assert context_fns.get_context_model() == {"Headers": {}, "body": None, "user": "Ana"}


def test_run_in_context_outside_of_a_request_carries_nothing(context_fns):
    def outside():
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(context_fns.run_in_context(lambda: context_fns.get_context_model())).result()

    with pytest.raises(RuntimeError, match="there is no context"):
        Variables().run(outside)


def test_threads_that_share_a_request_begin_one_context(web):
    barrier = Barrier(8)

    def ask(_):
        barrier.wait(5)
        return web.fns.get_context_model()

    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            with web.answering(Request()):
                first, *others = pool.map(ask, range(8))
            assert all(other is first for other in others)


def test_pool_threads_do_not_inherit_the_context(opened):
    opened.add_context({"user": "Ana"})
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="there is no context"):
        pool.submit(opened.get_context_model).result()


def test_run_in_context_carries_the_context_into_a_pool(opened):
    opened.add_context({"user": "Ana"})
    with ThreadPoolExecutor(4) as pool:
        carried = opened.runInContext(lambda suffix: opened.get_context_model().user + suffix)
        assert list(pool.map(carried, "1234")) == ["Ana1", "Ana2", "Ana3", "Ana4"]
        assert pool.submit(carried, suffix="5").result() == "Ana5"


def test_run_in_context_gives_each_concurrent_call_a_copy(opened):
    opened.add_context({"user": "Ana"})
    barrier = Barrier(4)

    def work(number: int) -> dict[str, object]:
        opened.get_context_model()["number"] = number
        barrier.wait(5)
        return dict(opened.get_context_model())

    carried = opened.run_in_context(work)
    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(carried, range(4)))
    assert seen == [{"Headers": {}, "body": None, "user": "Ana", "number": number} for number in range(4)]
    assert opened.get_context_model() == {"Headers": {}, "body": None, "user": "Ana"}


def test_run_in_context_keeps_what_the_context_was_when_it_was_called(context_fns):
    with context_fns.open():
        context_fns.add_context({"user": "Ana"})
        carried = context_fns.run_in_context(lambda: context_fns.get_context_model().user)
        context_fns.set_context({"user": "Bo"})
    assert (carried(), carried()) == ("Ana", "Ana")


def test_16_threads_of_1000_requests_each_see_only_their_own_user(context_fns):
    barrier = Barrier(16)

    def serve(thread: int) -> int:
        barrier.wait(5)
        return sum(_serves(context_fns, f"{thread}-{number}") for number in range(1000))

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(serve, range(16))) == [1000] * 16


def _serves(context_fns: ContextFns, user: str) -> bool:
    """Tell whether a request sees an empty context at first and its own user at last."""
    with context_fns.open() as context:
        fresh = context == {"Headers": {}, "body": None}
        context_fns.add_header_to_context({"token": user})
        context_fns.add_context({"user": user})
        with context_fns.open():
            context_fns.set_context({"user": "nested"})
        seen = context_fns.get_context_model()
        return fresh and (seen["user"], seen["Headers"]["Token"]) == (user, user)


# -- copies for attempts


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
    assert type(copied) is Context
    assert type(copied.order) is OrderedDict
    assert copied.user == {"name": "Ana"}


def test_what_is_one_object_or_a_circle_stays_so():
    body = {"a": []}
    body["self"] = body
    one, other = copy_for_attempt([body, {"body": body}])
    assert one is not body
    assert one is other["body"] is one["self"]


def test_a_look_makes_no_context():
    begun = []
    request = SimpleNamespace()
    fns = ContextFns(lambda: request, lambda *_: begun.append(1) or Context())
    assert (fns.peek(), begun) == (None, [])
    fns.add_context({"a": 1})
    assert (fns.peek(), begun) == ({"a": 1}, [1])
    with fns.open({"b": 2}):
        assert fns.peek()["b"] == 2
