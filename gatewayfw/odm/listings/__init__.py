"""Listings: lists that clients filter, sort and read by page.

`declaration` has what an author allows, `resolution` what that means among the models, `conditions`
and `keyset` the queries, `token` where the next page begins, `listing` what authors use.
"""

from __future__ import annotations

from gatewayfw.odm.listings.listing import Listing

__all__ = ["Listing"]
