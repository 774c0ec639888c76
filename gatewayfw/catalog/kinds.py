"""Fields in plain words: which values they take, as JSON.

Each is an object with ``kind`` and ``presence``, and what goes with that kind:

====================== ===================================================================
``string``             ``minLength``, ``maxLength``, ``pattern`` (for the whole text, in
                       Python's notation), ``format`` (``uri``, ``uuid``, ``date``, ``time``);
                       ``sized`` is false where ``maxLength`` is the setting ``max_text``,
                       because the definition states none
``object_id``          ``of``: the model whose ids are meant, where its author says
``email``, ``date``,
``boolean``, ``any``
``number``, ``integer``  ``minimum``, ``maximum``
``decimal``            ``places``, ``minimum``, ``maximum``: texts; ``whole`` is true where a whole
                       number is taken, too, as in acts of mode ``create``
``binary``             ``minBytes``, ``maxBytes``; ``sized`` as for ``string``
``file``               a part of ``multipart/form-data``: ``maxBytes``, and ``types``, media types of which
                       it has one; an empty list for any
``mapping``            ``values``: what stands under each key, of which any is taken
``enums``              ``choices``
``array``              ``items``, ``minItems``, ``maxItems``
``object``             ``fields`` by name, or null where any key is taken; ``open`` where
                       others are taken, too
``selection``          see `gatewayfw.schemas.get`
``filter``             of a listing: ``fields`` by name, each with ``value``, the kind that its values are
                       compared with, and ``operators``, of which ``eq`` may be left out
``count``              of a listing: a whole number up to ``most``, beyond it ``{"atLeast": most}``
====================== ===================================================================

``presence`` is ``required``, ``optional`` or ``defaulted``; then ``default`` is the value, unless a
function makes it or JSON has no form of it. ``nullable`` is true where null is taken. ``description``
is what its author wrote. Of marshmallow's own fields the usual ones are known; any other is ``any``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatewayfw.schemas.kinds.base import Description
from gatewayfw.schemas.kinds.descriptions import describe as kind_of
from gatewayfw.schemas.kinds.descriptions import describe_all as kinds_of
from gatewayfw.schemas.kinds.descriptions import describe_sent as sent_kind_of

__all__ = ["Description", "kind_of", "kinds_of", "operands_of", "sent_kind_of"]


def operands_of(field: Mapping[str, Any]) -> dict[str, Description]:
    """Return what each operator takes by which a listing filters a field, as a kind."""
    value = {name: part for name, part in field["value"].items() if name not in ("of", "description")}
    value_or_null = {**value, "nullable": True}
    known = {
        **dict.fromkeys(("eq", "ne"), value_or_null),
        **dict.fromkeys(("in", "nin"), {"kind": "array", "items": value_or_null}),
        "exists": {"kind": "boolean"},
        "prefix": {"kind": "string"},
        "contains": {"kind": "string", "minLength": 1, "maxLength": 200},
    }
    return {name: known.get(name, {**value, "nullable": False}) for name in field["operators"]}
