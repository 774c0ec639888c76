"""What a thread remembers to undo a transaction in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from gatewayfw.storage.terms import Document

T = TypeVar("T")


class Undo(threading.local):
    """One thread's open transaction: (collection, _id, document before or None)."""

    images: list[tuple[str, object, Document | None]] | None = None
    failed: BaseException | None = None

    def aside(self, fn: Callable[[], T]) -> T:
        """Run ``fn`` as if no transaction were open."""
        kept = self.images, self.failed
        self.images = self.failed = None
        try:
            return fn()
        finally:
            self.images, self.failed = kept
