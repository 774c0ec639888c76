"""What a refused call says."""

import pytest

from gatewayfw.errors import GatewayError


def refused(call, *args):
    """Return the class and the message of the error that a call raises."""
    with pytest.raises(GatewayError) as caught:
        call(*args)
    return type(caught.value), caught.value.message
