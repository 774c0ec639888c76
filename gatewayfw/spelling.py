"""The contract's spelling of parameters, and their Python names.

Methods are written once, in PEP 8. Where the contract calls them with one object, the object
and the same keys as keywords are both accepted; this module holds the only table of names.
Source: contract, "Registration interface" and "Model definition".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Contract spelling -> Python parameter. Names that are spelled the same need no entry.
PARAMETERS: Mapping[str, str] = {
    "actName": "act_name",
    "corsHeaders": "cors_headers",
    "hardCascade": "hard_cascade",
    "maxGetDepth": "max_get_depth",
    "maxGetLeaves": "max_get_leaves",
    "preAct": "pre_act",
    "preValidation": "pre_validation",
    "pureFields": "pure_fields",
    "staticPath": "static_path",
    "typeGeneration": "type_generation",
    "validationRunType": "validation_run_type",
}


def pythonic(config: Mapping[str, Any] | None, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments that an object, or keywords, in the contract's spelling mean.

    A key that no parameter has is passed on, so that the called method names it in its
    ``TypeError``.

    Raises:
        TypeError: ``config`` is not a mapping with string keys, or a key is given twice.
    """
    if config is not None and not isinstance(config, Mapping):
        raise TypeError(f"expected one object or keywords, not {type(config).__name__}")
    arguments: dict[str, Any] = {}
    for key, value in [*(config or {}).items(), *keys.items()]:
        if not isinstance(key, str):
            raise TypeError(f"keys must be strings, not {type(key).__name__}")
        name = PARAMETERS.get(key, key)
        if name in arguments:
            raise TypeError(f"{key!r} is given twice")
        arguments[name] = value
    return arguments
