"""``doctor``: what policies leave open, and what they cost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from gatewayfw.odm.upkeep.indexes import wanted_indexes
from gatewayfw.policies.declaration import ContextFn, Policy, names_of
from gatewayfw.policies.joining import hidden_for_somebody, policies_of
from gatewayfw.schemas import Schemas
from gatewayfw.storage.filter_operators import paths_in


def policy_warnings(schemas: Schemas, roles: Collection[str]) -> Iterator[str]:
    """Yield what policies seem to have left open.

    Roles that no policy names, models open beside closed ones, and lists that tell of what is hidden.
    """
    policies: tuple[Policy, ...] = schemas.policies
    if not policies:
        return
    named = {role for policy in policies for role in policy.roles or ()}
    if unnamed := [role for role in roles if role not in named]:
        yield f"no policy names the roles {', '.join(unnamed)}: what has a policy is closed to them"
    yield from _telling_lists(schemas)
    if schemas.settings.require_policy:
        return
    if opened := [name for name in schemas.get_schemas() if not policies_of(schemas, name)]:
        yield f"models without a policy are open to all callers: {', '.join(opened)} (require_policy closes them)"


def _telling_lists(schemas: Schemas) -> Iterator[str]:
    for target in schemas.get_schemas():
        for reverse in schemas.get_related_relations(target).values():
            if reverse.sort is not None and reverse.sort.field in hidden_for_somebody(schemas, reverse.member):
                yield (
                    f"{target}.{reverse.name}: which {reverse.member} are in the list tells of {reverse.sort.field}, "
                    "which a policy hides; sort it by another field, or hide it, too"
                )


def policy_problems(schemas: Schemas) -> Iterator[str]:
    """Yield names in ``rows`` that their model does not have."""
    for name in schemas.get_schemas():
        known = {"_id", *names_of(schemas, name)}
        for policy in policies_of(schemas, name):
            for path in sorted(compared_by(policy.rows)):
                if path.partition(".")[0] not in known:
                    yield f"{policy.where}: rows: model {name} has no {path}"


def policy_hints(schemas: Schemas) -> Iterator[str]:
    """Yield policies whose ``rows`` no index of their model serves."""
    for schema in schemas.get_schemas().values():
        heads = {"_id"} | {index.keys[0][0] for index in wanted_indexes(schemas, schema)}
        for policy in policies_of(schemas, schema.name):
            paths = compared_by(policy.rows)
            if paths and heads.isdisjoint(paths):
                where = f"{policy.where}, model {schema.name}"
                yield f"{where}: no index begins with {' or '.join(sorted(paths))}; every read reads all documents"


def compared_by(rows: ContextFn | None) -> set[str]:
    """Return the paths that a filter of ``rows`` compares, whatever the context.

    Empty if it has no filter then, or asks for more than a context: what it does with a real one is unknown.
    """
    try:
        found = None if rows is None else rows(_Anything())
    except Exception:  # The seam: an author's function may fail on a context that is none.
        return set()
    if not isinstance(found, Mapping):
        return set()
    return {".".join(path) if isinstance(path, tuple) else str(path) for path in paths_in(found)}


class _Anything(dict[Any, Any]):
    """A context, and each part of it."""

    def __missing__(self, key: object) -> _Anything:
        return _Anything()

    def __getattr__(self, name: str) -> _Anything:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything()
