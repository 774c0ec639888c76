"""Clients of a gateway: over HTTP, and in process for tests.

Both have ``call(model, act, set=..., get=...)``, which returns the ``body`` of the reply or raises `CallError`, and
``pages``, which iterates over the pages of a list. The module that `gatewayfw.export.python.module` generates gives
them types:
``client: Client = HttpClient(url)``.

``send`` returns the reply with its status and headers.

One call is one request, unless ``retries`` of an idempotent act allows more: no redirects, cookies or proxies from the
environment. Tokens never appear in logs, messages or a ``repr``.
"""

from __future__ import annotations

from gatewayfw.client.clients import MAX_BYTES, HttpClient, InProcessClient
from gatewayfw.client.errors import BadReply, CallError, NoReply
from gatewayfw.client.replies import CallReply

__all__ = ["MAX_BYTES", "BadReply", "CallError", "CallReply", "HttpClient", "InProcessClient", "NoReply"]
