"""The select struct: what ``get`` may name of a model, resolved on first use.

Source: specification 8.2; levels and restrictions are our choice.
"""

from __future__ import annotations

import copy
import marshal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from marshmallow import ValidationError
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.errors import DefinitionError, NotFound
from gatewayfw.schemas.kinds.base import Description, KindField
from gatewayfw.schemas.kinds.quick import Test
from gatewayfw.schemas.models import Link, ModelSchema, copied_model
from gatewayfw.schemas.relations import REV
from gatewayfw.settings import Settings

#: How many valid `get` each struct remembers, and the most bytes of one.
_KEPT, _KEPT_BYTES = 64, 1_024
#: A restriction as `freeze` returns it: a number of levels, or (name, restriction) pairs.
Spec = int | tuple[tuple[str, "Spec"], ...]


@dataclass(frozen=True)
class Ceilings:
    """The `Bounds` of one act.

    Attributes:
        max_get_depth: the deepest nesting.
        max_get_leaves: the most names and list items that contain no others.
    """

    max_get_depth: int
    max_get_leaves: int


#: The bounds of a `get`.
Bounds = Settings | Ceilings


def bounds_problem(get: Mapping[Any, Any], bounds: Bounds) -> str | None:
    """Return why a `get` is too deep or too wide, or None."""
    most_levels, most_leaves = bounds.max_get_depth, bounds.max_get_leaves
    total = 0
    for depth, leaves in _nodes(get):
        if depth > most_levels:
            return messages.TOO_DEEP.format(max=most_levels)
        total += leaves
        if total > most_leaves:
            return messages.TOO_MANY_FIELDS.format(max=most_leaves)
    return None


def count_leaves(get: Mapping[Any, Any]) -> int:
    """Return the number of leaves of a `get`."""
    return sum(leaves for _, leaves in _nodes(get))


def _nodes(get: Mapping[Any, Any]) -> Iterator[tuple[int, int]]:
    waiting: list[tuple[Any, int]] = [(get, 1)]
    while waiting:
        current, depth = waiting.pop()
        items = current if isinstance(current, list) else current.values()
        # Nearly all are 1 or 0; asking whether something is a Mapping takes ten times as long.
        inner = [item for item in items if type(item) is not int and item and isinstance(item, (list, Mapping))]
        yield depth, len(current) - len(inner)
        waiting.extend((item, depth + 1) for item in inner)


@dataclass(frozen=True)
class Selectable:
    """A relation or reverse relation that may be selected, and how much of it."""

    model: str
    excludes: frozenset[str]
    spec: Spec


@dataclass(frozen=True)
class Level:
    """What may be selected of one model: pure fields, and links by name.

    ``whole``: all pure fields that are not excluded.
    """

    pure: frozenset[str]
    whole: bool
    links: Mapping[str, Selectable]


class Models(Protocol):
    """What levels need of a gateway's models, as `gatewayfw.schemas.Schemas` has it."""

    settings: Settings
    version: int

    def get_schema(self, name: str) -> ModelSchema:
        """Return one model; NotFound if there is none."""

    def links(self, name: str) -> Mapping[str, Link]:
        """Return a model's links by name; NotFound if there is no such model."""

    def level(self, model: str, spec: Spec) -> Level:
        """Return the result of `level`, cached until a model is added."""


def freeze(spec: object, model: str, deepest: int) -> Spec:
    """Return a restriction in a form that nobody can change.

    Raises:
        DefinitionError: it is neither a number of levels in 0..``deepest`` nor a mapping of these.
    """
    if isinstance(spec, int) and not isinstance(spec, bool) and 0 <= spec <= deepest:
        return spec
    if isinstance(spec, Mapping) and deepest > 0 and all(isinstance(name, str) for name in spec):
        return tuple((name, freeze(inner, model, deepest - 1)) for name, inner in spec.items())
    raise DefinitionError(f"select struct of {model!r}: expected a number of levels up to the limit, or names to these")


def level(schemas: Models, model: str, spec: Spec) -> Level:
    """Return what ``spec`` allows of one model, without what is below its links.

    Raises:
        DefinitionError: the model, or a name in ``spec``, is unknown; or a pure field has a
            value other than 1 or 0.
    """
    for problem in level_problems(schemas, model, spec):
        raise DefinitionError(problem)
    schema, links = schemas.get_schema(model), _links(schemas, model)
    pure, named = schema.pure, {} if isinstance(spec, int) else dict(spec)
    kept = {name for name in pure if named.get(name) == 1} or {name for name in pure if name not in named}
    if isinstance(spec, int):
        named = dict.fromkeys(links, spec)
    below = {name: value - 1 if isinstance(value, int) else value for name, value in named.items() if value != 0}
    allowed = {name: replace(links[name], spec=value) for name, value in below.items() if name in links}
    return Level(frozenset(kept), kept.issuperset(schema.copy_fields()), allowed)


def level_problems(schemas: Models, model: str, spec: Spec) -> Iterator[str]:
    """Yield a message for each wrong name in ``spec``, at any depth."""
    where = f"select struct of {model!r}"
    try:
        pure, links = schemas.get_schema(model).pure, _links(schemas, model)
    except NotFound:
        yield f"{where}: there is no such model"
        return
    for name, value in () if isinstance(spec, int) else spec:
        if name not in pure and name not in links and name != "_id":
            yield f"{where}: {name!r} is not a field or relation of it"
        elif name not in links and value not in (0, 1):
            yield f"{where}: the field {name!r} takes 1 or 0"
        elif name in links and not isinstance(value, int):
            yield from level_problems(schemas, links[name].model, value)


