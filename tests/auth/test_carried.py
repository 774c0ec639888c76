"""Tokens and roles in headers and cookies, over the endpoint: what passes and what is refused."""

from __future__ import annotations

import mongomock
import pytest
from bson import ObjectId

from gatewayfw import gateway, object_id, optional
from gatewayfw.auth import Auth, Rule, Tokens, access_rule, bearer, cookie, header, set_field
from gatewayfw.errors import DefinitionError

ID = "0123456789abcdef01234567"
ROLE, OTHER = "a" * 24, "b" * 24
USER = {
    "_id": ID,
    "roles": [{"roleId": ObjectId(ROLE), "name": "Manager"}, {"roleId": ObjectId(OTHER), "name": "Guest"}],
}
TOKENS = Tokens("k" * 32)
GOOD = TOKENS.issue({"_id": ID})
SIGNED_IN = (200, "Manager")
EXPIRED = (401, "Invalid or expired token")


@pytest.fixture(params=[True, False], ids=["lane", "flask"])
def ask(request):
    """Call an act for managers whose token and role are where ``options`` say; status and body or message."""

    def ask(headers, set_=None, content_type="application/json", **options):
        gw = gateway()
        gw.odm.set_db(mongomock.MongoClient().test)
        auth = Auth(gw.context_fns, TOKENS, {ID: USER}.get, **options)
        hooks = [auth.read_token, auth.load_user, auth.grant(Rule(roles=("Manager",)))]
        fields = {name: optional(object_id()) for name in ("activeRoleId", "as")}

        @gw.acts.act("user", "name", set=fields, pre_act=hooks)
        def name(body):
            return gw.context_fns.get_context_model()["active_role"]["name"]

        body = {"model": "user", "act": "name", "details": {"set": set_ or {}, "get": {}}}
        client = gw.create_app(fast_lane=request.param).test_client(use_cookies=False)
        data = gw.create_app().json.dumps(body)
        reply = client.post("/gateway", data=data, headers=headers, content_type=content_type)
        found = reply.json["body"]
        shown = found["message"] if isinstance(found, dict) else found
        if reply.status_code == 401:
            return reply.status_code, shown, reply.headers["WWW-Authenticate"]
        return reply.status_code, shown

    return ask


ROLE_IN_SET = {"activeRoleId": ROLE}
HEADER, BEARER, COOKIE = ({"token_from": carrier} for carrier in (header("X-Key"), bearer(), cookie("sid")))
TOKEN_CASES = {
    "header": (HEADER, [("X-Key", GOOD)], SIGNED_IN),
    "header missing": (
        HEADER,
        [("token", GOOD)],
        (401, "you should send your id with x-key key in req header", "Token"),
    ),
    "header bad": (HEADER, [("X-Key", GOOD + "x")], (*EXPIRED, "Token")),
    "header twice": (HEADER, [("X-Key", GOOD), ("X-Key", GOOD)], (*EXPIRED, "Token")),
    "bearer": (BEARER, [("Authorization", f"Bearer {GOOD}")], SIGNED_IN),
    "bearer in lower case": (BEARER, [("Authorization", f"bearer {GOOD}")], SIGNED_IN),
    "bearer missing": (
        BEARER,
        [("token", GOOD)],
        (401, "you should send your token as Authorization: Bearer", "Bearer"),
    ),
    "another scheme": (
        BEARER,
        [("Authorization", f"Basic {GOOD}")],
        (401, "you should send your token as Authorization: Bearer", "Bearer"),
    ),
    "no scheme": (
        BEARER,
        [("Authorization", GOOD)],
        (401, "you should send your token as Authorization: Bearer", "Bearer"),
    ),
    "bearer empty": (BEARER, [("Authorization", "Bearer ")], (*EXPIRED, "Bearer")),
    "bearer twice": (BEARER, [("Authorization", f"Bearer {GOOD}, Bearer {GOOD}")], (*EXPIRED, "Bearer")),
    "cookie": (COOKIE, [("Cookie", f"theme=dark; sid={GOOD}")], SIGNED_IN),
    "cookie missing": (
        COOKIE,
        [("Cookie", "theme=dark"), ("token", GOOD)],
        (401, "you should send your token in the cookie sid", "Token"),
    ),
    "cookie twice": (COOKIE, [("Cookie", f"sid={GOOD}; sid={GOOD}")], (*EXPIRED, "Token")),
    "cookie in quotes": (COOKIE, [("Cookie", f'sid="{GOOD}"')], (*EXPIRED, "Token")),
}


