"""A service that Sentry watches, in a process of its own: the SDK changes logging and Flask for good.

It prints what Sentry would get.
"""

from __future__ import annotations

import json
import logging

import sentry_sdk
from sentry_sdk.integrations.flask import FlaskIntegration
from sentry_sdk.transport import Transport

from gatewayfw import observe
from tests.observe.calls import send, shop


class Kept(Transport):
    """A transport that keeps the events."""

    def __init__(self):
        super().__init__()
        self.items = []

    def capture_envelope(self, envelope):
        self.items += [item.payload.json for item in envelope.items if item.type in ("event", "transaction")]


def main():
    logging.disable(logging.NOTSET)
    kept = Kept()
    sentry_sdk.init(
        dsn="http://key@127.0.0.1:1/1",
        transport=kept,
        traces_sample_rate=1.0,
        auto_enabling_integrations=False,
        integrations=[FlaskIntegration()],
    )
    gw, client = shop(observe.sentry())

    @gw.acts.act("book", "tag", set={}, get=1)
    def tag(_body):
        sentry_sdk.set_tag("tenant", "a")

    send(client)
    send(client, "add", title=3)
    send(client, "made1")
    send(client, "made2")
    send(client, "tag")
    send(client, "fail")
    client.post("/gateway", data=b"{")
    print(json.dumps([seen(item) for item in kept.items]))  # noqa: T201  (its result)


def seen(item):
    """Kind, name of the act, exception, and the tag that one request sets."""
    error = item["exception"]["values"][-1]["type"] if "exception" in item else None
    return [item.get("type", "error"), item["transaction"], error, item.get("tags", {}).get("tenant")]


if __name__ == "__main__":
    main()
