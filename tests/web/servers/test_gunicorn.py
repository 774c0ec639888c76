"""The options that gunicorn gets."""

import pytest

from gatewayfw.web.servers.gunicorn import gunicorn_options


@pytest.mark.parametrize(
    ("deadline", "timeout", "graceful"), [(5.0, 30, 10), (60, 85, 65), (0.5, 26, 6)], ids=["default", "long", "short"]
)
def test_workers_outlive_every_act(deadline, timeout, graceful):
    made = gunicorn_options(host="::1", port=80, workers=3, threads=4, deadline=deadline)
    assert made == {
        "bind": ["[::1]:80"],
        "workers": 3,
        "threads": 4,
        "timeout": timeout,
        "graceful_timeout": graceful,
        "forwarder_headers": "",
    }
