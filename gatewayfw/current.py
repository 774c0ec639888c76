"""The gateway at work: `current_gateway`, for code that is not given one.

Like Flask's `current_app`, it is a proxy. Source: our choice.
"""

from typing import cast

from flask import current_app, has_app_context, has_request_context, request
from werkzeug.local import LocalProxy

from gatewayfw.core import Gateway


def _current() -> Gateway:
    """Return the gateway that is asked, else the only one of the app.

    Raises:
        RuntimeError: outside of an app context; or the app has none, or several and none of them is asked.
    """
    if not has_app_context():
        raise RuntimeError("current_gateway: there is no app context; use app.app_context()")
    by_name: dict[str, Gateway] = current_app.extensions.get("gatewayfw", {})
    asked = by_name.get(request.blueprint or "") if has_request_context() else None
    found = {id(one): one for one in ([asked] if asked else by_name.values())}
    if len(found) != 1:
        count = "several gateways" if found else "no gateway"
        raise RuntimeError(f"current_gateway: the app {current_app.name!r} has {count}")
    return next(iter(found.values()))


#: The gateway whose request is being answered; elsewhere in an app context its only gateway.
current_gateway = cast(Gateway, LocalProxy(_current))
