"""Pure functions that check filters and sorts, and return their stored form.

Names are checked against the model, values against the type of their field; ids and dates are
converted to their stored form, and nothing outside the adapters' subset passes.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from marshmallow.fields import Field

from gatewayfw import messages
from gatewayfw.errors import UsageError, ValidationError
from gatewayfw.odm.hidden import HIDDEN
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
    with_text_paths,
)
from gatewayfw.odm.reading.viewer import Viewer, revealable
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.fields import any_
from gatewayfw.schemas.kinds import Doubtful, as_kind
from gatewayfw.schemas.paths import shown
from gatewayfw.schemas.values import has_sendable_keys, id_of
from gatewayfw.storage.filter_operators import JUNCTIONS, NESTING, has_operators
from gatewayfw.storage.order import is_place
from gatewayfw.storage.subset import DEPTH, Rules

_ANY: Field[Any] = any_()


@final
class Operators(dict[str, Any]):
    """Operators that the server's code applies to values of any content or keys.

    ``{"$pull": {"marks": Operators({"$gt": 3})}}``, ``{"notes": Operators({"$exists": True})}``.

    Fields of a described kind do not need this class. In others a plain object always counts as a value, because it may
    come from a client, and one with ``$`` in its keys is refused: otherwise ``{"$ne": None}`` in place of a value would
    select or pull them all. Our choice.
    """


def stored_filter(
    schemas: Schemas,
    schema: ModelSchema,
    filters: Mapping[str, Any] | None,
    where: str,
    reveal: Collection[str] = (),
    viewer: Viewer | None = None,
) -> dict[str, Any]:
    """Return a filter in its stored form, with ids and dates converted by field.

    None means all documents. ``where`` is the caller's name for the filter; ``reveal`` names excluded
    and hidden fields that it may use; ``viewer`` is the caller, if policies restrict one.

    Raises:
        Hidden: it names what is hidden from the caller.
        UsageError: an operator outside the subset, a name the model does not have, a hidden or
            excluded one, or a relation that is compared as a whole.
        ValidationError: values that cannot be their fields', by path (``filter.year``).
    """
    if filters is None:
        return {}
    if type(filters) is dict and len(filters) == 1 and (id_ := id_of(filters.get("_id"))) is not None:
        return {"_id": id_}

    def find(path: str) -> Found:
        return find_in_model(schemas, schema, path, where, reveal, viewer)

    return Parser(Rules(where)).filter(find, filters, where)


@dataclass(frozen=True)
class Parser:
    """Checks filters and converts them to their stored form, in one walk."""

    rules: Rules

    def filter(self, find: Find, given: Any, path: str, depth: int = DEPTH, *, of_code: bool = False) -> dict[str, Any]:
        """Return a filter in its stored form.

        ``find`` returns what its names lead to, ``path`` is its place, and ``of_code`` says that it is in `Operators`.

        Raises:
            UsageError, ValidationError: as for `stored_filter`.
        """
        of_code = of_code or isinstance(given, Operators)
        stored: dict[str, Any] = {}
        errors: dict[str, list[str]] = {}
        for key, value in self.rules.conditions(with_text_paths(given, self.rules.where), depth):
            try:
                if key in JUNCTIONS:
                    stored[key] = [self.filter(find, part, path, depth - 1, of_code=of_code) for part in value]
                else:
                    stored[key] = self.condition(find(key), value, f"{path}.{key}", depth - 1, of_code=of_code)
            except ValidationError as error:
                errors.update(error.errors)
        if errors:
            raise ValidationError(errors)
        return stored

    def condition(self, found: Found, given: Any, path: str, depth: int = DEPTH, *, of_code: bool = False) -> Any:
        """Return a condition on what ``found`` is, as `filter` does."""
        of_code = of_code or isinstance(given, Operators)
        if has_operators(given) and not of_code and takes_any_keys(found):
            raise ValidationError({path: [messages.DISGUISED]})
        place = path.removeprefix(f"{self.rules.where}.")
        stored: dict[str, Any] = {}
        for name, operand in self.rules.operators(place, given):
            if name not in NESTING:
                stored[name] = self._operand(found, name, operand, path)
            elif not self.rules.is_condition(name, operand, depth):
                find = find_in_elements(found, place, self.rules.where)
                stored[name] = self.filter(find, operand, path, depth, of_code=of_code)
            else:
                inner = found if name == "$not" else find_element(found, place, self.rules.where)
                stored[name] = self.condition(inner, operand, path, depth - 1, of_code=of_code)
        return stored or self._value(found, given, path)

    def _operand(self, found: Found, name: str, operand: Any, path: str) -> Any:
        """Return the stored form of the operand of an operator that holds no condition."""
        if name in ("$in", "$nin", "$all"):
            return [self._value(found, one, f"{path}.{at}") for at, one in enumerate(operand)]
        place, where = path.removeprefix(f"{self.rules.where}."), self.rules.where
        if name == "$size":
            find_element(found, place, where)
        elif name in ("$regex", "$options"):
            if not may_be_text(_compared(found, where)):
                raise UsageError(f"{where}: {shown(place)} is not a text")
        elif name not in ("$exists", "$type"):
            return self._value(found, operand, path)
        return operand

    def _value(self, found: Found, value: Any, path: str) -> Any:
        """Return the stored form of a value to compare with.

        Only its type is checked: a filter may ask for a number beyond a field's range, or a text longer than its size.
        Every field may be compared with None. A list is compared with a whole list, or with one element if elements
        are lists; anything else with each element. A value that a user's marshmallow field refuses is compared as it
        is. All our choice.
        """
        field = _compared(found, self.rules.where)
        try:
            stored = as_kind(_ANY if field is None else field).operand(value, path)
        except Doubtful:
            stored = value
        if not has_sendable_keys(stored):
            raise ValidationError({path: [messages.NO_KEY]})
        return stored


def revealed(schemas: Schemas, schema: ModelSchema, reveal: Sequence[str]) -> tuple[str, ...]:
    """Return what a call may use though it is excluded, or hidden from somebody.

    Raises:
        UsageError: a name is neither.
    """
    names = (reveal,) if isinstance(reveal, str) else tuple(reveal)
    unknown = [name for name in names if name not in schema.options.excludes]
    if unknown and schemas.policies:
        hidden = schemas.remembered(revealable, schema.name)
        unknown = [name for name in unknown if name not in hidden]
    if unknown:
        raise UsageError(f"reveal: {unknown[0]!r} is not an excluded field of model {schema.name}")
    return names


def selects_all(wanted: Mapping[str, Any]) -> bool:
    """Tell whether a filter names nothing, so that every document matches, or none.

    One that names a field passes, whatever it asks of it.
    """
    return not wanted or all(
        key in JUNCTIONS and (any if key == "$or" else all)(map(selects_all, value)) for key, value in wanted.items()
    )


def _compared(found: Found, where: str) -> Any:
    """Return the field to compare values with; refuse a whole copy."""
    if isinstance(found, Copies):
        name = found.link.name
        raise UsageError(f"{where}: {name} is a relation; write {name}._id, or another field of it")
    return found


def sort_check(
    schemas: Schemas, schema: ModelSchema, reveal: Collection[str] = (), viewer: Viewer | None = None
) -> Callable[[Sequence[str]], None]:
    """Return the function that refuses names that documents cannot be sorted by.

    These are names that filters refuse, whole relations, and two lists, because MongoDB sorts by at most one. It does
    not search for lists below objects.
    """

    def check(names: Sequence[str]) -> None:
        for name in names:
            _compared(find_in_model(schemas, schema, name, "sort", reveal, viewer), "sort")
        lists = [head for head in dict.fromkeys(map(_elements_of, names)) if is_list(schemas, schema, head)]
        if len(lists) > 1:
            raise UsageError(f"sort: {lists[0]} and {lists[1]} are lists; sort by at most one list")

    return check


def _elements_of(path: str) -> str:
    """Return the field of the elements a path reaches; None if it has a number."""
    head, _, below = path.partition(".")
    return "" if is_place(below.partition(".")[0]) else head


def distinct_path(
    schemas: Schemas, schema: ModelSchema, field: Path, reveal: Collection[str] = (), viewer: Viewer | None = None
) -> str:
    """Return the path of a field as text, as `path_text`; refuse what filters do.

    Raises:
        Hidden: it leads to what is hidden from the caller, or through copies that are shown only in part.
    """
    path = path_text(field, "distinct")
    if not isinstance(path, str):
        raise UsageError("distinct: expected the name of a field")
    _compared(find_in_model(schemas, schema, path, "distinct", reveal, viewer), "distinct")
    if viewer is not None:
        viewer.refuse_reach(schema.name, [path], "distinct", reveal)
    return path


def check_raw_sort(names: Sequence[str]) -> None:
    """Refuse the hidden field, the only name that pipelines may not sort by."""
    for name in names:
        if name.partition(".")[0] == HIDDEN:
            raise UsageError(f"sort: there is no field {shown(name)}")


def choose_filter(given: Mapping[Any, Any], other: Mapping[Any, Any] | None) -> Mapping[Any, Any]:
    """Return the filter, which may be given in one of two places."""
    if other is not None:
        raise TypeError("the filter is given twice: filter and filters mean the same")
    return given
