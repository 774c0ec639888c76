"""The contract's spelling of parameters, and their Python names.

Methods are written once, in PEP 8. Where the contract calls them with one object, the object
and the same keys as keywords are both accepted; this module holds the only table of names.
Source: specification 5, 18.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")

#: The service of all acts that are registered in no other service.
MAIN = "main"
#: Contract spelling -> Python parameter. Names that are spelled the same need no entry.
PARAMETERS: Mapping[str, str] = {
    "actName": "act_name",
    "corsHeaders": "cors_headers",
    "hardCascade": "hard_cascade",
    "idempotentBy": "idempotent_by",
    "maxGetDepth": "max_get_depth",
    "maxGetLeaves": "max_get_leaves",
    "maxReplyBytes": "max_reply_bytes",
    "onError": "on_error",
    "postAct": "post_act",
    "preAct": "pre_act",
    "preValidation": "pre_validation",
    "pureFields": "pure_fields",
    "staticPath": "static_path",
    "typeGeneration": "type_generation",
    "validationRunType": "validation_run_type",
}

#: Parameters that only keywords may give, because an object may be built from a request. Our choice.
_NO_KEYS = frozenset({"reveal"})


def pythonic(config: Mapping[str, Any] | None, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments that contract spellings mean.

    Takes an object or keywords. An unknown key is passed on, so that the called method names it in its ``TypeError``.

    Raises:
        TypeError: ``config`` is not a mapping with string keys, it holds ``reveal``, or a key is given twice.
    """
    if config is not None and not isinstance(config, Mapping):
        raise TypeError(f"expected one object or keywords, not {type(config).__name__}")
    if config and (kept := _NO_KEYS.intersection(config)):
        raise TypeError(f"{min(kept)!r} is no key of the object: only a keyword of the call")
    arguments: dict[str, Any] = {}
    for key, value in [*(config or {}).items(), *keys.items()]:
        if not isinstance(key, str):
            raise TypeError(f"keys must be strings, not {type(key).__name__}")
        name = PARAMETERS.get(key, key)
        if name in arguments:
            raise TypeError(f"{key!r} is given twice")
        arguments[name] = value
    return arguments


def as_contract(method: Callable[..., T]) -> Callable[..., T]:
    """Return a method as the contract calls it: with one object or keywords."""

    @wraps(method)
    def call(self: Any, config: Mapping[str, Any] | None = None, /, **keys: Any) -> T:
        return method(self, **pythonic(config, keys))

    return call
