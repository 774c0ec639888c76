"""Hypothesis strategies: JSON values, and value kinds with values they take and nearly take."""

from __future__ import annotations

import string as letters
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from marshmallow.fields import Field

from gatewayfw.schemas import (
    any_,
    array,
    binary,
    boolean,
    date,
    decimal,
    defaulted,
    email,
    enums,
    integer,
    mapping,
    nullable,
    number,
    object_,
    object_id,
    optional,
    string,
    url,
    uuid,
)

UUID = "01234567-89ab-cdef-0123-456789abcdef"
names = st.text(letters.ascii_letters, min_size=1, max_size=4)
hex_ids = st.text("0123456789abcdefABCDEF", min_size=24, max_size=24)
int64 = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)
dates = st.dates().map(str) | st.datetimes().map(lambda moment: moment.isoformat() + "Z")

json_scalars = st.none() | st.booleans() | int64 | floats | st.text(max_size=8)
json_values = st.recursive(
    json_scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@dataclass(frozen=True)
class Kind:
    """A field, values that ``assert`` accepts, and values that are nearly such ones."""

    field: Field[Any]
    valid: st.SearchStrategy[Any]
    near: st.SearchStrategy[Any]


#: Every kind without parts, by its name in ``KINDS``.
SCALARS: dict[str, Callable[[], Kind]] = {
    "string": lambda: Kind(
        string(size=(1, 5)), st.text(min_size=1, max_size=5), st.sampled_from(["", "123456", 5, "\ud800", None, ["a"]])
    ),
    "number": lambda: Kind(
        number(),
        int64 | floats,
        st.sampled_from(["5", "-1.5", "1e3", "1e999", "NaN", "1_0", "５", "", " 5", True, 2**63, float("nan"), None]),
    ),
    "integer": lambda: Kind(
        integer(minimum=-5),
        st.integers(-5, 2**63 - 1),
        st.sampled_from(["5", "-6", 5.0, 5.5, 1e300, "5.0", "1_0", "٣", True, -6, 2**63]),
    ),
    "boolean": lambda: Kind(
        boolean(), st.booleans(), st.sampled_from([0, 1, 2, 1.0, "yes", "t", "off", "maybe", None])
    ),
    "object_id": lambda: Kind(
        object_id(), hex_ids, st.sampled_from(["a" * 23, "a" * 25, "g" * 24, "a" * 24 + "\n", 5, b"a" * 12, None])
    ),
    "enums": lambda: Kind(
        enums("a", 1, 2.5, True), st.sampled_from(["a", 1, 2.5, True]), st.sampled_from(["b", 1.0, 0, False, "1", None])
    ),
    "any_": lambda: Kind(any_(), json_values, st.sampled_from([2**63, float("inf"), {"a": ["\ud800"]}, {1: 2}])),
    "date": lambda: Kind(
        date(),
        dates,
        st.sampled_from(["2026-02-30", "0001-01-01T00:00:00+01:00", "2026-1-1", "9999-12-31T23:59:59-01:00", 5, ""]),
    ),
    "url": lambda: Kind(
        url(),
        names.map("https://{}.example.org/a".format),
        st.sampled_from(["a", "ftp://a.org", "javascript:a()", 5, "https://a.org\n"]),
    ),
    "uuid": lambda: Kind(
        uuid(), st.uuids().map(str), st.sampled_from(["a" * 32, "0" * 36, "a", 5, f"{{{UUID}}}", f"{UUID}\n", None])
    ),
    "decimal": lambda: Kind(
        decimal(places=2, minimum="-1000.50"),
        st.decimals("-1000.50", 10**31, places=2).map("{:f}".format),
        st.sampled_from(["1.234", "1e3", "NaN", "", " 1", "-2000", "1" * 33, "+1", "1.", "٣", 1.5, True, None]),
    ),
    "binary": lambda: Kind(
        binary(size=(1, 5)),
        st.binary(min_size=1, max_size=5).map(lambda data: b64encode(data).decode()),
        st.sampled_from(["", "AA", "AB==", "AAAA\n", "AAAAAAAA", "é", 5, None]),
    ),
    "email": lambda: Kind(
        email(), names.map("{}@example.org".format), st.sampled_from(["a", "a@", "@b.c", 5, "a@b\n"])
    ),
}


#: The kinds of which `create` makes values that JSON has not.
LOADED = ("object_id", "date", "uuid", "decimal", "binary")
#: The kinds of kinds, which `kinds` draws itself.
COMPOSED = ("array", "mapping", "object_")


@st.composite
def kinds(draw: st.DrawFn, depth: int = 2, scalars: Sequence[str] = tuple(SCALARS)) -> Kind:
    """Draw a kind: without parts, or a list or an object of kinds."""
    shape = draw(st.sampled_from([*scalars, *COMPOSED, "object_"] if depth else list(scalars)))
    if shape == "array":
        inner = draw(kinds(depth - 1, scalars))
        return Kind(
            array(inner.field, size=(0, 3)),
            st.lists(inner.valid, max_size=3),
            st.lists(inner.valid | inner.near, max_size=4) | st.just({}),
        )
    if shape == "mapping":
        inner = draw(kinds(depth - 1, scalars))
        return Kind(
            mapping(inner.field),
            st.dictionaries(st.text(max_size=4), inner.valid, max_size=3),
            st.dictionaries(st.text(max_size=4), inner.valid | inner.near, max_size=3) | st.just([]),
        )
    if shape not in COMPOSED and draw(st.booleans()):
        scalar = SCALARS[shape]()
        return Kind(nullable(scalar.field), st.none() | scalar.valid, scalar.near)
    return draw(objects(depth - 1, scalars)) if shape == "object_" else SCALARS[shape]()


@st.composite
def objects(draw: st.DrawFn, depth: int = 2, scalars: Sequence[str] = tuple(SCALARS)) -> Kind:
    """Draw an object kind whose fields are required, optional or defaulted."""
    parts = draw(st.dictionaries(names, kinds(depth, scalars), max_size=4))
    fields: dict[str, Field[Any]] = {}
    required: dict[str, st.SearchStrategy[Any]] = {}
    optionals: dict[str, st.SearchStrategy[Any]] = {}
    for name, part in parts.items():
        presence = draw(st.sampled_from(["required", "optional", "defaulted"]))
        if presence == "required":
            fields[name] = part.field
        elif presence == "optional":
            fields[name] = optional(part.field)
        else:
            fields[name] = defaulted(part.field, draw(part.valid))
        (optionals if presence == "optional" else required)[name] = part.valid
    either = {name: part.valid | part.near for name, part in parts.items()}
    return Kind(
        object_(fields),
        st.fixed_dictionaries(required, optional=optionals),
        st.fixed_dictionaries({}, optional={**either, "extra": json_scalars}) | st.just([]),
    )


@st.composite
def kinds_with_values(draw: st.DrawFn, scalars: Sequence[str] = tuple(SCALARS)) -> tuple[Kind, Any]:
    """Draw a kind and a value: one it takes, one it nearly takes, or any JSON."""
    kind = draw(kinds(scalars=scalars))
    return kind, draw(st.one_of(kind.valid, kind.near, json_values))
