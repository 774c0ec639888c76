"""Strict reading of the reply to a batch.

Source: specification 2.3.
"""

from __future__ import annotations

from typing import Any

from gatewayfw.wire.posting import HttpReply, NotAGateway, read_json


def items_of(reply: HttpReply, count: int) -> list[dict[str, Any]]:
    """Return the items of a reply with the status 200, ``count`` of them.

    Each has ``body``, ``success`` and ``status``; a failed one perhaps ``code`` and ``retryAfter``.

    Raises:
        NotAGateway: it is not the reply to a batch of so many requests.
    """
    envelope = read_json(reply)
    items = envelope.get("body") if isinstance(envelope, dict) else None
    if not isinstance(items, list) or len(items) != count or not all(map(_is_item, items)):
        raise NotAGateway("its answer is not that to the batch", reply)
    if envelope.keys() != {"body", "success"} or envelope["success"] is not all(item["success"] for item in items):
        raise NotAGateway("its answer is not that to the batch", reply)
    return items


def reply_to(item: dict[str, Any]) -> HttpReply:
    """Return status and headers that an item would have as a reply of its own."""
    code, seconds = item.get("code"), item.get("retryAfter")
    headers = {"X-Error-Code": code} if isinstance(code, str) else {}
    return HttpReply(item["status"], headers | ({"Retry-After": str(seconds)} if type(seconds) is int else {}), b"")


def _is_item(value: Any) -> bool:
    if not isinstance(value, dict) or not {"body", "success", "status"} <= value.keys():
        return False
    body, success, status = value["body"], value["success"], value["status"]
    if type(status) is not int or not 200 <= status <= 599:
        return False
    if success is True:
        return status < 300
    return success is False and status >= 400 and isinstance(body, dict) and isinstance(body.get("message"), str)
