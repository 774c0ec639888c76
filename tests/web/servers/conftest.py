"""An app on the threaded server."""

from __future__ import annotations

import threading

import pytest

from gatewayfw.web.servers import threaded_server


@pytest.fixture
def address(app):
    """The address of the app on a threaded server."""
    server = threaded_server(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
