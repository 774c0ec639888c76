"""Reading a list page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gatewayfw.client.errors import BadReply


def follow(ask: Callable[[Mapping[str, Any]], Any], given: Mapping[str, Any] | None) -> Iterator[Any]:
    """Yield what ``ask`` returns for a ``set``, page by page.

    Raises:
        BadReply: a result is no page, or its ``next`` came before.
    """
    wanted = {} if given is None else dict(given)
    seen = {wanted.get("after")} - {None}
    while True:
        page = ask(wanted)
        after = next_of(page)
        if after in seen:
            raise BadReply("bad reply of the gateway: its list does not go on", 200, "bad_reply")
        yield page
        if after is None:
            return
        seen.add(after)
        wanted = {**wanted, "after": after}


def next_of(page: object) -> str | None:
    """Return where the page after one of a list begins; None after the last.

    Raises:
        BadReply: it is no page.
    """
    if isinstance(page, dict) and isinstance(page.get("rows"), list):
        after = page.get("next", ...)
        if after is None or isinstance(after, str):
            return after
    raise BadReply("bad reply of the gateway: it is no page of a list", 200, "bad_reply")
