"""The exact check of values for mode ``assert``, and their stored form.

A value of one of our kinds is loaded, and must be what was sent: we take it only if loading changes nothing, or only
how it is written. A user's own field or Schema only has to load the value and drop no key: what the value means is up
to the user. All failures are reported, each with its path.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import marshmallow
from marshmallow import EXCLUDE, missing
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.schemas.kinds import KindField, Parts, as_kind, quick_of
from gatewayfw.schemas.kinds.checks import load_part, plain_message
from gatewayfw.schemas.kinds.containers import ContainerField, ObjectField
from gatewayfw.schemas.kinds.foreign import ForeignField
from gatewayfw.schemas.kinds.foreign_values import either_part, part_of
from gatewayfw.schemas.paths import Collected, below, flat
from gatewayfw.schemas.values import SCALARS, copy_parts, same, storable_key

#: The path and message of each failure.
Failures = Iterator[tuple[str, str]]


def check_document(document: ObjectField, doc: Mapping[str, Any]) -> dict[str, Any]:
    """Return a new document as stored: strictly checked, with its defaults.

    ``document`` is `ModelSchema.document`. ``doc`` holds pure fields only; callers deal with ``_id``, which counts as
    unknown here.

    Raises:
        ValidationError: the document is invalid; the error has every refused value by path (``doc.email``).
    """
    return _stored(document, doc, "doc", fill=True)  # type: ignore[no-any-return]  # a dict


def check_value(field: mm.Field[Any], value: Any, path: str) -> Any:
    """Return one value as stored: strictly checked, nothing coerced or filled in.

    Raises:
        ValidationError: the value is invalid; the error has every refused part by path, from ``path``.
    """
    return _stored(field, value, path, fill=False)


def _stored(field: mm.Field[Any], value: Any, path: str, *, fill: bool) -> Any:
    quick = quick_of(field)
    if quick is not None:
        value = quick.fill(value) if fill else quick.load(value)
        if quick.test(value):
            return quick.store(value)
    collected = Collected()
    loaded = load_exactly(field, value, path, collected, fill=fill)
    collected.refuse()
    stored = as_kind(field).storer()(loaded)
    collected.add_each(unstorable_keys(stored, path))
    collected.refuse()
    return stored


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


def changes(field: mm.Field[Any], sent: Any, loaded: Any) -> bool:
    """Tell whether loading changed a value, other than in how it is written."""
    return any(_changed(field, sent, loaded, "", fill=False))


def _changed(field: Any, sent: Any, loaded: Any, path: str, fill: bool) -> Failures:
    if sent is missing:
        if loaded is not missing and not fill:
            yield path, plain_message(field, "required", messages.REQUIRED)
    elif not isinstance(field, KindField):
        yield from _dropped(field, sent, path, fill)
    elif loaded is sent or field.keeps(sent):
        return
    elif isinstance(field, ContainerField):
        known = field.split(loaded)
        for key, item in field.split(sent).items():
            if (part := known.get(key, missing)) is not item:
                yield from _changed(field.part(key), item, part, below(path, key), fill)
    elif not same(sent, loaded):
        yield path, plain_message(field, "invalid", messages.INVALID)


def _dropped(field: mm.Field[Any], sent: Any, path: str, fill: bool) -> Failures:
    """Yield the keys that a user's field drops, and what our kinds inside it change."""
    is_stored = isinstance(field, ForeignField)  # models take the names of Python, too
    find, theirs = either_part if is_stored else part_of, getattr(field, "wrapped", field)
    drops = isinstance(theirs, mm.Nested) and (theirs.unknown or theirs.schema.unknown) == EXCLUDE
    items = enumerate(sent) if isinstance(sent, list) else sent.items() if isinstance(sent, Mapping) else ()
    for key, item in items:
        inner = find(theirs, key)
        if inner is None and drops:
            yield below(path, key), messages.UNKNOWN
        if inner is None:
            continue
        try:
            loaded = inner.deserialize(copy_parts(item)) if isinstance(inner, KindField) else item
        except marshmallow.ValidationError:
            continue  # a hook of the Schema replaced the value
        yield from _changed(as_kind(inner) if is_stored else inner, item, loaded, below(path, key), fill)


def _refused(field: Any, sent: Any, error: marshmallow.ValidationError, path: str, fill: bool) -> Failures:
    if not isinstance(error, Parts) or not isinstance(field, ContainerField):
        yield from refusals(field, error.messages, path, sent)
        return
    for key, item in field.split(sent).items():
        refusal, loaded = error.parts.get(key), error.loaded.get(key, missing)
        if refusal is not None:
            yield from _refused(field.part(key), item, refusal, below(path, key), fill)
        elif loaded is not missing and loaded is not item:  # missing: loading stopped before it, with errors enough
            yield from _changed(field.part(key), item, loaded, below(path, key), fill)


def refusals(field: Any, told: Any, path: str, sent: Any) -> Failures:
    """Yield path and message of what marshmallow tells of a refused value.

    A path leads to a part of what was ``sent``; marshmallow also names a key and a value of a `Dict`, what is plucked,
    and what a validator calls the parts of a text or a number.
    """
    field = getattr(field, "wrapped", field)
    if type(sent) in SCALARS or not isinstance(told, dict) or not told:
        yield from ((path if type(sent) in SCALARS else place, text) for place, text in flat(told, path))
        return
    is_ours, is_dict = isinstance(field, KindField), isinstance(field, mm.Mapping)
    for key, inner in told.items():
        part, is_whole = part_of(field, key), key == "_schema" and isinstance(inner, list)
        if is_dict and not is_ours and isinstance(inner, dict) and inner.keys() <= {"key", "value"}:
            for name, texts in inner.items():
                named = (field.key_field, key) if name == "key" else (part, _part_at(sent, key))
                yield from refusals(named[0], texts, below(path, key), named[1])
        elif part is None or (is_whole and not is_ours):
            yield from flat({key: inner}, path)
        else:
            is_plucked = isinstance(field, mm.Pluck) and isinstance(key, str)
            at = (path, sent) if is_plucked else (below(path, key), _part_at(sent, key))
            yield from refusals(part, inner, *at)


def _part_at(value: Any, key: Any) -> Any:
    if isinstance(value, Mapping):
        return value.get(key, missing)
    is_place = isinstance(value, (list, tuple)) and isinstance(key, int) and key < len(value)
    return value[key] if is_place else missing


def differences(sent: Any, changed: Any, path: str) -> Failures:
    """Yield where a value differs from what became of it."""
    if isinstance(sent, Mapping) and isinstance(changed, Mapping):
        for key in [name for name in changed if name not in sent]:
            yield below(path, key), messages.REQUIRED
        for key, item in sent.items():
            if key not in changed:
                yield below(path, key), messages.UNKNOWN
            elif changed[key] is not item:
                yield from differences(item, changed[key], below(path, key))
    elif isinstance(sent, list) and isinstance(changed, (list, tuple)) and len(sent) == len(changed):
        for index, item in enumerate(sent):
            yield from differences(item, changed[index], below(path, index))
    elif not same(sent, changed):
        yield path, messages.INVALID


def unstorable_keys(value: Any, path: str) -> Failures:
    """Yield the keys in a value that the database cannot hold."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not storable_key(key):
                yield below(path, key), messages.NO_KEY
            yield from unstorable_keys(item, below(path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from unstorable_keys(item, below(path, index))
