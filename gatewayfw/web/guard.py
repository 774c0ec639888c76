"""Guards: functions of a request that say who may see a page."""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType
from typing import Any

from flask import Request
from werkzeug.exceptions import HTTPException

from gatewayfw.errors import DefinitionError
from gatewayfw.logs import traceback_of
from gatewayfw.web.reply import logger

#: Whether a request may see a page.
Guard = Callable[[Request], bool]


def accepts(guard: Guard | None, sent: Request, name: str) -> bool:
    """Tell whether a guard, ``name`` in messages, accepts a request; None accepts all.

    A guard that fails, or answers neither true nor false, refuses and is logged; one that aborts (an HTTPException)
    only refuses.
    """
    if guard is None:
        return True
    try:
        answer: Any = guard(sent)
        if isinstance(answer, CoroutineType):
            answer.close()  # Otherwise Python warns that it was never awaited.
        if not isinstance(answer, bool):  # no other object may count as true
            raise DefinitionError(f"{name} must answer true or false, not {type(answer).__name__}")
        return answer
    except HTTPException:
        return False
    except Exception as error:  # Raised by the guard: its own reply would reveal the page.
        logger.error("%s failed\n%s", name, traceback_of(error))
        return False
