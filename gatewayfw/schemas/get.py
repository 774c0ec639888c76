"""The select struct: what ``get`` may name of a model, resolved on first use.

Source: specification 8.2; levels and restrictions are our choice.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from marshmallow import ValidationError
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.errors import DefinitionError, NotFound
from gatewayfw.schemas.bounds import Bounds, bounds_problem
from gatewayfw.schemas.kinds.base import Description, KindField
from gatewayfw.schemas.kinds.quick import Test
from gatewayfw.schemas.models import Link, ModelSchema
from gatewayfw.schemas.relations import REV, Relation
from gatewayfw.settings import Settings

#: A restriction as `freeze` returns it: a number of levels, or (name, restriction) pairs.
Spec = int | tuple[tuple[str, "Spec"], ...]


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
    #: The names that take 1 and 0: `_id`, ``pure``, and links whose fields may all be selected.
    flags: frozenset[str]
    #: What is allowed below the links, by name; filled on first use.
    below: dict[str, Level] = field(default_factory=dict, init=False, repr=False, compare=False)


class Models(Protocol):
    """What levels need of a gateway's models.

    `gatewayfw.schemas.registry.Schemas` implements it.
    """

    settings: Settings

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
    return Level(frozenset(kept), kept.issuperset(schema.copy_fields()), allowed, _flags(schemas, kept, allowed))


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


class _InDoubt(Exception):
    """Raised to stop the quick check of a `get` that needs the full one."""


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
    default_error_messages = {
        "invalid": messages.NO_OBJECT,
        "unknown": messages.UNKNOWN,
        "field": messages.NO_FLAG,
        "link": messages.NO_LINK_VALUE,
        "revision": messages.NO_REVISION_OF_COPY,
        "restricted": messages.NOT_WHOLE,
    }

    def __init__(self, schemas: Models, model: str, spec: Spec) -> None:
        super().__init__(required=True, metadata={"model": model, "spec": spec})
        self.schemas = schemas
        self.model = model
        self.spec = spec
        self.bounds: Bounds = schemas.settings

    def problems(self) -> Iterator[str]:
        """Yield a message for each wrong name in the restriction, at any depth."""
        return level_problems(self.schemas, self.model, self.spec)

    def within(self, bounds: Bounds) -> SelectStruct:
        """Return a copy that takes a `get` as deep and wide as ``bounds`` says."""
        changed = copy.copy(self)
        changed.bounds = bounds
        return changed

    def takes(self, value: Any) -> bool:
        """Tell whether a `get` is certainly valid; loading decides about any other."""
        if type(value) is not dict:
            return False
        try:
            top = self.schemas.level(self.model, self.spec)
            # Not in the flags of a level, because these hold below links, too.
            if revision := REV in value:
                value = _without_revision(value)
            leaves = revision + self._count_leaves(value, top, self.bounds.max_get_depth)
        except (DefinitionError, _InDoubt):
            return False
        return leaves <= self.bounds.max_get_leaves

    def _count_leaves(self, get: dict[Any, Any], allowed: Level, levels: int) -> int:
        """Return the number of leaves, with ``levels`` left to descend.

        Leaves count as in `bounds_problem`.
        """
        flags = allowed.flags
        leaves = len(get)
        if levels < 1:
            raise _InDoubt
        for key, item in get.items():
            if key in flags and type(item) is int and item in (1, 0):
                continue
            if type(item) is not dict or key not in allowed.links or key in allowed.pure:
                raise _InDoubt
            inner = allowed.below.get(key)
            if inner is None:
                link = allowed.links[key]
                inner = allowed.below[key] = self.schemas.level(link.model, link.spec)
            if item:
                leaves += self._count_leaves(item, inner, levels - 1) - 1
        return leaves

    def _test(self) -> Test | None:
        return self.takes

    def _store_operand(self, value: Any) -> Any:
        return value

    def description(self) -> Description:
        return {"kind": "selection", **selection(self.schemas, self.model, self.spec)}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if self.takes(value):
            return value
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
                    errors[key] = [self.error_messages["field"]]
            elif key in allowed.links:
                found = self._link_errors(item, allowed.links[key])
                if found:
                    errors[key] = found
            else:
                errors[key] = [self.error_messages["revision" if key == REV else "unknown"]]
        return errors

    def _link_errors(self, item: Any, link: Selectable) -> Any:
        if isinstance(item, Mapping):
            return self._errors(item, self.schemas.level(link.model, link.spec))
        if not is_flag(item):
            return [self.error_messages["link"]]
        if item == 1 and not self.schemas.level(link.model, link.spec).whole:
            return [self.error_messages["restricted"]]
        return None


def _without_revision(get: dict[Any, Any]) -> dict[Any, Any]:
    """Return a `get` without its revision, of which there is only one form."""
    if not is_flag(get[REV]):
        raise _InDoubt
    return {name: value for name, value in get.items() if name != REV}


def _flags(schemas: Models, pure: Iterable[str], links: Mapping[str, Selectable]) -> frozenset[str]:
    return frozenset({"_id", *pure, *(name for name, link in links.items() if _is_whole(schemas, link))})


def _is_whole(schemas: Models, link: Selectable) -> bool:
    try:
        return schemas.level(link.model, 0 if isinstance(link.spec, int) else link.spec).whole
    except DefinitionError:
        return False


def _links(schemas: Models, model: str) -> dict[str, Selectable]:
    return {
        name: Selectable(link.schema_name if isinstance(link, Relation) else link.member, link.excludes, 0)
        for name, link in schemas.links(model).items()
    }
