"""What programs read: why a call failed; why a value was refused, with its bounds.

The lists of codes are closed, but an act may fail with a code of its own. Python's clients have these types as they
stand here, other exports from the catalog.
"""

from typing import Any, Literal, TypedDict

#: Why a call failed, in the words of the gateway and of clients of Python.
GatewayCode = Literal[
    "bad_gateway", "bad_request", "conflict", "definition_error", "duplicate_key", "error", "forbidden",
    "gateway_timeout", "hidden", "in_progress", "internal_error", "key_reused", "method_not_allowed", "not_done",
    "not_found", "outcome_unknown", "partly_done", "precondition_failed", "rate_limited", "remote_error",
    "remote_timeout", "reply_too_large", "stale", "still_referenced", "storage_error", "timeout", "too_large",
    "too_many_requests", "unauthenticated", "unavailable", "unsupported_media_type", "usage_error", "validation_error",
]  # fmt: skip
ClientCode = Literal["bad_reply", "no_reply", "timeout", "unreachable"]
#: A bound as JSON: that of decimals, dates and times is text.
ErrorBound = int | float | str
#: What a value should have been.
ExpectedType = Literal[
    "base64", "boolean", "date", "datetime", "decimal", "duration", "email", "file", "integer", "ip", "ip_interface",
    "list", "number", "object", "object_id", "revision", "selection", "string", "time", "url", "uuid",
]  # fmt: skip
PlainCode = Literal[
    "bad_token", "fixed", "invalid", "misfit", "not_a_key", "not_as_filtered", "not_kept", "not_storable", "not_whole",
    "null", "overflow", "repeated", "required", "taken", "unknown",
]  # fmt: skip
LeastCode = Literal["not_greater", "too_short", "too_small"]
MostCode = Literal[
    "not_less", "too_deep", "too_large", "too_long", "too_many_bytes", "too_many_digits", "too_many_fields",
    "too_many_places", "too_many_relations",
]  # fmt: skip
ChoiceCode = Literal["excluded", "no_operator", "not_a_choice"]

PlainDetail = TypedDict("PlainDetail", {"code": PlainCode})
TypeDetail = TypedDict("TypeDetail", {"code": Literal["wrong_type"], "expected": ExpectedType})
LeastDetail = TypedDict("LeastDetail", {"code": LeastCode, "minimum": ErrorBound})
MostDetail = TypedDict("MostDetail", {"code": MostCode, "maximum": ErrorBound})
RangeDetail = TypedDict("RangeDetail", {"code": Literal["out_of_range"], "minimum": int, "maximum": int})
LengthDetail = TypedDict("LengthDetail", {"code": Literal["wrong_length"], "length": int})
#: The pattern is Python's, for the whole text; null where a check cannot be said so.
PatternDetail = TypedDict("PatternDetail", {"code": Literal["no_match"], "pattern": str | None})
ChoiceDetail = TypedDict("ChoiceDetail", {"code": ChoiceCode, "choices": list[Any]})
StaleDetail = TypedDict("StaleDetail", {"code": Literal["stale"], "revision": int})

ErrorDetail = (
    PlainDetail | TypeDetail | LeastDetail | MostDetail | RangeDetail | LengthDetail | PatternDetail | ChoiceDetail
    | StaleDetail
)  # fmt: skip
SingleCode = Literal["wrong_type", "out_of_range", "wrong_length", "no_match", "stale"]
ErrorCode = PlainCode | LeastCode | MostCode | ChoiceCode | SingleCode
