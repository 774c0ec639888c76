"""The command that runs a MongoDB server for development: ``mongod``."""

import re
import shlex
from pathlib import Path

import click

from gatewayfw.cli.command import JSON, Failed, format_json, stopping
from gatewayfw.logs import escaped
from gatewayfw.testing.mongod import LocalMongod, MongodError

#: Seconds between two looks at whether the server still runs.
INTERVAL = 0.5
#: What needs no escape in a URI, and is allowed in the name of a database.
_DATABASE = re.compile(r"[A-Za-z0-9_-]{1,63}")


def _checked_name(context: click.Context, option: click.Parameter, name: str) -> str:
    if not _DATABASE.fullmatch(name):
        raise click.BadParameter("must be of letters, digits, - and _, at most 63.")
    return name


@click.command("mongod", epilog="Example: flask gateway mongod --database shop")
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=".gateway/mongod",
    show_default=True,
    help="The folder of its data, made when missing and kept.",
)
@click.option("--port", type=click.IntRange(1, 65535), default=27017, show_default=True, help="The port it listens on.")
@click.option(
    "--database",
    metavar="NAME",
    default="app",
    show_default=True,
    callback=_checked_name,
    help="The database that the printed URI names.",
)
@JSON
def mongod(data: Path, port: int, database: str, as_json: bool) -> None:
    """Run a MongoDB server for development, until Ctrl-C.

    It is a replica set of one node, on 127.0.0.1 and without access control. The command prints the line that tells an
    app where it is. It looks for a mongod in GATEWAYFW_MONGOD, on PATH, and in the extra `mongod`. It needs no app.
    """
    with stopping() as stop:
        try:
            with LocalMongod(data, port) as server:
                uri = server.uri_of(database)
                told = {"uri": uri, "data": str(server.data)}
                click.echo(format_json(told) if as_json else f"export MONGODB_URI={shlex.quote(uri)}")
                click.echo(f"the data is in {escaped(str(server.data))}; Ctrl-C stops the server", err=True)
                while not stop.wait(INTERVAL):
                    if not server.is_running:
                        raise Failed(f"mongod has ended; its log is {server.data / 'mongod.log'}")
        except MongodError as error:
            raise Failed(str(error)) from error
        except OSError as error:
            raise Failed(f"{data} cannot be used: {error.strerror}") from error
