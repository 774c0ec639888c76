"""Acts: their registry, the request context, the lifecycle of a request, rate limits and remote services."""

from gatewayfw.acts.context import Context, ContextFns, Headers
from gatewayfw.acts.lifecycle import Lifecycle, Scope
from gatewayfw.acts.registry import Act, Acts, UnknownName
from gatewayfw.limits.limits import CallerKey, RateLimits
from gatewayfw.remote import RemoteReply, RemoteService

__all__ = [
    "Act",
    "Acts",
    "CallerKey",
    "Context",
    "ContextFns",
    "Headers",
    "Lifecycle",
    "RateLimits",
    "RemoteReply",
    "RemoteService",
    "Scope",
    "UnknownName",
]
