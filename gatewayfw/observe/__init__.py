"""Reports of a running service to other tools: observers for `Gateway.on_call`."""

from gatewayfw.observe.access import access_log
from gatewayfw.observe.metrics import prometheus
from gatewayfw.observe.sentry import sentry
from gatewayfw.observe.tracing import otel

__all__ = ["access_log", "otel", "prometheus", "sentry"]
