"""One policy, parsed and checked once."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import Schemas

#: A function of the context of a request; what it gives depends on what it is for.
ContextFn = Callable[[Any], Any]
ALL = "*"


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Policy:
    """What callers of some roles see and change of some models.

    Attributes:
        models: the names of models; None for all that have what ``needs`` names.
        roles: the names of roles, None for nobody signed in; None in place of them for everybody signed in.
        rows: gives the filter of what they see; None for everything.
        write: whether they write, or a function that gives the filter of what they may change.
        check: gives the filter of what a write may leave; None for that of ``write``, or of ``rows``.
        own: gives the ids of the documents that show what ``hide`` hides.
        admit: whether a policy for everybody admits callers whom no other one names.
    """

    models: tuple[str, ...] | None
    roles: tuple[str | None, ...] | None
    needs: tuple[str, ...] = ()
    rows: ContextFn | None = None
    write: bool | ContextFn = True
    check: ContextFn | None = None
    hide: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    own: ContextFn | None = None
    admit: bool = False

    @property
    def where(self) -> str:
        """The beginning of messages about this policy."""
        models = ALL if self.models is None else ", ".join(self.models)
        roles = ALL if self.roles is None else ", ".join(map(str, self.roles))
        return f"policy of {models} for {roles}"

    @property
    def may_undo(self) -> bool:
        """Whether a write may have to be undone because of what it has left."""
        restricts = self.check is not None or self.rows is not None or self.write is not True
        return restricts and self.write is not False

    def admits(self, role: str | None) -> bool:
        """Tell whether it opens its models to callers of a role."""
        return self.admit and role is not None if self.roles is None else role in self.roles

    def applies(self, role: str | None) -> bool:
        """Tell whether it restricts callers of a role."""
        return role is not None if self.roles is None else role in self.roles

    def covers(self, schemas: Schemas, model: str) -> bool:
        """Tell whether it is about a model."""
        return not self.lacks(schemas, model) if self.models is None else model in self.models

    def lacks(self, schemas: Schemas, model: str) -> list[str]:
        """Return what it needs and a model does not have."""
        return [name for name in self.needs if name not in names_of(schemas, model)]


def names_of(schemas: Schemas, model: str) -> Collection[str]:
    """Return the names of a model's fields, relations and reverse relations."""
    return {*schemas.get_schema(model).pure, *schemas.links(model)}


def parse_policy(known: Collection[str], models: Any, **given: Any) -> Policy:
    """Return a policy as it was declared; ``known`` are the roles that there are.

    Raises:
        DefinitionError: a part has the wrong form, or names an unknown role. Models and their fields are judged with
            all other definitions, as they may be defined later.
    """
    roles = given["roles"]
    policy = Policy(
        models=None if models == ALL else _names("models", (models,) if isinstance(models, str) else models),
        roles=None if roles == ALL else _roles(known, (None,) if roles is None else roles),
        needs=_names("needs", given["needs"], empty=True),
        rows=_function("rows", given["rows"]),
        write=given["write"] if isinstance(given["write"], bool) else _function("write", given["write"], needed=True),
        check=_function("check", given["check"]),
        hide=frozenset(_names("hide", given["hide"], empty=True)),
        fixed=frozenset(_names("fixed", given["fixed"], empty=True)),
        own=_function("own", given["own"]),
        admit=given["admit"],
    )
    if problem := next(_contradictions(policy), ""):
        raise DefinitionError(f"{policy.where}: {problem}")
    return policy


def _contradictions(policy: Policy) -> Iterator[str]:
    if not isinstance(policy.admit, bool):
        yield "admit must be true or false"
    if policy.admit and policy.roles is not None:
        yield "admit goes with roles='*': a policy that names roles admits them"
    if policy.own is not None and not policy.hide:
        yield "own goes with hide"
    if policy.check is not None and policy.write is False:
        yield "check goes with write: nothing is written"


def _names(key: str, given: Any, *, empty: bool = False) -> tuple[str, ...]:
    is_list = isinstance(given, (Sequence, set, frozenset)) and not isinstance(given, (str, bytes))
    if not is_list or not (given or empty) or not all(isinstance(name, str) and name for name in given):
        raise DefinitionError(f"policy: {key} must be a list of names")
    return tuple(given)


def _roles(known: Collection[str], given: Any) -> tuple[str | None, ...]:
    is_list = isinstance(given, (Sequence, set, frozenset)) and not isinstance(given, (str, bytes))
    if not is_list or not given:
        raise DefinitionError("policy: roles must be '*' or a list of names, with None for nobody signed in")
    for role in given:
        if role is not None and role not in known:
            listed = ", ".join(known) or "none: declare them, gateway(roles=[...])"
            raise DefinitionError(f"policy: unknown role {role!r} (known: {listed})")
    return tuple(given)


def _function(key: str, given: Any, *, needed: bool = False) -> Any:
    if callable(given) or (given is None and not needed):
        return given
    raise DefinitionError(f"policy: {key} must be a function of the context{' or true or false' if needed else ''}")


def find_problems(schemas: Schemas, policy: Policy) -> list[str]:
    """Return what is wrong with a policy beside the models that there are, in words."""
    models = schemas.get_schemas()
    unknown = [name for name in policy.models or () if name not in models]
    if unknown:
        return [f"{policy.where}: {', '.join(unknown)}: no such model"]
    covered = [name for name in models if policy.covers(schemas, name)]
    if models and not covered:
        return [f"{policy.where}: no model has {', '.join(policy.needs)}"]
    lacking: Mapping[str, list[str]] = {name: policy.lacks(schemas, name) for name in covered}
    found = [f"{policy.where}: model {name!r} has no {', '.join(names)}" for name, names in lacking.items() if names]
    for name in sorted(policy.hide | policy.fixed):
        without = [model for model in covered if name not in names_of(schemas, model)]
        if without and (policy.models is not None or len(without) == len(covered)):
            found.append(f"{policy.where}: no field {name!r} in {', '.join(without)}")
    return found
