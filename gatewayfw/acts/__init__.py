"""Acts: their registry, the request context and the lifecycle of a request."""

from gatewayfw.acts.act import Act
from gatewayfw.acts.context import Context, ContextFns
from gatewayfw.acts.headers import Headers
from gatewayfw.acts.lifecycle import Lifecycle
from gatewayfw.acts.lookup import UnknownName
from gatewayfw.acts.registry import Acts
from gatewayfw.acts.remote import RemoteService
from gatewayfw.acts.replies import Reply, RequestBounds

__all__ = [
    "Act",
    "Acts",
    "Context",
    "ContextFns",
    "Headers",
    "Lifecycle",
    "RemoteService",
    "Reply",
    "RequestBounds",
    "UnknownName",
]
