"""``check --fit``: which documents do not fit their models."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gatewayfw.cli.command import format_json
from gatewayfw.cli.state_file import StateFile
from gatewayfw.logs import escaped
from gatewayfw.odm import Odm
from gatewayfw.odm.upkeep.misfits import Misfits
from gatewayfw.odm.upkeep.walk import Place


def check_fit(odm: Odm, state: Path | None, as_json: bool) -> None:
    """Print the misfits of each model when it is done; exit status 1 if there are any."""
    file = StateFile("check --fit", odm, state)
    after, saved = file.load(_read)
    known, groups, misfits = saved or ([], 0, 0)

    def reached(place: Place, found: Sequence[Misfits]) -> None:
        file.save(place, {"found": [_plain(one) for one in found], "groups": groups, "misfits": misfits})

    def line(one: Misfits) -> str:
        nonlocal groups, misfits
        groups, misfits = groups + 1, misfits + one.count
        return format_json(_plain(one), indent=None) if as_json else escaped(_line(one))

    found = odm.integrity.misfits(after=after, known=known, on_progress=reached)
    file.show(found, line, lambda: _summary(misfits, groups), as_json=as_json)
    sys.exit(1 if misfits else 0)


def _read(saved: Mapping[str, Any]) -> tuple[list[Misfits], int, int]:
    known = [Misfits(**{**one, "ids": tuple(one["ids"])}) for one in saved["found"]]
    groups, misfits = saved["groups"], saved["misfits"]
    if not all(type(count) is int for count in (groups, misfits, *(one.count for one in known))):
        raise ValueError  # what the file is, its reader says
    return known, groups, misfits


def _plain(one: Misfits) -> dict[str, Any]:
    return {**asdict(one), "ids": list(map(str, one.ids))}


def _line(one: Misfits) -> str:
    more = ", ..." if one.count > len(one.ids) else ""
    documents = "1 document" if one.count == 1 else f"{one.count:,} documents"
    return f"{one.model}.{one.path}: {one.stored} in {documents}: {', '.join(map(str, one.ids))}{more}"


def _summary(misfits: int, groups: int) -> str:
    if not misfits:
        return "0 misfits"
    return f"{misfits:,} {'misfit' if misfits == 1 else 'misfits'} in {groups} {'group' if groups == 1 else 'groups'}"
