"""A service with a page of metrics, for gunicorn; ``MONGODB_URI`` names the database."""

from __future__ import annotations

import os

from prometheus_client import Gauge

from gatewayfw import observe
from tests.observe.calls import shop


def create_app():
    """Return the app."""
    gw, _ = shop(database=os.environ["MONGODB_URI"], mounted=False)
    Gauge("workers", "Workers that run.", multiprocess_mode="livesum").set(1)
    gw.on_call(observe.prometheus(guard=lambda sent: True))
    return gw.create_app()