@pytest.mark.parametrize(("options", "headers", "expected"), TOKEN_CASES.values(), ids=TOKEN_CASES)
def test_a_token_is_taken_from_where_it_is_said_to_be_and_from_nowhere_else(ask, options, headers, expected):
    assert ask(headers, ROLE_IN_SET, **options) == expected


IN_FIELD, IN_HEADER, IN_COOKIE = (
    {"role_from": carrier} for carrier in (set_field("as"), header("X-Role"), cookie("role"))
)
NOT_FOUND, REFUSED = (403, "Active role not found"), (403, "You cant do this")
ROLE_CASES = {
    "field": (IN_FIELD, [], {"as": ROLE}, SIGNED_IN),
    "field missing": (IN_FIELD, [], ROLE_IN_SET, (400, "as is required")),
    "field of another role": (IN_FIELD, [], {"as": OTHER}, REFUSED),
    "header": (IN_HEADER, [("X-Role", ROLE.upper())], {}, SIGNED_IN),
    "header missing": (IN_HEADER, [], ROLE_IN_SET, (400, "x-role is required")),
    "header empty": (IN_HEADER, [("X-Role", "")], {}, NOT_FOUND),
    "header unknown": (IN_HEADER, [("X-Role", "c" * 24)], {}, NOT_FOUND),
    "header of another role": (IN_HEADER, [("X-Role", OTHER)], {}, REFUSED),
    "header twice": (IN_HEADER, [("X-Role", ROLE), ("X-Role", ROLE)], {}, NOT_FOUND),
    "cookie": (IN_COOKIE, [("Cookie", f"role={ROLE}")], {}, SIGNED_IN),
    "cookie missing": (IN_COOKIE, [("X-Role", ROLE)], {}, (400, "role is required")),
    "cookie twice": (IN_COOKIE, [("Cookie", f"role={ROLE}; role={ROLE}")], {}, NOT_FOUND),
}


@pytest.mark.parametrize(("options", "headers", "set_", "expected"), ROLE_CASES.values(), ids=ROLE_CASES)
def test_a_role_is_taken_from_where_it_is_said_to_be_and_from_nowhere_else(ask, options, headers, set_, expected):
    assert ask([("token", GOOD), *headers], set_, **options) == expected


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_of_another_site_gets_nothing_done_with_a_cookie(ask, content_type):
    status, _ = ask([("Cookie", f"sid={GOOD}")], ROLE_IN_SET, content_type, token_from=cookie("sid"))
    assert status == 415


BAD = {
    "token in set": ({"token_from": set_field("token")}, "token_from: expected header(...), bearer() or cookie(...)"),
    "token by name": ({"token_from": "token"}, "token_from: expected header(...), bearer() or cookie(...)"),
    "token not called": ({"token_from": bearer}, "token_from: expected header(...), bearer() or cookie(...)"),
    "role as bearer": ({"role_from": bearer()}, "role_from: expected set_field(...), header(...) or cookie(...)"),
    "no role": ({"role_from": None}, "role_from: expected set_field(...), header(...) or cookie(...)"),
}


@pytest.mark.parametrize(("options", "problem"), BAD.values(), ids=BAD)
def test_what_carries_no_token_or_role_is_refused(options, problem):
    with pytest.raises(DefinitionError) as raised:
        Auth(gateway().context_fns, TOKENS, {}.get, **options)
    assert raised.value.message == f"Auth: {problem}"


def test_a_mark_on_one_use_of_read_token_is_on_no_other():
    gw = gateway(require_access=True)
    auth = Auth(gw.context_fns, TOKENS, {}.get)
    gw.acts.act("user", "any", pre_act=[access_rule(auth.read_token)])(lambda body: None)
    with pytest.raises(DefinitionError, match="no access rule"):
        gw.acts.act("user", "other", pre_act=[auth.read_token])(lambda body: None)
