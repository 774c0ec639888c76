"""Two versions of two models, and what must be stored while documents go from one to the other.

Everything expected is computed here, from the declarations alone: `Step` knows what becomes of a document, whoever
wrote last. `KINDS` has rows of the guide's table of conversions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from bson import Binary, Decimal128, ObjectId, encode

from gatewayfw.schemas import array, date, decimal, integer, number, object_, object_id, optional, string, uuid

HEX, TEXT = "5f0c0ffee0c0ffee0c0ffee0", "12345678-1234-5678-1234-567812345678"
DAY, BITS = datetime(2020, 1, 2, 3, 4, 5), UUID(TEXT)  # noqa: DTZ001  # as it is stored
#: Stands for a value that is not converted.
STAYS: Any = object()


class Misfit(NamedTuple):
    """A stored value that a field does not store, what it becomes, and how it is told of."""

    value: Any
    becomes: Any
    told: str
    path: str = ""


#: For each kind: its field, values that fit, and values that do not.
KINDS: dict[str, tuple[Any, list[Any], list[Misfit]]] = {
    "string": (string(), ["12", "007", "2.5", "abc", HEX], [Misfit(7, STAYS, "int"), Misfit(None, STAYS, "null")]),
    "integer": (
        integer(),
        [7, 0],
        [
            *(
                Misfit(text, value, "string")
                for text, value in {"12": 12, "3.0": 3, "007": STAYS, "1,000": STAYS}.items()
            ),
            *(Misfit(2.0, 2, "double"), Misfit(2.5, STAYS, "double"), Misfit(2.0**60, STAYS, "double")),
            *(Misfit(Decimal128("4"), 4, "decimal"), Misfit(True, STAYS, "bool"), Misfit([1], STAYS, "array")),
        ],
    ),
    "number": (
        number(),
        [7, 2.5],
        [
            *(Misfit("12", 12, "string"), Misfit("1.005", 1.005, "string"), Misfit("abc", STAYS, "string")),
            *(Misfit("0.12345678901234567890123", STAYS, "string"), Misfit(Decimal128("2.50"), 2.5, "decimal")),
            Misfit(None, STAYS, "null"),
        ],
    ),
    "decimal": (
        decimal(places=2),
        [Decimal128("2.50")],
        [
            *(Misfit("12", Decimal128("12.00"), "string"), Misfit(7, Decimal128("7.00"), "int")),
            *(Misfit(23.01, Decimal128("23.01"), "double"), Misfit(1.005, STAYS, "double")),
            *(Misfit("1.005", STAYS, "string"), Misfit("abc", STAYS, "string")),
        ],
    ),
    "date": (
        date(),
        [DAY],
        [
            *(Misfit("2020-01-02T03:04:05Z", DAY, "string"), Misfit("2.1.2020", STAYS, "string")),
            *(Misfit("2020-01-02T03:04:05.123456Z", STAYS, "string"), Misfit(7, STAYS, "int")),
        ],
    ),
    "object_id": (
        object_id(),
        [ObjectId(HEX)],
        [Misfit(HEX, ObjectId(HEX), "string"), Misfit("abc", STAYS, "string")],
    ),
    "uuid": (
        uuid(),
        [Binary.from_uuid(BITS)],
        [
            *(Misfit(TEXT, Binary.from_uuid(BITS), "string"), Misfit("abc", STAYS, "string")),
            Misfit(Binary(BITS.bytes, 3), STAYS, "binData (subtype 3)"),
        ],
    ),
    "list": (
        array(integer()),
        [[], [1, 2]],
        [
            *(Misfit([1, "2"], [1, 2], "string", ".[]"), Misfit([1, "x"], STAYS, "string", ".[]")),
            Misfit("12", STAYS, "string"),
        ],
    ),
    "object": (
        object_({"a": integer()}),
        [{"a": 1}],
        [
            *(Misfit({"a": "1"}, {"a": 1}, "string", ".a"), Misfit({"a": "x"}, STAYS, "string", ".a")),
            Misfit("abc", STAYS, "string"),
        ],
    ),
}
FATES = ("keep", "rename", "copy", "default", "convert", "drop", "function")


def same(value: Any) -> bytes:
    """Return what two values share that are stored alike; names may be in any order."""
    return encode({"": dict(sorted(value.items())) if isinstance(value, dict) else value})


def misfit_in(kind: str, value: Any) -> Misfit | None:
    """Return what a value is under a kind that it does not fit."""
    return next((one for one in KINDS[kind][2] if same(one.value) == same(value)), None)


@dataclass(frozen=True)
class Slot:
    """A field of the old version, and what becomes of it in the new one."""

    number: int
    fate: str
    kind: str
    prefer: str | None = None
    required: bool = False
    index: str | None = None

    @property
    def old(self) -> str:
        return f"k{self.number}" if self.fate in ("keep", "convert") else f"o{self.number}"

    @property
    def new(self) -> str:
        return self.old if self.fate in ("keep", "convert") else f"n{self.number}"

    @property
    def fill(self) -> Any:
        """The value of a default."""
        return KINDS[self.kind][1][0]

    def fields(self, version: str) -> dict[str, tuple[str, bool]]:
        """Return the kind of each name that a version declares, and whether it is required."""
        if version == "old":
            return (
                {} if self.fate == "default" else {self.old: ("string" if self.fate == "convert" else self.kind, False)}
            )
        news = {} if self.fate == "drop" else {self.new: (self.kind, self.required)}
        return {**news, **({self.old: (self.kind, False)} if self.fate == "copy" else {})}


@dataclass(frozen=True)
class Step:
    """One migration: slots of one fate."""

    name: str
    model: str
    fate: str
    slots: tuple[Slot, ...]

    def declare(self, odm: Any) -> None:
        """Declare it."""
        slots, names = self.slots, {slot.old: slot.new for slot in self.slots}
        given: Any = {"rename": names, "copy": names, "default": {slot.new: slot.fill for slot in slots}}
        if self.fate == "function":
            where = {"$or": [{slot.old: {"$exists": True}} for slot in slots]}
            odm.migration(self.name, self.model, where=where)(self._function)
            return
        more = {"prefer": slots[0].prefer} if self.fate == "rename" else {}
        odm.migration(self.name, self.model, **{self.fate: given.get(self.fate, [*names])}, **more)

    def _function(self, doc: dict[str, Any]) -> dict[str, Any] | None:
        """Turn text around; leave what is none, and the text that has no other side."""
        there = [slot for slot in self.slots if slot.old in doc]
        if not all(isinstance(doc[slot.old], str) and doc[slot.old] != "abc" for slot in there):
            return None
        turned = {slot.new: doc[slot.old][::-1] for slot in there}
        return {"$set": turned, "$unset": {slot.old: "" for slot in there}}

    def is_left(self, doc: dict[str, Any]) -> bool:
        """Tell whether a document meets the condition."""
        tests = {
            "copy": lambda slot: slot.old in doc and slot.new not in doc,
            "default": lambda slot: slot.new not in doc,
            "convert": lambda slot: slot.old in doc and misfit_in(slot.kind, doc[slot.old]) is not None,
        }
        return any(map(tests.get(self.fate, lambda slot: slot.old in doc), self.slots))

    def after(self, doc: dict[str, Any]) -> dict[str, Any]:
        """Return what it makes of a document; the same if it is listed."""
        if self.fate == "function":
            change = self._function(doc) if self.is_left(doc) else None
            return doc if change is None else _without({**doc, **change["$set"]}, change["$unset"])
        if self.fate == "default":
            return {**{slot.new: slot.fill for slot in self.slots}, **doc}
        if self.fate == "convert":
            became = {slot.old: misfit_in(slot.kind, doc[slot.old]) for slot in self.slots if slot.old in doc}
            return {**doc, **{name: one.becomes for name, one in became.items() if one and one.becomes is not STAYS}}
        if self.fate == "copy":
            return {**{slot.new: doc[slot.old] for slot in self.slots if slot.old in doc}, **doc}
        return self.without_old_names(doc)

    def without_old_names(self, doc: dict[str, Any], hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
        """Return what a `rename` or `drop` makes of a document, or of a copy that never has the ``hidden`` names."""
        there = [slot for slot in self.slots if slot.old in doc]
        if self.fate == "drop":
            return _without(doc, [slot.old for slot in there])
        if any(slot.new in doc.keys() - hidden and slot.prefer is None for slot in there):
            return doc
        moved = {slot.new: doc[slot.old] for slot in there if slot.new not in doc or slot.prefer == "old"}
        return _without({**doc, **_without(moved, hidden)}, [slot.old for slot in there])

    @property
    def touches_frozen(self) -> bool:
        return self.fate in ("rename", "drop")


def _without(doc: dict[str, Any], names: Any) -> dict[str, Any]:
    return {name: value for name, value in doc.items() if name not in names}


def steps_of(model: str, slots: tuple[Slot, ...], together: bool) -> list[Step]:
    """Return the migrations of a model: one for each slot, or one for all that share a form."""
    groups: dict[Any, list[Slot]] = {}
    for slot in slots:
        if slot.fate != "keep":
            groups.setdefault((slot.fate, slot.prefer) if together else slot.number, []).append(slot)
    return [
        Step(f"{model} {number}", model, group[0].fate, tuple(group)) for number, group in enumerate(groups.values())
    ]


def declared(slots: tuple[Slot, ...], version: str) -> dict[str, tuple[str, bool]]:
    """Return kind and presence by name of what a version declares."""
    return {"name": ("string", False)} | {n: one for slot in slots for n, one in slot.fields(version).items()}


def fields_of(slots: tuple[Slot, ...], version: str) -> dict[str, Any]:
    """Return the definition of a version."""
    return {
        name: KINDS[kind][0] if required else optional(KINDS[kind][0])
        for name, (kind, required) in declared(slots, version).items()
    }


def normal(slot: Slot) -> Slot:
    """Return a slot without what goes only with other fates."""
    kind = "string" if slot.fate == "function" or slot.index == "unique" else slot.kind
    slot = replace(slot, kind=kind if slot.fate != "default" or kind != "list" else "integer")
    slot = slot if slot.fate == "rename" else replace(slot, prefer=None)
    slot = slot if slot.fate in ("rename", "copy", "default") else replace(slot, index=None)
    return slot if slot.fate == "default" else replace(slot, required=False)


#: What a writer does: what, by which version, and three numbers that choose the rest.
Operation = tuple[str, str, int, int, int]


@dataclass
class Case:
    """What is drawn: both versions, and who writes what, when."""

    slots: dict[str, tuple[Slot, ...]]
    types: tuple[str, str]
    limit: int
    together: bool
    hides: bool
    sorts: bool
    plans: bool
    before: list[Operation]
    during: list[Operation]
    after: list[Operation] = field(default_factory=list)

    @property
    def hidden(self) -> Slot | None:
        """The field of owners that some copies leave out in the new version."""
        return next((slot for slot in self.slots["owner"] if self.hides and slot.fate in ("keep", "rename")), None)

    @property
    def sorting(self) -> Slot | None:
        """The field of items by which windows are sorted."""
        fit = (one for one in self.slots["item"] if one.fate in ("keep", "rename") and one.kind == "string")
        return next(fit, None) if self.sorts else None

    @property
    def is_quiet(self) -> bool:
        """Whether nothing but migrations needs `repair` afterwards."""
        late = [one for one in (*self.during, *self.after) if one[1] == "old" or one[0] == "raw"]
        sorting = self.sorting
        dirty = any(one[0] == "raw" for one in self.before)
        return not (late or dirty or self.hidden or (sorting and sorting.fate == "rename"))
