"""What watches processes: ``{base}/gateway/metrics``, ``healthz``, ``readyz``."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeGuard

from flask import Blueprint, Request, Response, abort, request

from gatewayfw.errors import DefinitionError
from gatewayfw.observe.calls import CallObservers
from gatewayfw.observe.metrics import Metrics
from gatewayfw.odm.jobs.records import MOST_COUNTED
from gatewayfw.odm.readiness import Readiness
from gatewayfw.web.playground import accepts
from gatewayfw.web.reply import FIXED

#: The routes, below the gateway's.
METRICS, HEALTH, READY = "/gateway/metrics", "/gateway/healthz", "/gateway/readyz"


def shown_of(calls: CallObservers | None) -> Metrics | None:
    """Return the observer that has a page and a guard for it."""
    observers = () if calls is None else calls.observers
    return next((one for one in observers if has_page(one)), None)


def has_page(observer: object) -> TypeGuard[Metrics]:
    """Tell whether an observer has a page that is served."""
    return isinstance(observer, Metrics) and observer.guard is not None


def metrics_view(shown: Metrics, readiness: Readiness | None = None) -> Callable[..., Response]:
    """Return the view of the route; without the guard's consent it is the host's 404.

    What ``readiness`` finds meanwhile are gauges of it; a database that is away takes only them from the page.
    """

    def view(**_values: Any) -> Response:
        sent: Request = request._get_current_object()  # type: ignore[attr-defined]  # a proxy
        if sent.method not in ("GET", "HEAD") or not accepts(shown.guard, sent, "the guard of the metrics"):
            abort(404)
        payload, content_type = shown.page(sent.headers.get("Accept", ""), _gauges(readiness))
        return Response(payload, content_type=content_type, headers={"Cache-Control": "no-store"})

    return view


def _gauges(readiness: Readiness | None) -> dict[str, float]:
    state = None if readiness is None else readiness.state()
    if state is None:
        return {}
    known = {
        "gatewayfw_jobs": state.jobs,
        "gatewayfw_oldest_job_seconds": state.oldest,
        "gatewayfw_unmigrated": state.unmigrated,
    }
    return {name: value for name, value in known.items() if value is not None}


def add_probes(blueprint: Blueprint, readiness: Readiness, begin: Callable[[], object]) -> None:
    """Add both routes, for GET and HEAD; the refusal of other methods is the host's.

    ``begin`` is that of the endpoint. Where it refuses, the process lives, and is not ready.
    """

    def health(**_values: Any) -> Response:
        with suppress(DefinitionError):
            begin()
        return _response({"status": "ok"})

    def ready(**_values: Any) -> Response:
        with suppress(DefinitionError):
            begin()
        state = readiness.state()
        if state.word == "index_missing":
            readiness.prepare()
        oldest = None if state.oldest is None else round(state.oldest, 1)
        more = {"atLeast": True} if state.jobs == MOST_COUNTED else {}
        left = {} if state.unmigrated is None else {"unmigrated": state.unmigrated}
        return _response({"status": state.word, "jobs": state.jobs, **more, "oldestJobSeconds": oldest, **left})

    for path, view in ((HEALTH, health), (READY, ready)):
        name = f"gateway_{path.rpartition('/')[2]}"
        blueprint.add_url_rule(path, name, view, methods=["GET"], provide_automatic_options=False)


def _response(content: Mapping[str, Any]) -> Response:
    status = 200 if content["status"] == "ok" else 503
    return Response(json.dumps(content), status, dict(FIXED), content_type="application/json")
