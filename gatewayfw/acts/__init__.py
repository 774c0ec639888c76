"""Acts: their registry, the request context and the lifecycle of a request."""

from gatewayfw.acts.context import Context, ContextFns
from gatewayfw.acts.headers import Headers
from gatewayfw.acts.lifecycle import Lifecycle, RequestBounds
from gatewayfw.acts.registry import Act, Acts, UnknownName
from gatewayfw.acts.replies import Reply
from gatewayfw.acts.services import RemoteReply, RemoteService

__all__ = [
    "Act",
    "Acts",
    "Context",
    "ContextFns",
    "Headers",
    "Lifecycle",
    "RemoteReply",
    "RemoteService",
    "Reply",
    "RequestBounds",
    "UnknownName",
]
