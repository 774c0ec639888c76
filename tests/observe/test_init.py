"""What the package of observers offers."""

from gatewayfw import observe


def test_the_names_of_the_observers():
    assert observe.__all__ == ["access_log", "otel", "prometheus", "sentry"]
