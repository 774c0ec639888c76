"""What the package offers to who writes hooks."""

from gatewayfw import auth

NAMES = (
    "Auth Carrier PasswordHasher Pbkdf2Hasher Rule Sha256Hasher Tokens access_rule all_ids bearer cookie "
    "fallbacks_from_environment first_id header key_from_environment same_id set_field"
)


def test_the_names_of_the_package():
    assert auth.__all__ == NAMES.split()
