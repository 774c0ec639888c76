"""Prometheus: the number of calls by act and outcome, and their times by act."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final, get_args
from weakref import WeakKeyDictionary

from gatewayfw.environment import METRICS_VARIABLE
from gatewayfw.error_codes import GatewayCode
from gatewayfw.errors import DefinitionError
from gatewayfw.observe.calls import OK, UNKNOWN, Call

if TYPE_CHECKING:
    from flask import Request
    from prometheus_client import CollectorRegistry, Counter, Histogram, Metric

#: Upper bounds of the histogram, in seconds.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
#: The codes that may be labels; others are an author's or a remote service's, and count as `CUSTOM`.
CODES = frozenset({OK, *get_args(GatewayCode)})
CUSTOM = "custom"
#: The outcome of a call that named no registered act.
REFUSED = "refused"
#: The gauges of the database, and their texts.
GAUGES = {
    "gatewayfw_jobs": "Jobs that are pending; 1000 stands for at least as many.",
    "gatewayfw_oldest_job_seconds": "Age of the oldest pending job; 0 without any.",
    "gatewayfw_unmigrated": "Documents that declared migrations had left when they last ended.",
}

_LOG = logging.getLogger("gatewayfw.observe")
_made: WeakKeyDictionary[Any, tuple[Counter, Histogram]] = WeakKeyDictionary()


def prometheus(*, guard: Callable[[Request], bool] | None = None, registry: CollectorRegistry | None = None) -> Metrics:
    """Return an observer that counts and times calls.

    ``gatewayfw_calls_total`` has the labels ``service model act code``, ``gatewayfw_call_seconds`` all but the last.
    Calls that name no registered act share one set of labels, ``_unknown`` with the code ``refused``; codes that are
    not the package's own are ``custom``. With a ``guard`` the metrics are served at ``{base}/gateway/metrics`` to
    requests that it accepts, and others get 404; so register this before the gateway is mounted. ``registry`` is
    prometheus_client's own by default; everything else in it is served, too.

    If several processes serve, set the environment variable ``PROMETHEUS_MULTIPROC_DIR`` to an empty directory before
    they start; without it each process shows only its own numbers.

    Raises:
        DefinitionError: prometheus_client is missing (install ``gatewayfw[metrics]``), or the guard is not a function.
    """
    if guard is not None and not callable(guard):
        raise DefinitionError("observe.prometheus: the guard must be a function of the request")
    try:
        import prometheus_client
    except ImportError as error:
        needed = "observe.prometheus() needs prometheus_client: pip install 'gatewayfw[metrics]'"
        raise DefinitionError(needed) from error
    return Metrics(prometheus_client.REGISTRY if registry is None else registry, guard)


@final
class Metrics:
    """The observer of `prometheus`; without a guard it has no page."""

    def __init__(self, registry: CollectorRegistry, guard: Callable[[Request], bool] | None) -> None:
        self.guard = guard
        self._registry = registry
        self._calls, self._seconds = _metrics_of(registry)
        self._known: dict[tuple[str, str, str, str], tuple[Any, Any]] = {}

    def __call__(self, call: Call) -> None:
        code = call.code if call.code in CODES else CUSTOM
        key = (call.service, call.model, call.act, REFUSED if call.service == UNKNOWN else code)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._calls.labels(*key), self._seconds.labels(*key[:3])
        counted, timed = found
        counted.inc()
        timed.observe(call.seconds)

    def page(self, accept: str, gauges: Mapping[str, float] = MappingProxyType({})) -> tuple[bytes, str]:
        """Return all metrics in the format that ``Accept`` prefers, and their type.

        ``gauges`` has the values of `GAUGES` that are known; the others are left out.
        """
        from prometheus_client import CollectorRegistry
        from prometheus_client.exposition import choose_encoder
        from prometheus_client.multiprocess import MultiProcessCollector

        page = CollectorRegistry()
        if METRICS_VARIABLE in os.environ:
            MultiProcessCollector(page)  # type: ignore[no-untyped-call]
        else:
            page.register(self._registry)
        page.register(_Gauges(gauges))
        try:
            encode, content_type = choose_encoder(accept)
        except (TypeError, ValueError):  # prometheus_client 0.26: a version that is no number
            encode, content_type = choose_encoder("")
        return encode(page), content_type


def warn_of_processes(observers: Iterable[object], environ: Mapping[str, str]) -> None:
    """Warn where several processes count and each would tell only of itself.

    The directory cannot be made here: prometheus_client read the variable when it was imported.
    """
    if METRICS_VARIABLE not in environ and any(isinstance(one, Metrics) for one in observers):
        text = "metrics: each process tells only of itself; start with %s set to an empty directory"
        _LOG.warning(text, METRICS_VARIABLE)


class _Gauges:
    """What is known of the database, as it is at one moment."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges; prometheus_client calls it."""
        from prometheus_client import Metric

        for name, text in GAUGES.items():
            if name in self._values:
                gauge = Metric(name, text, "gauge")
                gauge.add_sample(name, {}, self._values[name])
                yield gauge


def _metrics_of(registry: CollectorRegistry) -> tuple[Counter, Histogram]:
    """Return the metrics of a registry, which all gateways share that report to it."""
    from prometheus_client import Counter, Histogram

    if registry not in _made:
        labels = ["service", "model", "act"]
        _made[registry] = (
            Counter("gatewayfw_calls", "Calls of acts.", [*labels, "code"], registry=registry),
            Histogram("gatewayfw_call_seconds", "Seconds to answer.", labels, buckets=BUCKETS, registry=registry),
        )
    return _made[registry]
