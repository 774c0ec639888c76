"""Who calls, and what they may do: tokens, passwords and access rules for hooks."""

from gatewayfw.acts.headers import set_field
from gatewayfw.auth.access import Auth, Rule, access_rule, all_ids, first_id, same_id
from gatewayfw.auth.passwords import PasswordHasher, Pbkdf2Hasher, Sha256Hasher
from gatewayfw.auth.tokens import Tokens, fallbacks_from_environment, key_from_environment
from gatewayfw.token_carriers import Carrier, bearer, cookie, header

__all__ = [
    "Auth",
    "Carrier",
    "PasswordHasher",
    "Pbkdf2Hasher",
    "Rule",
    "Sha256Hasher",
    "Tokens",
    "access_rule",
    "all_ids",
    "bearer",
    "cookie",
    "fallbacks_from_environment",
    "first_id",
    "header",
    "key_from_environment",
    "same_id",
    "set_field",
]
