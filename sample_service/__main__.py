"""``python -m`` and the package's name: the service with demo data, for trying out and development.

``PORT`` (8000) chooses the port. A local MongoDB server is started, whose data stays in
``.gateway/``; where there is none, the data is in memory. With ``MONGODB_URI`` that database is used
as it is, without demo data and playground, unless ``GATEWAYFW_ENV=development`` is set too.
"""

from __future__ import annotations

import argparse
import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gatewayfw import GatewayError, Unavailable
from gatewayfw.environment import is_development
from gatewayfw.testing.mongod import LocalMongod, MongodError, MongodNotFound

from . import demo
from .app import create_service, options_from

HOST = "127.0.0.1"
DATA = Path(".gateway")


def main() -> None:
    """Run the service until Ctrl-C. There are no arguments, `--help` apart."""
    argparse.ArgumentParser(prog=f"python -m {__package__}", description=__doc__).parse_args()
    if not os.environ.get("MONGODB_URI"):  # Users with public passwords do not belong in just any database.
        os.environ.setdefault("GATEWAYFW_ENV", "development")
    logging.basicConfig(format="%(levelname)s: %(message)s")
    try:
        port = port_from(os.environ.get("PORT", "8000"))
        with database() as (db, where):
            run(db, where, port)
    except Unavailable:
        sys.exit(f"{__package__}: the database does not answer; is MONGODB_URI right, and the server running?")
    except (GatewayError, MongodError, OSError) as error:
        sys.exit(f"{__package__}: {error}")
    except KeyboardInterrupt:
        pass  # Ctrl-C before, or without, the server that answers it


def port_from(text: str) -> int:
    """Return a port that is free; OSError says what to do when it is not."""
    try:
        port = int(text)
        if port == 0:
            raise ValueError
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
    except (ValueError, OverflowError):
        raise OSError(f"PORT={text} is no port number (1..65535)") from None
    except OSError as error:
        raise OSError(f"port {text}: {error.strerror}; PORT=8001 chooses another one") from error
    return port


@contextmanager
def database() -> Iterator[tuple[str | None, str]]:
    """Provide a database for `create_service`, and a line that says where its data is."""
    if uri := os.environ.get("MONGODB_URI"):
        yield uri, "the database of MONGODB_URI"
        return
    mongod = LocalMongod(DATA)
    try:
        mongod.start()
    except MongodNotFound as error:
        print(f"\n*** The data is in memory and will be lost: {error} ***\n", file=sys.stderr)
        yield None, "in memory; it is lost when this program ends"
        return
    try:
        uri = f"mongodb://{HOST}:{mongod.port}/sample?replicaSet=rs0"
        yield uri, f"{mongod.data} (MONGODB_URI='{uri}' while this runs)"
    finally:
        mongod.stop()


def run(db: str | None, where: str, port: int) -> None:
    """Seed, say how to use the service, and serve it."""
    in_development = is_development(os.environ)
    if in_development:
        os.environ.setdefault("GATEWAYFW_PLAYGROUND_TITLE", "Sample service")
        os.environ.setdefault("GATEWAYFW_PLAYGROUND_NOTE", demo.note())
    service = create_service(db)
    # On for your own machine, where only you can call it; GATEWAYFW_PLAYGROUND=0 switches it off.
    options = {"playground": in_development, **options_from(os.environ)}
    service.gw.create_app(port=port, host=HOST, **options)  # says what is wrong with them before anything is printed
    if in_development:
        demo.seed(service)
    base = f"http://{HOST}:{port}{options.get('url_prefix', '').rstrip('/')}"
    url = f"{base}/gateway"
    parts = [f"Endpoint: POST {url}", f"Data: {where}"]
    parts += [f"Playground: {base}/playground"] if options["playground"] else []
    if in_development:
        parts += [demo.credentials(service), demo.examples(service, url)]
    print("\n\n".join(parts), end="\n\nCtrl-C stops it.\n", flush=True)
    service.gw.run_server(port=port, host=HOST, **options)


if __name__ == "__main__":
    main()
