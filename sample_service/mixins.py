"""Parts of `set` that several acts share."""

from __future__ import annotations

from gatewayfw import defaulted, integer, optional, string

#: The role the caller acts in. Optional here, because the access check says when it is missing.
ACTIVE_ROLE = {"activeRoleId": optional(string())}

#: Which part of a list to return.
PAGE = {
    "skip": defaulted(integer(minimum=0, maximum=10_000), 0),
    "limit": defaulted(integer(minimum=1, maximum=100), 20),
}
