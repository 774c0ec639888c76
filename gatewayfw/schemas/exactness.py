"""The exact check of values, for mode ``assert`` and for the documents of a model.

A value of one of our kinds is loaded and dumped again, and the dump must equal what was sent. So we take it
only if loading changes nothing. A user's own field or Schema only has to load the value and drop no key: what
the value means is up to the user. All failures are reported, each with its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import marshmallow
from marshmallow import fields as mm
from marshmallow import missing

from gatewayfw.schemas.kinds import KindField, Parts, as_kind
from gatewayfw.schemas.kinds.checks import load_part, plain_message
from gatewayfw.schemas.kinds.foreign import sent_parts
from gatewayfw.schemas.messages import INVALID, NO_KEY, REQUIRED, UNKNOWN
from gatewayfw.schemas.paths import Collected, below
from gatewayfw.schemas.values import copy_parts, same, storable_key


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
        _collect_refused(field, sent, error, path, collected, fill=fill)
        return None
    return _judge(field, sent, loaded, path, collected, fill=fill)


def _judge(field: mm.Field[Any], sent: Any, loaded: Any, path: str, collected: Collected, *, fill: bool) -> Any:
    """Return a loaded value; collect where loading changed what was sent."""
    kind: Any = as_kind(field)
    if sent is missing:
        if loaded is not missing and not fill:
            collected.add(path, plain_message(field, "required", REQUIRED))
    elif not isinstance(kind, KindField):
        _collect_dropped(kind._field, sent, path, collected, fill=fill)
    elif loaded is not sent and kind.own and kind.parts() and loaded is not None:
        known = dict(enumerate(loaded)) if isinstance(loaded, list) else loaded
        for key, inner, item in kind.items(sent):
            if (part := known.get(key, missing)) is not item:
                _judge(inner, item, part, below(path, key), collected, fill=fill)
    elif loaded is not sent:
        dumped = loaded if loaded is None else field._serialize(loaded, None, {})
        compare(field, sent, dumped, path, collected, fill=fill)
    return loaded


def _collect_dropped(field: mm.Field[Any], sent: Any, path: str, collected: Collected, *, fill: bool) -> None:
    """Collect the keys that a user's field drops, and what our kinds inside it change."""
    for key, inner, item in sent_parts(field, sent):
        if inner is None:
            collected.add(below(path, key), UNKNOWN)
            continue
        try:
            loaded = inner.deserialize(copy_parts(item)) if isinstance(inner, KindField) else item
        except marshmallow.ValidationError:
            continue  # a hook of the Schema replaced the value
        _judge(inner, item, loaded, below(path, key), collected, fill=fill)


def _collect_refused(
    field: mm.Field[Any],
    sent: Any,
    error: marshmallow.ValidationError,
    path: str,
    collected: Collected,
    *,
    fill: bool,
) -> None:
    """Collect the parts that loading refused, and the changes it made to the others."""
    if not isinstance(error, Parts):
        collected.add_all(error.messages, path)
        return
    known = set()
    for key, inner, item in as_kind(field).items(sent):
        if collected.full:
            return
        known.add(key)
        refusal, loaded = error.parts.get(key), error.loaded.get(key, missing)
        if refusal is not None:
            _collect_refused(inner, item, refusal, below(path, key), collected, fill=fill)
        elif loaded is not missing and loaded is not item:  # missing: loading stopped before it, with errors enough
            _judge(inner, item, loaded, below(path, key), collected, fill=fill)
    collected.add_all({key: part.messages for key, part in error.parts.items() if key not in known}, path)


def compare(
    field: mm.Field[Any] | None, sent: Any, dumped: Any, path: str, collected: Collected, *, fill: bool
) -> None:
    """Collect where a value differs from its dump.

    With ``fill``, added defaults do not count as differences.
    """
    if isinstance(sent, Mapping) and isinstance(dumped, Mapping):
        _compare_keys(field, sent, dumped, path, collected, fill=fill)
    elif isinstance(sent, list) and isinstance(dumped, (list, tuple)) and len(sent) == len(dumped):
        for index, item in enumerate(sent):
            if dumped[index] is not item:
                compare(_find_part(field, index), item, dumped[index], below(path, index), collected, fill=fill)
    elif not same(sent, dumped) and not (field is not None and as_kind(field).keeps(sent, dumped)):
        collected.add(path, plain_message(field, "invalid", INVALID))


def _compare_keys(
    field: mm.Field[Any] | None,
    sent: Mapping[Any, Any],
    dumped: Mapping[Any, Any],
    path: str,
    collected: Collected,
    *,
    fill: bool,
) -> None:
    for key in [name for name in dumped if name not in sent]:
        inner = _find_part(field, key)
        if not (fill and inner is not None and inner.load_default is not missing):
            collected.add(below(path, key), plain_message(inner, "required", REQUIRED))
    for key, item in sent.items():
        if key not in dumped:
            collected.add(below(path, key), UNKNOWN)
        elif dumped[key] is not item:
            compare(_find_part(field, key), item, dumped[key], below(path, key), collected, fill=fill)


def _find_part(field: mm.Field[Any] | None, key: Any) -> mm.Field[Any] | None:
    return None if field is None else as_kind(field).part(key)


def check_keys(value: Any, path: str, collected: Collected) -> None:
    """Collect the keys in a value that the database cannot hold."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not storable_key(key):
                collected.add(below(path, key), NO_KEY)
            check_keys(item, below(path, key), collected)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            check_keys(item, below(path, index), collected)
