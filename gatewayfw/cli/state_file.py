"""The file of the option ``--state``: how far a run has come, what it found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import click

from gatewayfw.cli.command import INTERRUPTED, Failed, interruptible, status_line
from gatewayfw.export.files import replace_file
from gatewayfw.odm import Odm
from gatewayfw.odm.upkeep.walk import Place

T = TypeVar("T")

STATE = click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Save the progress in this file; if the file exists, go on from there.",
)


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
        """Print a line for all that is found, then the summary.

        An interruption ends the command.
        """
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
