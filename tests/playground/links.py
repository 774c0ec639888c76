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
    return encoded_text(json.dumps(value))


def encoded_text(text: str) -> str:
    """Return JSON as a link has it."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decoded(link: str) -> Any:
    """Return what a link holds."""
    return json.loads(decoded_text(link))


def decoded_text(link: str) -> str:
    """Return the JSON that a link holds."""
    text = link.partition("#share=")[2]
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


def open_shared(page, service_url: str, request: dict[str, Any]) -> None:
    """Open a request in a tab by its link; the page is loaded anew."""
    page.goto("about:blank")
    page.goto(share_url(service_url, request))
    page.get_by_role("region", name="Request").get_by_role("heading", name=request["act"]).wait_for()


def open_text(page, service_url: str, text: str, act: str) -> None:
    """Open a request in a tab by the JSON of its link."""
    page.goto("about:blank")
    page.goto(f"{service_url}/playground/#share={encoded_text(text)}")
    page.get_by_role("region", name="Request").get_by_role("heading", name=act).wait_for()
