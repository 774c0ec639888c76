"""The exact check of values, for mode ``assert`` and for the documents of a model.

A value of one of our kinds is loaded and dumped again, and the dump must equal what was sent. So we take it
only if loading changes nothing. A user's own field or Schema only has to load the value and drop no key: what
the value means is up to the user. All failures are reported, each with its path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import marshmallow
from marshmallow import fields as mm
from marshmallow import missing

from gatewayfw.schemas.kinds import Kind, KindField, Parts, as_kind
from gatewayfw.schemas.kinds.checks import load_part, plain_message
from gatewayfw.schemas.kinds.foreign import sent_parts
from gatewayfw.schemas.messages import INVALID, NO_KEY, REQUIRED, UNKNOWN
from gatewayfw.schemas.paths import Collected, below, flat
from gatewayfw.schemas.values import copy_parts, same, storable_key

#: The path and message of each failure.
Failures = Iterator[tuple[str, str]]


def load_exactly(
    field: mm.Field[Any], sent: Any, path: str, collected: Collected, *, fill: bool, copies: bool = False
) -> Any:
    """Return the loaded value; collect what loading refuses and what it changes.

    Where loading refuses one part, the others are still checked, so that all failures are reported. With
    ``fill``, added defaults do not count as changes. With ``copies`` a copy is loaded, so that hooks of fields and
    Schemas do not change ``sent``.
    """
    try:
        loaded = load_part(field, copy_parts(sent) if copies else sent)
    except marshmallow.ValidationError as error:
        collected.add_each(_refused(field, sent, error, path, fill))
        return None
    collected.add_each(_changed(field, sent, loaded, path, fill))
    return loaded


def _changed(field: mm.Field[Any], sent: Any, loaded: Any, path: str, fill: bool) -> Failures:
    """Yield where loading changed what was sent."""
    kind: Any = as_kind(field)
    if sent is missing:
        if loaded is not missing and not fill:
            yield path, plain_message(field, "required", REQUIRED)
    elif not isinstance(kind, KindField):
        yield from _dropped(kind._field, sent, path, fill)
    elif loaded is not sent and kind.own and kind.parts() and loaded is not None:
        known = dict(enumerate(loaded)) if isinstance(loaded, list) else loaded
        for key, inner, item in kind.items(sent):
            if (part := known.get(key, missing)) is not item:
                yield from _changed(inner, item, part, below(path, key), fill)
    elif loaded is not sent:
        dumped = loaded if loaded is None else field._serialize(loaded, None, {})
        yield from differences(field, sent, dumped, path, fill=fill)


def _dropped(field: mm.Field[Any], sent: Any, path: str, fill: bool) -> Failures:
    """Yield the keys that a user's field drops, and what our kinds inside it change."""
    for key, inner, item in sent_parts(field, sent):
        if inner is None:
            yield below(path, key), UNKNOWN
            continue
        try:
            loaded = inner.deserialize(copy_parts(item)) if isinstance(inner, KindField) else item
        except marshmallow.ValidationError:
            continue  # a hook of the Schema replaced the value
        yield from _changed(inner, item, loaded, below(path, key), fill)


def _refused(field: mm.Field[Any], sent: Any, error: marshmallow.ValidationError, path: str, fill: bool) -> Failures:
    """Yield the parts that loading refused, and the changes it made to the others."""
    if not isinstance(error, Parts):
        yield from flat(error.messages, path)
        return
    known = set()
    for key, inner, item in as_kind(field).items(sent):
        known.add(key)
        refusal, loaded = error.parts.get(key), error.loaded.get(key, missing)
        if refusal is not None:
            yield from _refused(inner, item, refusal, below(path, key), fill)
        elif loaded is not missing and loaded is not item:  # missing: loading stopped before it, with errors enough
            yield from _changed(inner, item, loaded, below(path, key), fill)
    yield from flat({key: part.messages for key, part in error.parts.items() if key not in known}, path)


def differences(field: mm.Field[Any] | None, sent: Any, dumped: Any, path: str, *, fill: bool) -> Failures:
    """Yield where a value differs from its dump.

    With ``fill``, added defaults do not count as differences.
    """
    kind = Kind() if field is None else as_kind(field)
    if isinstance(sent, Mapping) and isinstance(dumped, Mapping):
        for key in [name for name in dumped if name not in sent]:
            inner = kind.part(key)
            if not (fill and inner is not None and inner.load_default is not missing):
                yield below(path, key), plain_message(inner, "required", REQUIRED)
        for key, item in sent.items():
            if key not in dumped:
                yield below(path, key), UNKNOWN
            elif dumped[key] is not item:
                yield from differences(kind.part(key), item, dumped[key], below(path, key), fill=fill)
    elif isinstance(sent, list) and isinstance(dumped, (list, tuple)) and len(sent) == len(dumped):
        for index, item in enumerate(sent):
            if dumped[index] is not item:
                yield from differences(kind.part(index), item, dumped[index], below(path, index), fill=fill)
    elif not same(sent, dumped) and not kind.keeps(sent, dumped):
        yield path, plain_message(field, "invalid", INVALID)


def unstorable_keys(value: Any, path: str) -> Failures:
    """Yield the keys in a value that the database cannot hold."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not storable_key(key):
                yield below(path, key), NO_KEY
            yield from unstorable_keys(item, below(path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from unstorable_keys(item, below(path, index))
