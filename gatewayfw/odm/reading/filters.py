"""Pure functions that check filters and sorts, and return their stored form.

Names are checked against the model, values against the type of their field; ids and dates are
converted to their stored form, and nothing outside the adapters' subset passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from bson import ObjectId

from gatewayfw.errors import UsageError, ValidationError
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.reading.operands import Operators, stored_operand
from gatewayfw.odm.reading.paths import (
    Copies,
    Find,
    Found,
    Path,
    find_element,
    find_in_elements,
    find_in_model,
    is_list,
    may_be_text,
    path_text,
    takes_any_keys,
)
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.paths import shown
from gatewayfw.schemas.values import HEX_ID
from gatewayfw.storage.subset import JUNCTIONS, check_filter, is_of_values

#: Operators that hold operators.
_OUTER = frozenset({"$not", "$elemMatch"})
DISGUISED = "Keys may not start with $, but those of Operators in the server's code."


def stored_filter(
    schemas: Schemas,
    schema: ModelSchema,
    filters: Mapping[str, Any] | None,
    where: str,
    reveal: Collection[str] = (),
) -> dict[str, Any]:
    """Return a filter in its stored form, with ids and dates converted by field.

    None means all documents. ``where`` is the caller's name for the filter; ``reveal`` names excluded
    fields that it may use.

    Raises:
        UsageError: an operator outside the subset, a name the model does not have, a hidden or
            excluded one, or a relation that is compared as a whole.
        ValidationError: values that cannot be their fields', by path (``filter.year``).
    """
    if filters is None:
        return {}
    if type(filters) is dict and len(filters) == 1 and (id_ := _plain_id(filters.get("_id"))) is not None:
        return {"_id": id_}

    def find(path: str) -> Found:
        return find_in_model(schemas, schema, path, where, reveal)

    filters = _with_text_paths(filters, where)
    try:
        check_filter(filters, where)
    except UsageError:
        _refuse_disguised(find, filters, where)
        raise
    return convert_filter(find, filters, where, where)


def _with_text_paths(filters: Any, where: str) -> Any:
    """Return a filter whose paths are text; see `path_text`.

    Raises:
        ValidationError: a part of a path cannot be a key.
        UsageError: a filter has a path in both forms.
    """
    if not isinstance(filters, Mapping):
        return filters
    texts: dict[Any, Any] = {}
    for key, value in filters.items():
        if key in JUNCTIONS and isinstance(value, (list, tuple)):
            texts[key] = [_with_text_paths(part, where) for part in value]
        else:
            texts[path_text(key, where)] = value
    if len(texts) < len(filters):
        raise UsageError(f"{where}: a path is there in both forms")
    return type(filters)(texts) if isinstance(filters, Operators) else texts


def revealed(schema: ModelSchema, reveal: Sequence[str]) -> tuple[str, ...]:
    """Return the names of excluded fields that a call may use, one name or several.

    Raises:
        UsageError: a name is not an excluded field.
    """
    names = (reveal,) if isinstance(reveal, str) else tuple(reveal)
    if unknown := [name for name in names if name not in schema.options.excludes]:
        raise UsageError(f"reveal: {unknown[0]!r} is not an excluded field of model {schema.name}")
    return names


def selects_all(wanted: Mapping[str, Any]) -> bool:
    """Tell whether a filter names nothing, so that every document matches, or none.

    One that names a field passes, whatever it asks of it.
    """
    return not wanted or all(
        key in JUNCTIONS and (any if key == "$or" else all)(map(selects_all, value)) for key, value in wanted.items()
    )


def _plain_id(value: object) -> ObjectId | None:
    """Return the stored form of a plain id; None for anything else."""
    if type(value) is ObjectId:
        return value
    return ObjectId(value) if type(value) is str and HEX_ID.fullmatch(value) else None


def convert_filter(find: Find, filters: Mapping[str, Any], where: str, path: str) -> dict[str, Any]:
    """Return the stored form of a filter inside the subset.

    ``find`` returns what its names lead to; ``path`` is the filter's place.

    Raises:
        UsageError, ValidationError: as for `stored_filter`.
    """
    converted: dict[str, Any] = {}
    errors: dict[str, list[str]] = {}
    inherit = _inheritor(filters)
    for key, value in filters.items():
        try:
            if key in JUNCTIONS:
                converted[key] = [convert_filter(find, inherit(part), where, path) for part in value]
            else:
                converted[key] = convert_condition(find(key), inherit(value), where, f"{path}.{key}")
        except ValidationError as error:
            errors.update(error.errors)
    if errors:
        raise ValidationError(errors)
    return converted


def convert_condition(found: Found, value: Any, where: str, path: str) -> Any:
    """Return the stored form of one name's condition: a value, or operators.

    Raises:
        UsageError, ValidationError: as for `stored_filter`.
    """
    if not has_operators(value):
        return stored_operand(_compared(found, where), value, path)
    if not isinstance(value, Operators) and takes_any_keys(found):
        raise ValidationError({path: [DISGUISED]})
    inherit = _inheritor(value)
    return {
        name: _convert_operand(found, name, inherit(operand) if name in _OUTER else operand, where, path)
        for name, operand in value.items()
    }


def _convert_operand(found: Found, name: str, operand: Any, where: str, path: str) -> Any:
    """Return the stored form of what stands behind one operator."""
    place = path.removeprefix(f"{where}.")
    if name == "$not":
        return convert_condition(found, operand, where, path)
    if name == "$elemMatch" and is_of_values(operand):
        return convert_condition(find_element(found, place, where), operand, where, path)
    if name == "$elemMatch":
        return convert_filter(find_in_elements(found, place, where), operand, where, path)
    if name == "$size":
        find_element(found, place, where)
    elif name in ("$in", "$nin", "$all"):
        field = _compared(found, where)
        return [stored_operand(field, one, f"{path}.{at}") for at, one in enumerate(operand)]
    elif name in ("$regex", "$options"):
        if not may_be_text(_compared(found, where)):
            raise UsageError(f"{where}: {shown(place)} is not a text")
    elif name != "$exists":
        return stored_operand(_compared(found, where), operand, path)
    return operand


def _refuse_disguised(find: Find, filters: object, path: str) -> None:
    """Refuse a client's object before its keys are reported as a mistake in the code.

    Raises:
        ValidationError: an object has ``$`` in its keys where a value may have any keys.
    """
    for key, value in filters.items() if isinstance(filters, Mapping) else ():
        if key in JUNCTIONS:
            for part in value if isinstance(value, (list, tuple)) else ():
                _refuse_disguised(find, part, path)
        elif has_operators(value) and not isinstance(value, Operators) and takes_any_keys(find(str(key))):
            raise ValidationError({f"{path}.{key}": [DISGUISED]})


def _inheritor(outer: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return the function that makes objects inside `Operators` into `Operators`."""
    if not isinstance(outer, Operators):
        return lambda value: value
    return lambda value: Operators(value) if isinstance(value, Mapping) else value


