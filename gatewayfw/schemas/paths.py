"""The paths of refused values in messages.

Key names come from the client, so messages show them cut and escaped; they never show values.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gatewayfw.errors import ValidationError
from gatewayfw.logs import escaped
from gatewayfw.messages import INVALID

#: Most characters of a key that a message shows; our choice.
_LONGEST = 64


def shown(key: object) -> str:
    """Return a key in a form fit for a message: printable, at most 64 characters."""
    if type(key) is str and len(key) <= _LONGEST and key.isprintable():
        return key
    if isinstance(key, bool) or not isinstance(key, (str, int)):
        return f"<{type(key).__name__}>"
    text = key[:_LONGEST] if isinstance(key, str) else str(key)[:_LONGEST]
    return escaped(text)[:_LONGEST]


def below(path: str, key: object) -> str:
    """Return the path of ``key`` inside the value at ``path``."""
    return f"{path}.{shown(key)}" if path else shown(key)


def flat(messages: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield (path, message) for each message of a marshmallow error, in its order.

    A message about the whole value (marshmallow's ``_schema``) has the path of that value, if it has one.
    """
    if type(messages) in (dict, list) and not messages:  # refused without a word
        yield path, INVALID
    elif isinstance(messages, Mapping):
        for key, inner in messages.items():
            is_whole = path and key == "_schema" and isinstance(inner, list)
            yield from flat(inner, path if is_whole else below(path, key))
    elif isinstance(messages, (list, tuple)):
        for message in messages:
            yield from flat(message, path)
    else:
        yield path, messages if isinstance(messages, str) else str(messages)


class Collected:
    """Messages by path, in order, each at most once per path.

    It keeps one path more than an error shows, and ignores the rest.
    """

    def __init__(self) -> None:
        self.errors: dict[str, list[str]] = {}

    def add(self, path: str, message: str) -> None:
        if self.full and path not in self.errors:
            return
        texts = self.errors.setdefault(path, [])
        if message not in texts:
            texts.append(message)

    def add_all(self, messages: Any, path: str) -> None:
        """Add every message of a marshmallow error about the value at ``path``."""
        self.add_each(flat(messages, path))

    def add_each(self, failures: Iterable[tuple[str, str]]) -> None:
        """Add paths with a message each, until there are more than an error shows."""
        for path, message in failures:
            self.add(path, message)
            if self.full:
                return

    @property
    def full(self) -> bool:
        """Whether there are more paths than an error shows.

        If so, the caller need not look for more.
        """
        return len(self.errors) > ValidationError.MOST

    def refusal(self) -> ValidationError:
        """Return the error; messages without a path are about ``details``."""
        return ValidationError({path or "details": texts for path, texts in self.errors.items()})

    def refuse(self) -> None:
        """Raise the `refusal` if there are messages."""
        if self.errors:
            raise self.refusal()
