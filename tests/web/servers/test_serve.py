"""Starting a server."""

import socket

import pytest

from gatewayfw.settings import Settings
from gatewayfw.web.servers.serve import serve


@pytest.fixture
def taken():
    """A port somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize("server", ["gunicorn", "granian"])
@pytest.mark.parametrize("multi_process", [True, False])
def test_port_in_use_is_an_error(app, taken, multi_process, server):
    options = {"workers": 1, "threads": 1, "multi_process": multi_process, "settings": Settings(), "server": server}
    with pytest.raises(OSError, match="in use"):
        serve(app, host="127.0.0.1", port=taken, **options)
