"""Adapters: document storage over a small, named subset of MongoDB's filters and updates."""

from gatewayfw.storage.base import Document, Index, Scope, Storage, Trouble
from gatewayfw.storage.mock import MockStorage
from gatewayfw.storage.mongo import MongoStorage

__all__ = ["Document", "Index", "MockStorage", "MongoStorage", "Scope", "Storage", "Trouble"]
