"""Links of the playground that open a request, as it makes and reads them."""

from __future__ import annotations

import base64
import json
from typing import Any


def share_url(service_url: str, request: dict[str, Any]) -> str:
    """Return the link that opens a request (``model``, ``act``, ``set``, ``get``) in a tab."""
    return f"{service_url}/playground/#share={encoded({'v': 1, **request})}"


def encoded(value: Any) -> str:
    """Return a value as a link has it: JSON in base64 for URLs, without padding."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def decoded(link: str) -> Any:
    """Return what a link holds."""
    text = link.partition("#share=")[2]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def open_shared(page, service_url: str, request: dict[str, Any]) -> None:
    """Open a request in a tab by its link; the page is loaded anew."""
    page.goto("about:blank")
    page.goto(share_url(service_url, request))
    page.get_by_role("region", name="Request").get_by_role("heading", name=request["act"]).wait_for()
