"""The interface of a store: bytes by random keys.

A key begins with what `origin_of` gives for a database and a model, so that gateways which share a store sweep
nothing of each other. It is never made from anything that a client sends.
"""

import errno
import hashlib
import logging
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import BinaryIO

from gatewayfw.errors import GatewayError, StorageError, Unavailable
from gatewayfw.storage import Storage

_LOG = logging.getLogger("gatewayfw.files")

#: Every key.
KEY = re.compile(r"[0-9a-f]{40}")
#: Seconds after which bytes without a document are swept.
GRACE = 3600.0
_ORIGIN = 8
#: What the system says where no space is left: on the disk, or of somebody's share.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def origin_of(database: str, model: str) -> str:
    """Return what the keys of a model's files begin with."""
    return hashlib.sha256(f"{database}\0{model}".encode()).hexdigest()[:_ORIGIN]


def new_key(origin: str) -> str:
    """Return a key that nobody can guess."""
    return origin + secrets.token_hex(16)


def error_of(error: OSError, words: str) -> GatewayError:
    """Return the error of a store for one of the system."""
    if error.errno in _FULL:  # The same request may succeed later.
        _LOG.error("no space is left: %s", words)
        return Unavailable()
    return StorageError(words)


class FileStore(ABC):
    """A store of bytes. Instances are safe to share between threads.

    What fails raises StorageError, Unavailable or Timeout.
    """

    def bind(self, storage: Callable[[], Storage]) -> None:  # noqa: B027  (most stores need no database)
        """Take what gives the gateway's storage; `Files.use` calls it once."""

    @abstractmethod
    def put(self, key: str, content: BinaryIO, size: int) -> None:
        """Store a content of ``size`` bytes, all or nothing, durably, in no transaction."""

    @abstractmethod
    def open(self, key: str, size: int) -> BinaryIO | None:
        """Return a seekable content of ``size`` bytes; None if it is not there."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Delete a content, if it is there."""

    @abstractmethod
    def old(self, origin: str, age: float) -> Iterator[str]:
        """Yield the keys of an origin that were stored more than ``age`` seconds ago.

        It also deletes what an interrupted `put` has left.
        """
