"""``{base}/gateway/healthz`` and ``readyz``, for what starts and feeds processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from flask import Blueprint, Response

from gatewayfw.errors import DefinitionError
from gatewayfw.odm.readiness import Readiness
from gatewayfw.web.success import FIXED

#: The routes, below the gateway's.
HEALTH, READY = "/gateway/healthz", "/gateway/readyz"


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
        return _response({"status": state.word, "jobs": state.jobs, "oldestJobSeconds": oldest})

    for path, view in ((HEALTH, health), (READY, ready)):
        name = f"gateway_{path.rpartition('/')[2]}"
        blueprint.add_url_rule(path, name, view, methods=["GET"], provide_automatic_options=False)


def _response(content: Mapping[str, Any]) -> Response:
    """Return a reply that is never cached; its status goes by the word."""
    status = 200 if content["status"] == "ok" else 503
    return Response(json.dumps(content), status, dict(FIXED), content_type="application/json")