def full_projection(schemas: Models, model: str, spec: Spec) -> dict[str, Any]:
    """Return the ``get`` that names all ``spec`` allows, except excluded fields.

    Raises:
        DefinitionError: ``spec`` is wrong, or allows more fields than ``max_get_leaves``.
    """
    left = schemas.settings.max_get_leaves

    def projected(model: str, spec: Spec, hidden: Mapping[str, frozenset[str]]) -> dict[str, Any]:
        nonlocal left
        allowed = schemas.level(model, spec)
        visible = schemas.get_schema(model).copy_fields(hidden.get(model, frozenset()))
        names = ["_id", *(name for name in visible if name in allowed.pure)]
        left -= len(names)
        if left < 0:
            limit = schemas.settings.max_get_leaves
            raise DefinitionError(f"projection of {model!r}: more than {limit} fields (setting max_get_leaves)")
        below = {
            # What a link excludes is hidden everywhere below it, too.
            name: projected(
                link.model, link.spec, {**hidden, link.model: link.excludes | hidden.get(link.model, set())}
            )
            for name, link in allowed.links.items()
        }
        return {**dict.fromkeys(names, 1), **below}

    return projected(model, spec, {})


def is_flag(value: object) -> bool:
    """Tell whether a value of a `get` is exactly the number 1 or 0."""
    return type(value) is int and value in (0, 1)


def selection(schemas: Models, model: str, spec: Spec) -> dict[str, Any]:
    """Return what a select struct lets clients name of one model.

    ``{"model", "depth"}`` stands for its fields, and its links as many levels down. Where the author
    named what clients may ask for, it is ``{"model", "fields": [names], "whole", "links": {name: selection}}``:
    a link takes 1 only where ``whole`` is true below it.
    """
    if isinstance(spec, int):
        return {"model": model, "depth": spec}
    found = schemas.level(model, spec)
    visible = schemas.get_schema(model).copy_fields()
    return {
        "model": model,
        "fields": ["_id", *(name for name in visible if name in found.pure)],
        "whole": found.whole,
        "links": {name: selection(schemas, link.model, link.spec) for name, link in found.links.items()},
    }


class SelectStruct(KindField, mm.Raw, own=True):
    """The field for ``get``: names of one model with 1, 0 or, for links, an object.

    Nothing is coerced, so both modes are the same. Excluded fields may be named; reading drops
    them.
    """

    kind = "select_struct"
    default_error_messages = {"invalid": messages.NO_OBJECT}

    def __init__(self, schemas: Models, model: str, spec: Spec) -> None:
        super().__init__(required=True, metadata={"model": model, "spec": spec})
        self.schemas = schemas
        self.model = model
        self.spec = spec
        self.bounds: Bounds = schemas.settings
        #: The bytes of valid ones that came, and the version of the models that they were valid with.
        self._known: tuple[int, set[bytes]] = (-1, set())

    def problems(self) -> Iterator[str]:
        """Yield a message for each wrong name in the restriction, at any depth."""
        return level_problems(self.schemas, self.model, self.spec)

    def within(self, bounds: Bounds) -> SelectStruct:
        """Return a copy that takes a `get` as deep and wide as ``bounds`` says."""
        changed = copy.copy(self)
        changed.bounds, changed._known = bounds, (-1, set())
        return changed

    def takes(self, value: Any) -> bool:
        """Tell whether a `get` is valid; one that came before is not looked at again."""
        try:
            # Exact types only, all told apart; version 0 gives equal values equal bytes.
            key = marshal.dumps(value, 0)
            version, known = self._known
            if version != self.schemas.version:
                version, known = self._known = (self.schemas.version, set())
            if key in known:
                return True
            self._deserialize(value, None, None)
        except (DefinitionError, ValidationError, ValueError):  # the last: something else than JSON
            return False
        if len(key) <= _KEPT_BYTES:
            if len(known) >= _KEPT:
                known.clear()
            known.add(key)
        return True

    def _test(self) -> Test | None:
        return self.takes

    def _store_operand(self, value: Any) -> Any:
        return value

    def description(self) -> Description:
        return {"kind": "selection", **selection(self.schemas, self.model, self.spec)}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        top = self.schemas.level(self.model, self.spec)
        if not isinstance(value, Mapping):
            raise self.make_error("invalid")
        if problem := bounds_problem(value, self.bounds):
            raise ValidationError(problem)
        errors = self._errors(value, top, revision=True)
        if errors:
            raise ValidationError(errors)
        return value

    def _errors(self, value: Mapping[Any, Any], allowed: Level, revision: bool = False) -> dict[Any, Any]:
        errors: dict[Any, Any] = {}
        for key, item in value.items():
            if key == "_id" or key in allowed.pure or (key == REV and revision):
                if not is_flag(item):
                    errors[key] = [messages.NO_FLAG]
            elif key in allowed.links:
                found = self._link_errors(item, allowed.links[key])
                if found:
                    errors[key] = found
            else:
                errors[key] = [messages.NO_REVISION_OF_COPY if key == REV else messages.UNKNOWN]
        return errors

    def _link_errors(self, item: Any, link: Selectable) -> Any:
        if isinstance(item, Mapping):
            return self._errors(item, self.schemas.level(link.model, link.spec))
        if not is_flag(item):
            return [messages.NO_LINK_VALUE]
        if item == 1 and not self.schemas.level(link.model, link.spec).whole:
            return [messages.NOT_WHOLE]
        return None


def _links(schemas: Models, model: str) -> dict[str, Selectable]:
    return {name: Selectable(copied_model(link), link.excludes, 0) for name, link in schemas.links(model).items()}
