"""Clients of a gateway: over HTTP, and in process for tests.

Both have ``call(model, act, set=..., get=...)``, which returns the ``body`` of the reply or raises `CallError`;
``send``, which returns the reply with its status and headers; ``pages``, which iterates over the pages of a list; and
``batch``. The module that ``flask gateway types --lang python`` writes gives them types:
``client: AnyClient = HttpClient(url)``.

One call is one request, unless it gives ``retries`` for an idempotent act. Redirects are refused; cookies and proxies
from the environment are not used. Tokens never appear in logs, messages or a ``repr``.
"""

from gatewayfw.client.clients import MAX_BYTES, HttpClient
from gatewayfw.client.in_process import InProcessClient
from gatewayfw.client.replies import BadReply, CallError, CallReply, NoReply

__all__ = ["MAX_BYTES", "BadReply", "CallError", "CallReply", "HttpClient", "InProcessClient", "NoReply"]
