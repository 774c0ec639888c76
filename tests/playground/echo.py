"""A service whose acts give back what they get, and what it was sent, byte for byte."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

import mongomock

from gatewayfw import Gateway, gateway
from gatewayfw.schemas import any_, array, defaulted, integer, number, object_, optional, string

LARGEST = 2**63 - 1


def echo_gateway() -> Gateway:
    """Return a gateway with the acts ``echo``, ``remove`` and ``keep`` of the model ``thing``."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("thing", {"name": string()}, {})
    fields = {
        "whole": optional(integer(minimum=-LARGEST, maximum=LARGEST)),
        "decimal": optional(number()),
        "any": optional(any_()),
        "list": optional(array(integer())),
        "default": defaulted(integer(), LARGEST),
        "password": optional(string()),
        "note": optional(string()),
    }
    for name in ("echo", "remove", "keep"):
        gw.acts.set_act(
            schema="thing",
            act_name=name,
            public=True,
            validation_run_type="create",
            validator=object_({"set": object_(fields), "get": object_({})}),
            fn=lambda body: body["details"]["set"],
        )
    return gw


class Recorder:
    """A WSGI application that keeps the bodies of POST requests before another one answers them."""

    def __init__(self, app: Callable[..., Iterable[bytes]], bodies: list[str]) -> None:
        self.app = app
        self.bodies = bodies

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "POST":
            body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            self.bodies.append(body.decode())
            environ["wsgi.input"] = io.BytesIO(body)
        return self.app(environ, start_response)


def echo_app(bodies: list[str]) -> Recorder:
    """Return an application with the acts. What is sent to them goes to ``bodies``."""
    return Recorder(echo_gateway().create_app(playground=True), bodies)
