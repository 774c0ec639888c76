"""The commands ``check`` and ``repair``, and the file of their progress."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
from flask.cli import with_appcontext

from gatewayfw.cli.command import INTERRUPTED, JSON, NAME, Failed, find_odm, format_json, interruptible, status_line
from gatewayfw.export.files import replace_file
from gatewayfw.logs import escaped
from gatewayfw.odm import Odm
from gatewayfw.odm.upkeep.inspection import Place
from gatewayfw.odm.upkeep.integrity import Problem
from gatewayfw.odm.upkeep.misfits import Misfits

T = TypeVar("T")

STATE = click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Save the progress in this file; if the file exists, go on from there.",
)


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
        _check_fit(odm, state, as_json)
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


class StateFile:
    """The progress of one command over the documents of one database.

    Without a path it keeps nothing.

    Attributes:
        again: what to tell of an interrupted run; empty if nothing is saved.
    """

    def __init__(self, command: str, odm: Odm, path: Path | None) -> None:
        models = sorted(odm.schemas.get_schemas())
        self._subject = {"command": command, "database": odm.storage.name, "models": models}
        self._path = path

    @property
    def again(self) -> str:
        return f"; go on with --state {self._path}" if self._path is not None and self._path.exists() else ""

    def load(self, read: Callable[[Mapping[str, Any]], T]) -> tuple[Place | None, T | None]:
        """Return the place that was reached, and what ``read`` makes of the rest.

        Raises:
            click.UsageError: the file belongs to another command, database or other models, or is not a progress file;
                ``read`` raises ValueError, TypeError or KeyError for what is none.
        """
        if self._path is None or not self._path.exists():
            return None, None
        try:
            saved = json.loads(self._path.read_text("utf-8"))
            subject = {key: saved[key] for key in self._subject}
            place, rest = Place(**saved["place"]), read(saved)
        except (OSError, ValueError, TypeError, KeyError):
            raise click.UsageError(f"--state: {self._path} is not a progress file of this command") from None
        for key, mine in self._subject.items():
            if subject[key] != mine:
                raise click.UsageError(f"--state: {self._path} holds the progress of another {key}")
        return place, rest

    def save(self, place: Place, found: Mapping[str, Any]) -> None:
        """Save the progress, with what was found, as JSON; show it."""
        status_line(f"{place.model}: {place.done:,} of {place.total:,} documents")
        if self._path is not None:
            saved = {**self._subject, "place": asdict(place), **found}
            try:
                replace_file(self._path, json.dumps(saved).encode())
            except OSError as error:
                raise Failed(f"--state: cannot write {self._path}: {error.strerror}") from error

    def end(self) -> None:
        """Delete the progress."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def show(self, found: Iterable[T], line: Callable[[T], str], summary: Callable[[], str], *, as_json: bool) -> None:
        """Print what is found, then the summary; an interruption ends the command."""
        try:
            with interruptible():
                for one in found:
                    status_line("")
                    click.echo(line(one))
        except KeyboardInterrupt:
            status_line("")
            click.echo(f"interrupted: {summary()}{self.again}", err=True)
            sys.exit(INTERRUPTED)
        status_line("")
        self.end()
        if not as_json:
            click.echo(summary())


# -- copies and their sources


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


# -- documents and their models


def _check_fit(odm: Odm, state: Path | None, as_json: bool) -> None:
    """Print the misfits of each model when it is done; exit status 1 if there are any."""
    file = StateFile("check --fit", odm, state)
    after, saved = file.load(_read_misfits)
    known, groups, misfits = saved or ([], 0, 0)

    def reached(place: Place, found: Sequence[Misfits]) -> None:
        file.save(place, {"found": [_plain(one) for one in found], "groups": groups, "misfits": misfits})

    def line(one: Misfits) -> str:
        nonlocal groups, misfits
        groups, misfits = groups + 1, misfits + one.count
        return format_json(_plain(one), indent=None) if as_json else escaped(_line_of(one))

    found = odm.integrity.misfits(after=after, known=known, on_progress=reached)
    file.show(found, line, lambda: _misfits_counted(misfits, groups), as_json=as_json)
    sys.exit(1 if misfits else 0)


def _read_misfits(saved: Mapping[str, Any]) -> tuple[list[Misfits], int, int]:
    known = [Misfits(**{**one, "ids": tuple(one["ids"])}) for one in saved["found"]]
    groups, misfits = saved["groups"], saved["misfits"]
    if not all(type(count) is int for count in (groups, misfits, *(one.count for one in known))):
        raise ValueError  # what the file is, its reader says
    return known, groups, misfits


def _plain(one: Misfits) -> dict[str, Any]:
    return {**asdict(one), "ids": list(map(str, one.ids))}


def _line_of(one: Misfits) -> str:
    more = ", ..." if one.count > len(one.ids) else ""
    documents = "1 document" if one.count == 1 else f"{one.count:,} documents"
    return f"{one.model}.{one.path}: {one.stored} in {documents}: {', '.join(map(str, one.ids))}{more}"


def _misfits_counted(misfits: int, groups: int) -> str:
    if not misfits:
        return "0 misfits"
    return f"{misfits:,} {'misfit' if misfits == 1 else 'misfits'} in {groups} {'group' if groups == 1 else 'groups'}"
