"""Adapters: document storage over a small subset of MongoDB's filters and updates."""

from gatewayfw.storage.base import Storage
from gatewayfw.storage.deadlines import Scope
from gatewayfw.storage.memory import MockStorage
from gatewayfw.storage.mongo.storage import MongoStorage
from gatewayfw.storage.terms import Document, Index, Lock, Trouble

__all__ = ["Document", "Index", "Lock", "MockStorage", "MongoStorage", "Scope", "Storage", "Trouble"]
