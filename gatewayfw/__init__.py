"""One endpoint, responses shaped by the client, and copies that stay correct."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatewayfw.acts import Reply
    from gatewayfw.core import Gateway, gateway
    from gatewayfw.current import current_gateway
    from gatewayfw.errors import (
        BadRequest,
        Conflict,
        DefinitionError,
        DuplicateKey,
        Forbidden,
        GatewayError,
        HttpError,
        NotFound,
        OutcomeUnknown,
        PartlyDone,
        Stale,
        StillReferenced,
        Timeout,
        TooLarge,
        Unauthenticated,
        Unavailable,
        UsageError,
        ValidationError,
    )
    from gatewayfw.files import DirectoryFiles, GridFsFiles
    from gatewayfw.schemas import (
        RelatedRelation,
        Relation,
        any_,
        array,
        binary,
        boolean,
        date,
        decimal,
        defaulted,
        described,
        email,
        enums,
        file,
        integer,
        mapping,
        nullable,
        number,
        object_,
        object_id,
        optional,
        string,
        url,
        uuid,
    )
else:

    def __getattr__(name):
        """Import a name or a part of the package when it is first asked for.

        The pytest plugin is loaded in every session of an environment, and a client needs neither Flask nor a driver.
        Type checkers read the imports above.
        """
        if name in __all__:
            modules = map(import_module, (f"{__name__}.{part}" for part in _PARTS))
            value = globals()[name] = next(vars(module)[name] for module in modules if name in vars(module))
            return value
        try:
            if not name.startswith("_"):
                return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})


__version__ = "0.1.0"

#: Where the public names are looked for, the lightest first.
_PARTS = ("errors", "schemas", "acts", "files", "core", "current")

__all__ = [
    "BadRequest",
    "Conflict",
    "DefinitionError",
    "DirectoryFiles",
    "DuplicateKey",
    "Forbidden",
    "Gateway",
    "GatewayError",
    "GridFsFiles",
    "HttpError",
    "NotFound",
    "OutcomeUnknown",
    "PartlyDone",
    "RelatedRelation",
    "Relation",
    "Reply",
    "Stale",
    "StillReferenced",
    "Timeout",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "UsageError",
    "ValidationError",
    "__version__",
    "any_",
    "array",
    "binary",
    "boolean",
    "current_gateway",
    "date",
    "decimal",
    "defaulted",
    "described",
    "email",
    "enums",
    "file",
    "gateway",
    "integer",
    "mapping",
    "nullable",
    "number",
    "object_",
    "object_id",
    "optional",
    "string",
    "url",
    "uuid",
]
