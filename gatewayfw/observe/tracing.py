"""OpenTelemetry: a span for each call, named after the act.

Only the API is used; an application without the SDK makes no spans.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

from gatewayfw.acts.calls import Call, Names, Observer
from gatewayfw.errors import DefinitionError
from gatewayfw.logs import traceback_of

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

_FAILED = 500


def otel(tracer_provider: TracerProvider | None = None) -> Tracing:
    """Return an observer that makes a span for each call, named ``main.book.buy``.

    It surrounds the hooks and the act, so it is the parent of the spans that they make, such as those of pymongo's
    instrumentation; its own parent is the current span or else that of the request's ``traceparent``.
    ``tracer_provider``: OpenTelemetry's global one without it.

    Raises:
        DefinitionError: OpenTelemetry's API is missing; install ``gatewayfw[otel]``.
    """
    try:
        from opentelemetry import trace
    except ImportError as error:
        raise DefinitionError("observe.otel() needs OpenTelemetry: pip install 'gatewayfw[otel]'") from error
    return Tracing(trace.get_tracer("gatewayfw", tracer_provider=tracer_provider))


@final
class Tracing:
    """The observer of `otel`."""

    def __init__(self, tracer: Tracer) -> None:
        from opentelemetry import context, propagate, trace

        self._tracer = tracer
        self._context, self._propagate, self._trace = context, propagate, trace

    def begin(self, names: Names, headers: Mapping[str, str]) -> Observer:
        """Start a span, which is the current one until the call has ended."""
        span = self._tracer.start_span(str(names), self._parent(headers), kind=self._kind())
        token = self._context.attach(self._trace.set_span_in_context(span))

        def end(call: Call) -> None:
            self._context.detach(token)
            self._finish(span, call)

        return end

    def __call__(self, call: Call) -> None:
        """Make the span of a call that is over: it named no act, or ran among others."""
        started = time.time_ns() - int(call.seconds * 1e9)
        self._finish(self._tracer.start_span(str(call.names), kind=self._kind(), start_time=started), call)

    def _parent(self, headers: Mapping[str, str]) -> Any:
        """Return the context of the caller's span; None within a span of this process."""
        if self._trace.get_current_span().get_span_context().is_valid:
            return None
        return self._propagate.extract(headers)

    def _kind(self) -> Any:
        inside = self._trace.get_current_span().get_span_context().is_valid
        return self._trace.SpanKind.INTERNAL if inside else self._trace.SpanKind.SERVER

    def _finish(self, span: Span, call: Call) -> None:
        if span.is_recording():
            span.set_attributes(
                {
                    "rpc.system": "gatewayfw",
                    "rpc.service": f"{call.service}.{call.model}",
                    "rpc.method": call.act,
                    "gatewayfw.code": call.code,
                    "gatewayfw.request_id": call.request_id,
                    "http.response.status_code": call.status,
                }
            )
            if call.error is not None:
                kind = type(call.error)
                # Not `record_exception`, which takes the driver's own texts: they may hold documents.
                span.add_event(
                    "exception",
                    {
                        "exception.type": f"{kind.__module__}.{kind.__qualname__}",
                        "exception.stacktrace": traceback_of(call.error),
                    },
                )
            if call.status >= _FAILED:
                span.set_status(self._trace.StatusCode.ERROR, call.code)
        span.end()
