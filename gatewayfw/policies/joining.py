"""What all policies of a model mean together for one role, and for a `get`. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

from gatewayfw import messages
from gatewayfw.errors import DefinitionError, Hidden
from gatewayfw.policies.declaration import ContextFn, Policy, find_problems
from gatewayfw.schemas import Schemas
from gatewayfw.schemas.get import SelectStruct, Spec


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

    def shows_all(self, *, shared: bool) -> bool:
        """Tell whether all copies of the documents are shown.

        A closed model shows no shared ones either: what is hidden from other roles would be in them.
        """
        return not self.has_rows or (shared and not self.is_closed)


CLOSED = Joined(is_closed=True, writes=False)
OPEN = Joined()


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


def may_lack(schemas: Schemas, holder: str, source: str, *, shared: bool) -> bool:
    """Tell whether somebody sees documents of a model without copies in them."""
    roles = {"", None, *(role for policy in schemas.policies for role in policy.roles or ())}
    pairs = ([joined(schemas, model, role) or OPEN for model in (holder, source)] for role in roles)
    return any(not one.is_closed and not other.shows_all(shared=shared) for one, other in pairs)


def _together(schemas: Schemas, model: str, policies: Sequence[Policy]) -> Joined | None:
    hides: dict[str, tuple[ContextFn, ...]] = {}
    for name in sorted({name for policy in policies for name in policy.hide}):
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


#: What a `get` is searched for: hidden names, each with None, and the links below which there are others.
_Search = tuple[tuple[str, Any], ...]


@final
class Hiding(dict[tuple[str, Spec], _Search]):
    """What no document shows to a role, by the model and spec of a select struct.

    Each search is made when it is first asked for. It is empty where nothing that may be selected is hidden.
    """

    def __init__(self, schemas: Schemas, role: str | None) -> None:
        super().__init__()
        self._schemas, self._role = schemas, role

    def __missing__(self, selected: tuple[str, Spec]) -> _Search:
        model, spec = selected
        hides = (joined(self._schemas, model, self._role) or OPEN).hides
        own = ((name, None) for name, owns in hides.items() if not owns)
        links = self._schemas.level(model, spec).links.items()
        below = ((name, search) for name, link in links if (search := self[link.model, link.spec]))
        self[selected] = found = (*own, *below)
        return found


def refuse_hidden(hidden: Hiding, selects: tuple[tuple[str, SelectStruct], ...], details: Mapping[str, Any]) -> None:
    """Refuse details that select, at any depth, what is hidden.

    ``selects`` are their select structs, by path. A name that some documents show, because they are the caller's own,
    may be asked for.

    Raises:
        Hidden: says which name.
    """
    for path, select in selects:
        search = hidden[select.model, select.spec]
        if not search:
            continue
        found = _find_in(search, details["get"]) if path == "get" else _find_at(search, details, path.split("."))
        if found:
            raise Hidden(messages.HIDDEN.format(path=f"{path}.{found}"))


def _find_at(search: _Search, value: Any, names: list[str]) -> str:
    """Return what `_find_in` finds at ``names``, also in lists and mappings."""
    if names[:1] == ["*"] and isinstance(value, Mapping):
        value, names = list(value.values()), names[1:]
    if isinstance(value, list):
        return next(filter(None, (_find_at(search, one, names) for one in value)), "")
    if not isinstance(value, Mapping):
        return ""
    return _find_at(search, value.get(names[0]), names[1:]) if names else _find_in(search, value)


def _find_in(search: _Search, get: Mapping[str, Any]) -> str:
    """Return the path of a hidden name in a `get`; empty if there is none."""
    for name, below in search:
        if name not in get:
            continue
        if below is None:
            return name
        inner = get[name]
        is_object = type(inner) is dict or (type(inner) is not int and isinstance(inner, Mapping))
        if is_object and (found := _find_in(below, inner)):
            return f"{name}.{found}"
    return ""
