"""Kinds that models and acts share, and parts of `set` that several acts share. The sizes are our choice."""

from __future__ import annotations

from gatewayfw import described, optional, string

#: A name of somebody or something, or a position.
NAME = string(size=(None, 200))
DESCRIPTION = string(size=(None, 2000))
#: No address is longer. Source: RFC 5321, section 4.5.3.1.
EMAIL = string(size=(None, 254))
#: A new password, as typed.
PASSWORD = string(size=(None, 200))

#: The role the caller acts in. Optional here, because the access check reports a missing one.
ACTIVE_ROLE = {"activeRoleId": optional(described(string(), "Acts with the rights of this role."))}
