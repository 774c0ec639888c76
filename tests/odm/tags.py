"""The tags of a blog."""

from __future__ import annotations

from bson import ObjectId

TAGS = [ObjectId(f"{number:024x}") for number in range(1, 5)]
