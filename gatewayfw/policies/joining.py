"""What all policies of a model mean together for one role, and for a `get`. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

from gatewayfw import messages
from gatewayfw.errors import DefinitionError, Hidden
from gatewayfw.policies.declaration import ContextFn, Policy, find_problems
from gatewayfw.schemas import Schemas
from gatewayfw.schemas.get import SelectStruct
from gatewayfw.schemas.models import copied_model


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Joined:
    """What a role may do with the documents of one model.

    Attributes:
        is_closed: whether it sees and writes nothing at all.
        rows: functions that each give a filter; only documents that match all of them are there.
        hides: the hidden names, each with functions that give ids: a document that all of them list shows the name.
            Without a function no document does.
        fixed: names that may be seen and not written; hidden ones may not be written either.
        writes: whether anything may be written.
        changes: functions that each give a filter of what may be changed.
        checks: functions that each give a filter of what a write may leave.
    """

    is_closed: bool = False
    rows: tuple[ContextFn, ...] = ()
    hides: Mapping[str, tuple[ContextFn, ...]] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    writes: bool = True
    changes: tuple[ContextFn, ...] = ()
    checks: tuple[ContextFn, ...] = ()

    @cached_property
    def has_rows(self) -> bool:
        """Whether some documents are not there for this role."""
        return self.is_closed or bool(self.rows)


CLOSED = Joined(is_closed=True, writes=False)


def joined(schemas: Schemas, model: str, role: str | None) -> Joined | None:
    """Return what all policies of a model say for a role.

    None if they restrict nothing. A model with a policy is closed to a role that none of them admits; with the setting
    ``require_policy`` any model. It is computed once for each state of the definitions.

    Raises:
        DefinitionError: a policy of the model is wrong.
    """
    return schemas.remembered(join, model, role)


def join(schemas: Schemas, model: str, role: str | None) -> Joined | None:
    """Return what `joined` gives."""
    if problems := [one for policy in schemas.policies for one in find_problems(schemas, policy)]:
        raise DefinitionError("; ".join(problems))
    policies = policies_of(schemas, model)
    if not policies and not schemas.settings.require_policy:
        return None
    if not any(policy.admits(role) for policy in policies):
        return CLOSED
    return _together(schemas, model, [policy for policy in policies if policy.applies(role)])


def policies_of(schemas: Schemas, model: str) -> list[Policy]:
    """Return the policies about a model."""
    return [policy for policy in schemas.policies if policy.covers(schemas, model)]


def hidden_for_somebody(schemas: Schemas, model: str) -> frozenset[str]:
    """Return the names that a policy of a model hides from some role."""
    return frozenset(name for policy in policies_of(schemas, model) for name in policy.hide)


def _together(schemas: Schemas, model: str, policies: Sequence[Policy]) -> Joined | None:
    hides: dict[str, tuple[ContextFn, ...]] = {}
    for name in {name for policy in policies for name in policy.hide}:
        owns = [policy.own for policy in policies if name in policy.hide]
        hides[name] = () if None in owns else tuple(own for own in owns if own is not None)
    checks = (one.check or (one.rows if isinstance(one.write, bool) else one.write) for one in policies)
    found = Joined(
        rows=tuple(policy.rows for policy in policies if policy.rows is not None),
        hides=hides,
        fixed=frozenset(name for policy in policies for name in policy.fixed),
        writes=all(policy.write is not False for policy in policies),
        changes=tuple(policy.write for policy in policies if not isinstance(policy.write, bool)),
        checks=tuple(check for check in checks if check is not None),
    )
    parts = (found.rows, hides, found.fixed, found.changes, found.checks)
    return found if any(parts) or not found.writes else None


def refuse_hidden(
    schemas: Schemas, role: str | None, selects: tuple[tuple[str, SelectStruct], ...], details: Mapping[str, Any]
) -> None:
    """Refuse details that select, at any depth, what is hidden from a role.

    ``selects`` are their select structs, by path. A name that some documents show, because they are the caller's own,
    may be asked for.

    Raises:
        Hidden: says which name.
    """
    hidden = schemas.remembered(_hidden_from, role)
    for path, select in selects:
        if path != "get" or _names(details["get"], hidden):
            _walk(schemas, role, select.model, details, path.split("."), path)


def _hidden_from(schemas: Schemas, role: str | None) -> frozenset[str]:
    """Return the names that are hidden from a role in all documents of some model."""
    rights = [joined(schemas, model, role) for model in schemas.get_schemas()]
    return frozenset(name for one in rights if one is not None for name, owns in one.hides.items() if not owns)


def _names(get: Mapping[str, Any], hidden: frozenset[str]) -> bool:
    """Tell whether a `get` has one of some names at any depth."""
    if not hidden.isdisjoint(get):
        return True
    inner = [one for one in get.values() if type(one) is not int and (type(one) is dict or isinstance(one, Mapping))]
    return any(_names(one, hidden) for one in inner) if inner else False


def _walk(schemas: Schemas, role: str | None, model: str, value: Any, names: list[str], path: str) -> None:
    """Judge what stands at ``names`` below a value, also in lists."""
    if isinstance(value, list):
        for one in value:
            _walk(schemas, role, model, one, names, path)
    elif isinstance(value, Mapping) and names:
        _walk(schemas, role, model, value.get(names[0]), names[1:], path)
    elif isinstance(value, Mapping):
        _judge(schemas, role, model, value, path)


def _judge(schemas: Schemas, role: str | None, model: str, get: Mapping[str, Any], path: str) -> None:
    rights, links = joined(schemas, model, role), schemas.links(model)
    hides = {} if rights is None else rights.hides
    for name, value in get.items():
        place = f"{path}.{name}"
        if hides.get(name) == ():
            raise Hidden(messages.HIDDEN.format(path=place))
        if name in links and isinstance(value, Mapping):
            _judge(schemas, role, copied_model(links[name]), value, place)
