"""The commands of this service: ``flask --app`` with the package's name, then ``create-user`` or ``seed``.

They work on the database of the environment, so set what the service itself runs with.
"""

from __future__ import annotations

import sys
from typing import Any

import click
from bson import ObjectId
from flask import Flask

from gatewayfw import DuplicateKey, GatewayError

from . import demo
from .service import Service

_NO_DATABASE = "there is no database to write to: set MONGODB_URI"


def add_to(app: Flask, service: Service, *, in_memory: bool) -> None:
    """Add the commands to an app; with ``in_memory`` they refuse, because nothing would remain."""

    @app.cli.command("create-user")
    @click.option("--email", required=True)
    @click.option("--first-name", default="First", show_default=True)
    @click.option("--last-name", default="User", show_default=True)
    @click.option("--ghost", is_flag=True, help="Bypasses all access rules; only this command makes one.")
    @click.option("--manager", is_flag=True, help="Has the role Manager.")
    @click.option("--password-stdin", is_flag=True, help="Read the password from standard input, one line.")
    def create_user(
        email: str, first_name: str, last_name: str, ghost: bool, manager: bool, password_stdin: bool
    ) -> None:
        """Create a ghost or a Manager, such as the first user."""
        if in_memory:
            raise click.ClickException(_NO_DATABASE)
        if ghost == manager:
            raise click.UsageError("give either --ghost or --manager")
        if not email.strip():
            raise click.UsageError("the e-mail is empty")
        rights: dict[str, Any] = {"isGhost": True} if ghost else {"roles": [{"roleId": ObjectId(), "name": "Manager"}]}
        names = {"first_name": first_name, "last_name": last_name}
        password = _password(password_stdin)
        try:
            hashed = service.hasher.hash(password)
            user = service.users.insert_one(doc={"email": email, "password": hashed, **names, **rights})
        except DuplicateKey as error:
            raise click.ClickException("Duplicate key error: there is a user with this e-mail already") from error
        except GatewayError as error:
            raise click.ClickException(error.message) from error
        click.echo(f"created {'the ghost' if ghost else 'the Manager'} {email}, _id {user['_id']}")

    @app.cli.command("seed")
    def seed() -> None:
        """Add the demo data, unless there are users already."""
        if in_memory:
            raise click.ClickException(_NO_DATABASE)
        try:
            added = demo.seed(service)
        except GatewayError as error:
            raise click.ClickException(error.message) from error
        click.echo(demo.credentials(service) if added else "there are users already: nothing was added")


def _password(from_stdin: bool) -> str:
    """Return the password, asked for twice, or read from standard input."""
    if from_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    if not password:
        raise click.ClickException("the password is empty")
    return password
