"""Hypothesis strategies for fields that only acts have: selections of a `get`, filters of listings, files."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from gatewayfw.odm.listings.declaration import Filtered, resolved
from gatewayfw.schemas import Schemas
from gatewayfw.schemas.get import Bounds, Level, Spec, bounds_problem, level
from gatewayfw.schemas.kinds.file import UNKNOWN, Upload
from tests.fuzz import field_values
from tests.fuzz.field_values import IDS, TEXTS, WORDS, Draw, Maker, Values

#: Most bytes of a file, and names of one level of a `get`.
_MOST = 8


def selections(schemas: Schemas, model: str, spec: Spec, deepest: int) -> Values:
    """Return a strategy of what a select struct takes, to a depth of ``deepest``."""
    return st.deferred(lambda: _selections(schemas, level(schemas, model, spec), deepest))


def _selections(schemas: Schemas, allowed: Level, deepest: int) -> Values:
    flag = st.sampled_from([1, 1, 0])
    choices: dict[str, Values] = dict.fromkeys(sorted({"_id", *allowed.pure}), flag)
    for name, link in allowed.links.items():
        whole = level(schemas, link.model, link.spec).whole
        nested = [selections(schemas, link.model, link.spec, deepest - 1)] if deepest > 1 else []
        choices[name] = st.one_of(flag if whole else st.just(0), *nested)
    names = st.lists(st.sampled_from(list(choices)), unique=True, max_size=_MOST)
    return names.flatmap(lambda named: st.fixed_dictionaries({name: choices[name] for name in named}))


def fits(get: Any, bounds: Bounds) -> bool:
    """Tell whether a `get` is within the bounds of its act."""
    return not isinstance(get, Mapping) or bounds_problem(get, bounds) is None


def _file(maker: Maker, field: Any) -> Values:
    """Draw uploads; what the parser reads, not what a client sends."""
    types = st.sampled_from(field.types or (UNKNOWN,))
    contents = st.binary(max_size=min(field.most, _MOST))
    return st.builds(
        lambda name, type_, data: Upload(name, type_, len(data), hashlib.sha256(data).hexdigest(), io.BytesIO(data)),
        *(WORDS, types, contents),
    )


def _select(maker: Maker, field: Any) -> Values:
    return selections(maker.schemas, field.model, field.spec, field.bounds.max_get_depth)


def _filter(maker: Maker, field: Any) -> Values:
    """Return a strategy of what a listing is filtered by; it converts nothing."""
    exact = replace(maker, mode="assert")

    def make() -> Values:
        found = resolved(field.schemas, field.declaration).filters
        return st.fixed_dictionaries({}, optional={name: _asked(exact, one) for name, one in found.items()})

    return st.deferred(make)


def _asked(maker: Maker, one: Filtered) -> Values:
    value = maker.values(one.field).filter(lambda value: value is not None)
    known = {
        **dict.fromkeys(("eq", "ne"), st.none() | value),
        **dict.fromkeys(("in", "nin"), st.lists(st.none() | value, max_size=3)),
        **{"exists": st.booleans(), "prefix": TEXTS, "contains": WORDS},
    }
    objects = st.fixed_dictionaries({}, optional={name: known.get(name, value) for name in one.operators}).filter(bool)
    return known["eq"] | objects if "eq" in one.operators else objects


#: How values of each of our kinds are made, by its name.
MAKERS: Mapping[str, Callable[[Any, Any], Values]] = {
    **field_values.MAKERS,
    "file": _file,
    "select_struct": _select,
    "filter": _filter,
    "object_id": lambda maker, _: maker.ids,
}


@dataclass(frozen=True)
class DetailsMaker(Maker):
    """Makes strategies for the fields of acts; ``ids`` gives the ids of documents."""

    ids: Values = IDS

    def maker_of(self, field: Any) -> Draw:
        """Return how values of a field are made."""
        return MAKERS.get(getattr(field, "kind", ""), super().maker_of(field))
