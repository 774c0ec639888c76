"""OpenTelemetry: a span for each call, named after the act.

Only the API is used; an application without the SDK makes no spans.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, final

from gatewayfw.errors import DefinitionError
from gatewayfw.logs import traceback_of
from gatewayfw.observe.calls import NO_HEADERS, Call, Names, Observer, SentHeaders, ignore

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

_FAILED = 500


def otel(tracer_provider: TracerProvider | None = None) -> Tracing:
    """Return an observer that makes a span for each call, named ``main.book.buy``.

    The span surrounds the hooks and the act, so it is the parent of the spans that they make, such as those of
    pymongo's instrumentation; its own parent is the current span, or else the one in the request's ``traceparent``.
    ``tracer_provider`` is OpenTelemetry's global one by default.

    Raises:
        DefinitionError: OpenTelemetry's API is missing; install ``gatewayfw[otel]``.
    """
    try:
        from opentelemetry import trace
    except ImportError as error:
        raise DefinitionError("observe.otel() needs OpenTelemetry: pip install 'gatewayfw[otel]'") from error
    return Tracing(trace.get_tracer("gatewayfw", tracer_provider=tracer_provider), own=tracer_provider is not None)


@final
class Tracing:
    """The observer of `otel`."""

    def __init__(self, tracer: Tracer, *, own: bool) -> None:
        """Take a tracer, and whether its provider is another than the global one."""
        from opentelemetry import context, propagate, trace

        self._tracer, self._own = tracer, own
        self._context, self._propagate, self._trace = context, propagate, trace
        self._fields = sorted(propagate.get_global_textmap().fields)

    def begin(self, names: Names, headers: SentHeaders) -> Observer:
        """Start a span, which is the current one until the call has ended."""
        if not self._own and isinstance(self._trace.get_tracer_provider(), self._trace.ProxyTracerProvider):
            return ignore  # The program has not set up the SDK.
        parent, kind = self._parent(headers)
        span = self._tracer.start_span(str(names), parent, kind)
        token = self._context.attach(self._trace.set_span_in_context(span))

        def end(call: Call) -> None:
            self._context.detach(token)
            self._finish(span, call)

        return end

    def __call__(self, call: Call) -> None:
        """Make the span of a call that is over: it named no act, or ran among others."""
        parent, kind = self._parent(NO_HEADERS)
        started = time.time_ns() - int(call.seconds * 1e9)
        self._finish(self._tracer.start_span(str(call.names), parent, kind, start_time=started), call)

    def _parent(self, headers: SentHeaders) -> tuple[Any, Any]:
        """Return the parent's context, None for the current one, and the kind of the span."""
        if self._trace.get_current_span().get_span_context().is_valid:
            return None, self._trace.SpanKind.INTERNAL
        sent = any(headers.get(field) for field in self._fields)
        return self._propagate.extract(headers) if sent else None, self._trace.SpanKind.SERVER

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
