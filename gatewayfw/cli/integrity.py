"""The commands that compare copies with their sources: ``check`` and ``repair``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import click
from flask.cli import with_appcontext

from gatewayfw.cli.command import JSON, NAME, find_odm, format_json
from gatewayfw.cli.fit import check_fit
from gatewayfw.cli.state_file import STATE, StateFile
from gatewayfw.logs import escaped
from gatewayfw.odm import Odm
from gatewayfw.odm.upkeep.integrity import Problem
from gatewayfw.odm.upkeep.walk import Place


@click.command("check", epilog="Example: flask gateway check --state progress.json")
@click.option("--fit", is_flag=True, help="Compare all documents with their models instead.")
@STATE
@NAME
@JSON
@with_appcontext
def check(fit: bool, state: Path | None, name: str | None, as_json: bool) -> None:
    """Compare every copy with its source; exit status 1 if one differs.

    Problems are printed as they are found; with --json each is an object on a line of its own. For all differences that
    a pending job will correct one line names the job; they do not count.

    With --fit, find the documents that do not fit their models instead: something required is missing, or has not the
    form that is declared. A line says where, what is stored there, in how many documents, and the first three. The exit
    status is 1 if there is one. Names that are not declared do not count.
    """
    odm = find_odm(name)
    if fit:
        check_fit(odm, state, as_json)
    _run(_Run("check", odm, state), odm.integrity.check, as_json)


@click.command("repair", epilog="Example: flask gateway repair --state progress.json")
@click.option("--delete-orphans", is_flag=True, help="Delete documents whose required relation has lost its source.")
@STATE
@NAME
@JSON
@with_appcontext
def repair(delete_orphans: bool, state: Path | None, name: str | None, as_json: bool) -> None:
    """Repair what `check` finds; exit status 1 if something needs a decision.

    It is safe while others write. Without --delete-orphans it never removes data that exists nowhere else.
    """
    odm = find_odm(name)
    command = "repair --delete-orphans" if delete_orphans else "repair"
    _run(_Run(command, odm, state), partial(odm.integrity.repair, delete_orphans=delete_orphans), as_json)


@dataclass
class _Counts:
    """What a run found: still wrong, jobs that are pending, and repaired."""

    remaining: int = 0
    pending: int = 0
    mended: int = 0

    def __post_init__(self) -> None:
        if not all(type(count) is int for count in (self.remaining, self.pending, self.mended)):
            raise ValueError  # what the file is, its reader says

    def add(self, problem: Problem) -> None:
        if problem.state == "mended":
            self.mended += 1
        elif problem.pending:
            self.pending += 1
        else:
            self.remaining += 1

    def __str__(self) -> str:
        parts = [(self.mended, "mended"), (self.pending, "pending")]
        told = [f"{self.remaining} {'problem' if self.remaining == 1 else 'problems'}"]
        return ", ".join(told + [f"{count} {word}" for count, word in parts if count])


class _Run:
    """What one run has found and how far it has come, kept in a file if there is one."""

    def __init__(self, command: str, odm: Odm, path: Path | None) -> None:
        self.file = StateFile(command, odm, path)
        self.after, saved = self.file.load(lambda saved: (_Counts(**saved["counts"]), [*saved["jobs"]]))
        self.counts, self._jobs = saved or (_Counts(), [])

    def add(self, problem: Problem) -> bool:
        """Count a problem; return False for a job that was told before an interruption."""
        if problem.pending:
            job = f"{problem.model} {problem.id} {problem.path} {problem.reason}"
            if job in self._jobs:
                return False
            self._jobs.append(job)
        self.counts.add(problem)
        return True

    def reached(self, place: Place) -> None:
        """Save the progress."""
        self.file.save(place, {"counts": asdict(self.counts), "jobs": self._jobs})


def _run(run: _Run, begin: Callable[..., Iterator[Problem]], as_json: bool) -> None:
    """Print what a run finds, and end the command with its exit status."""

    def line(problem: Problem) -> str:
        told = {**asdict(problem), "id": str(problem.id)}
        return format_json(told, indent=None) if as_json else escaped(_line(problem))

    found = filter(run.add, begin(after=run.after, on_progress=run.reached))
    run.file.show(found, line, run.counts.__str__, as_json=as_json)
    sys.exit(1 if run.counts.remaining else 0)


def _line(problem: Problem) -> str:
    notes = [*(["a job is pending"] if problem.pending else []), *([problem.state] if problem.state != "found" else [])]
    told = f" ({', '.join(notes)})" if notes else ""
    return f"{problem.model} {problem.id}: {problem.path}: {problem.reason}{told}"
