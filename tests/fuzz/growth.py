"""The targets of the long run, and bodies grown to the very limits of what is read."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from gatewayfw.acts import Act
from gatewayfw.core import Gateway
from tests.fuzz.hostile import good_bodies, hostile_bodies, hostile_bytes
from tests.fuzz.sample import Sample, hidden_in, within
from tests.fuzz.targets import outcome, read, validated
from tests.fuzz.zoo import make_zoo

#: Acts that marshmallow's own fields judge: it words an error for each of 20,000 elements, 5 us apiece.
MARSHMALLOW = frozenset(f"zoo {name}_{mode}" for name in ("own", "schema") for mode in ("assert", "create"))
#: What long texts are made of: each makes some check step back or look up every character.
PIECES = ("a", "\u00e9", "a.", "a-a.", '"', "@", "\u00e9.", "0", "\u2028", "\\", "[", "{", "\x01", "\U0001f600")
ELEMENTS = (1, None, "", "x", "0" * 24, "0" * 23, {}, [], {"a": 1}, {"a": "x"}, "a@b.c", "2026-01-01T00:00:00+01:00")


@dataclass(frozen=True)
class Stop:
    """One target: strategy of (name, body as bytes), what is run, and the names whose time is not limited."""

    bodies: st.SearchStrategy[tuple[str, bytes]]
    run: Callable[[str, bytes], str]
    untimed: frozenset[str] = frozenset()


@cache
def stops() -> Mapping[str, Stop]:
    """Return the targets by name."""
    zoo, sample = make_zoo(), Sample()
    acts = {f"zoo {name}": (zoo, act) for name, act in zoo.acts.get_acts("beast").items()}
    acts |= {name: (sample.gw, act) for name, act in sample.acts.items()}
    hostile = {name: hostile_bodies(gw, act) for name, (gw, act) in acts.items()}
    good = {name: good_bodies(gw, act) for name, (gw, act) in acts.items()}
    large = {name: grown(hostile[name] | good[name], gw, act) for name, (gw, act) in acts.items()}

    def judged(name: str, data: bytes) -> str:
        return outcome(validated, *acts[name], data)

    def judged_good(name: str, data: bytes) -> str:
        result = judged(name, data)
        assert result == "ok"
        return result

    names = list(sample.acts)
    requests = {name: sample.hostile(name) | sample.good(name) for name in names}
    return {
        "reader": Stop(raw(zoo), lambda _, data: outcome(read, zoo, data)),
        "validators": Stop(named(hostile), judged, MARSHMALLOW),
        "good": Stop(named(good), judged_good),
        "large": Stop(named(large), judged, MARSHMALLOW),
        "requests": Stop(named(requests), lambda name, data: requested(sample, data), frozenset(names)),
    }


def raw(gw: Gateway) -> st.SearchStrategy[tuple[str, bytes]]:
    """Return a strategy of bytes for the reader: spliced, and one piece many times over."""
    pieces = st.sampled_from([b"[],", b"{},", b'"",', b"1,", b"[[1]],", b'{"a":[]},', b'"\\u00e9",', b"1e-300,", b"\n"])
    many = st.builds(
        lambda piece, times: b"[" + piece * min(times, gw.settings.max_body_bytes // len(piece) - 2) + b"0]",
        pieces,
        st.sampled_from([100, 6_000, 19_000, 100_000, 10**6]),
    )
    good = good_bodies(gw, gw.acts.get_act("main", "beast", "kinds_create"))
    return st.tuples(st.just("bytes"), hostile_bytes(good) | many)


def named(bodies: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[tuple[str, bytes]]:
    """Return a strategy of (name, the JSON of one of its bodies)."""
    return st.sampled_from(list(bodies)).flatmap(lambda name: st.tuples(st.just(name), bodies[name].map(written)))


def written(body: Any) -> bytes:
    """Return a body as bytes: UTF-8 where it can be, escaped where it holds a lone surrogate."""
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(body).encode()


def grown(bodies: st.SearchStrategy[Any], gw: Gateway, act: Act) -> st.SearchStrategy[Any]:
    """Return a strategy of bodies of which one value is as large as the limits let it be."""
    nodes, size = gw.settings.max_body_nodes - 100, gw.settings.max_body_bytes - 10_000
    longest = getattr(gw.settings, "max_body_text", size)

    @st.composite
    def growing(draw: st.DrawFn) -> Any:
        body = copy.deepcopy(draw(bodies))
        details = body.get("details") if isinstance(body, dict) else None
        part = details.get(draw(st.sampled_from(["set", "set", "get"]))) if isinstance(details, dict) else None
        if not isinstance(part, dict):
            return body
        field = (act.struct.fields or {}).get("set")
        names = sorted({*part, *(getattr(field, "fields", None) or {}), "x"})
        name = draw(st.sampled_from(names))
        part[name] = draw(large_values(nodes, size, longest, part.get(name)))
        return body

    return growing()


def large_values(nodes: int, size: int, longest: int, value: Any) -> st.SearchStrategy[Any]:
    """Return a strategy of values that hold about so many nodes, bytes or characters."""
    items = [*ELEMENTS, *(value if isinstance(value, list) else [value])]
    return st.one_of(
        st.sampled_from(PIECES).map(lambda piece: (piece * longest)[: min(longest, size // len(piece[0].encode()))]),
        st.sampled_from(PIECES).map(lambda piece: "a@" + (piece * longest)[: min(longest, size // 4) - 10] + ".com"),
        st.sampled_from(items).map(lambda item: [item] * min(nodes // weight(item), size // len(written(item)))),
        st.sampled_from(["", "k" * 40, "\u200b" * 14, "k" * 64]).map(
            lambda prefix: {f"{n}{prefix}": 1 for n in range(min(nodes, size // (len(prefix.encode()) + 12)))}
        ),
        st.just([[1] * 100] * (nodes // 101)),
    )


def weight(value: Any) -> int:
    """Return how many values a value holds, itself included."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(weight, inner))


def requested(sample: Sample, data: bytes) -> str:
    """Send one body through the whole service; what is not answered 200 must not have written."""
    reply = sample.client.post("/gateway", data=data, headers=sample.headers)
    envelope = json.loads(reply.get_data())
    changed = sample.data() != sample.start
    if changed:
        sample.restore()
    assert reply.status_code < 500, envelope
    assert not (changed and reply.status_code != 200)
    assert envelope.keys() == {"body", "success"}
    assert hidden_in(envelope) == set()
    if reply.status_code == 200:
        assert within(json.loads(data)["details"]["get"], envelope["body"])
    return str(reply.status_code)
