"""What the tests of observers share: calls made by hand, and a gateway with three acts."""

from __future__ import annotations

import mongomock
from prometheus_client.parser import text_string_to_metric_families

from gatewayfw import gateway, string
from gatewayfw.observe.calls import Call, Names

ID = "test-1"
#: The labels of calls of nothing that is registered.
UNKNOWN = ("_unknown", "_unknown", "_unknown", "refused")


def call(act="buy", code="ok", status=200, seconds=0.0032, address="127.0.0.1", error=None, unknown=False):
    names = Names() if unknown else Names("main", "book", act)
    return Call(*names, code, status, seconds, ID, address, error)


def raised(error):
    """The error with a traceback."""
    try:
        raise error
    except type(error) as found:
        return found


def shop(*observers, database=None, mounted=True, **options):
    """A gateway with observers and the acts add, list and fail; and a client of its app if it is mounted."""
    gw = gateway(max_batch=5)
    gw.odm.set_db(mongomock.MongoClient().test if database is None else database)
    book = gw.odm.new_model("book", {"title": string()})
    gw.acts.act("book", "list", set={}, get=1)(lambda body: list(book.find({}, projection={"title": 1})))
    gw.acts.act("book", "add", set={"title": string()}, get=1)(
        lambda body: book.insert_one(body["details"]["set"], projection=body["details"]["get"])
    )

    @gw.acts.act("book", "fail", set={}, get=1)
    def fail(_body):
        raise LookupError("secret")

    for observer in observers:
        gw.on_call(observer)
    return gw, gw.create_app(**options).test_client() if mounted else None


def send(client, act="list", headers=None, **given):
    body = {"model": "book", "act": act, "details": {"set": given, "get": {}}}
    return client.post("/gateway", json=body, headers={"X-Request-Id": ID, **(headers or {})})


def counts(text):
    """Calls by their labels, as a page tells them."""
    found = {family.name: family for family in text_string_to_metric_families(text)}
    calls = found["gatewayfw_calls"].samples
    return {
        tuple(sample.labels[name] for name in ("service", "model", "act", "code")): sample.value
        for sample in calls
        if sample.name.endswith("_total")
    }
