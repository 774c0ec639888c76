"""Policies: which documents and fields callers of a role see and change.

`declaration` parses them, `joining` says what all of a model mean together for a role, and judges what a client asks
for, and `policies` knows who calls. What an operation does with that is decided in `gatewayfw.odm.reading.rights`.
"""

from gatewayfw.policies.policies import Policies

__all__ = ["Policies"]
