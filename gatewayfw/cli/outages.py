"""Why the database of a command is away, said once: by the error that ends it."""

from __future__ import annotations

import logging

import click

from gatewayfw.errors import GatewayError, Unavailable
from gatewayfw.odm import Odm


def tell_outages_of(odm: Odm) -> None:
    """Let the error that ends the current command say why this database is away.

    The storage logs it, too: unseen where the app's logging goes to a file, a second time where none is configured.
    """
    if context := click.get_current_context(silent=True):
        context.meta[__name__] = odm
    logger = logging.getLogger("gatewayfw.storage")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def reason_of(error: GatewayError, odm: Odm | None = None) -> str:
    """Return why a command failed, in words that are not for clients.

    Without an ``odm`` it is that of the current command, if there is one.
    """
    if odm is None and (context := click.get_current_context(silent=True)):
        odm = context.meta.get(__name__)
    trouble = odm.storage.trouble() if odm is not None and isinstance(error, Unavailable) else None
    return error.message if trouble is None else trouble.text