def has_operators(value: object) -> bool:
    """Tell whether a value is an object in which a key starts with ``$``."""
    return isinstance(value, Mapping) and any(str(key).startswith("$") for key in value)


def _compared(found: Found, where: str) -> Any:
    """Return the field to compare values with; whole copies have none."""
    if isinstance(found, Copies):
        name = found.link.name
        raise UsageError(f"{where}: {name} is a relation; write {name}._id, or another field of it")
    return found


def sort_check(schemas: Schemas, schema: ModelSchema, reveal: Collection[str] = ()) -> Callable[[Sequence[str]], None]:
    """Return the function that refuses names that documents cannot be sorted by.

    It raises `UsageError` for names that filters refuse, for a whole relation, and for two
    lists, because MongoDB sorts by at most one. It does not search for lists below objects.
    """

    def check(names: Sequence[str]) -> None:
        for name in names:
            _compared(find_in_model(schemas, schema, name, "sort", reveal), "sort")
        lists = [head for head in dict.fromkeys(map(_elements_of, names)) if is_list(schemas, schema, head)]
        if len(lists) > 1:
            raise UsageError(f"sort: {lists[0]} and {lists[1]} are lists; sort by at most one list")

    return check


def _elements_of(path: str) -> str:
    """Return the field of the elements a path reaches; None if it has a number."""
    head, _, below = path.partition(".")
    return "" if below.partition(".")[0].isdigit() else head


def distinct_path(schemas: Schemas, schema: ModelSchema, field: Path, reveal: Collection[str] = ()) -> str:
    """Return the path of a field as text; see `path_text`.

    Raises:
        UsageError: filters refuse the name, or it is a relation as a whole.
        ValidationError: a part of the path cannot be a key.
    """
    path = path_text(field, "distinct")
    if not isinstance(path, str):
        raise UsageError("distinct: expected the name of a field")
    _compared(find_in_model(schemas, schema, path, "distinct", reveal), "distinct")
    return path


def check_raw_sort(names: Sequence[str]) -> None:
    """Refuse the hidden field, the only name pipelines may not sort by.

    Raises:
        UsageError: the hidden field is among the names.
    """
    for name in names:
        if name.partition(".")[0] == HIDDEN:
            raise UsageError(f"sort: there is no field {shown(name)}")
