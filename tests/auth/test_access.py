"""The three access hooks: what each leaves in the context, and every message."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from bson import ObjectId

from gatewayfw import gateway
from gatewayfw.acts import ContextFns
from gatewayfw.acts.hooks import HookMark, find_mark
from gatewayfw.auth import Auth, Rule, Tokens, access_rule, all_ids, bearer, cookie, first_id, same_id
from gatewayfw.auth.access import NO_TOKEN
from gatewayfw.errors import DefinitionError, GatewayError

USER_ID = "0123456789abcdef01234567"
ROLE_ID = ObjectId("aaaaaaaaaaaaaaaaaaaaaaaa")
ROLE = {"roleId": ROLE_ID, "name": "Manager"}
HEAD = {"roleId": ObjectId("bbbbbbbbbbbbbbbbbbbbbbbb"), "name": "OrgHead", "scopeId": ObjectId(USER_ID)}
MANAGERS = Rule(roles=("Manager", "Admin"))


@pytest.fixture
def contexts():
    fns = ContextFns()
    with fns.open():
        yield fns


@pytest.fixture
def users():
    return {USER_ID: {"_id": ObjectId(USER_ID), "roles": [ROLE, HEAD]}}


@pytest.fixture
def auth(contexts, users):
    return Auth(contexts, Tokens("k" * 32), users.get)


def body(**set_):
    return {"details": {"set": set_, "get": {}}}


def refusal(hook, *args):
    with pytest.raises(GatewayError) as caught:
        hook(*args)
    return caught.value.status, caught.value.code, caught.value.message


def test_read_token_keeps_the_payload(auth, contexts):
    contexts.add_header_to_context({"Token": auth.tokens.issue({"_id": USER_ID})})
    auth.read_token()
    assert contexts.get_context_model().token["_id"] == USER_ID


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ([], "you should send your id with token key in req header"),
        ([("authorization", "x")], "you should send your id with token key in req header"),
        ([("token", "")], "Invalid or expired token"),
        ([("token", "x")], "Invalid or expired token"),
    ],
)
def test_read_token_refuses(auth, contexts, headers, message):
    contexts.add_header_to_context(headers)
    assert refusal(auth.read_token) == (401, "unauthenticated", message)


def test_two_tokens_are_refused_even_when_both_are_good(auth, contexts):
    token = auth.tokens.issue({"_id": USER_ID})
    contexts.add_header_to_context([("token", token), ("Token", token)])
    assert refusal(auth.read_token) == (401, "unauthenticated", "Invalid or expired token")


def test_load_user_keeps_the_user(auth, contexts, users):
    contexts.add_context({"token": {"_id": USER_ID}})
    auth.load_user()
    assert contexts.get_context_model().user is users[USER_ID]


@pytest.mark.parametrize(
    "payload",
    [
        None,
        {},
        *(
            {"_id": bad}
            for bad in (
                *(None, True, 1, 2**64, 1e308, float("nan"), "", "x", "\ud800" * 24, USER_ID + "\n", "\0" * 24),
                *("0" * 23, "０" * 24, "0" * 25, [], [USER_ID], {}, {"$ne": None}, {"$oid": USER_ID}),
            )
        ),
    ],
    ids=repr,
)
def test_load_user_refuses_a_token_without_a_usable_id(auth, contexts, payload):
    contexts.add_context({"token": payload})
    assert refusal(auth.load_user) == (401, "unauthenticated", "Invalid or missing token data")


def test_load_user_without_read_token_is_refused(auth):
    assert refusal(auth.load_user) == (401, "unauthenticated", "Invalid or missing token data")


def test_load_user_refuses_a_user_who_is_gone(auth, contexts):
    contexts.add_context({"token": {"_id": "f" * 24}})
    assert refusal(auth.load_user) == (401, "unauthenticated", "user not exist")


@pytest.mark.parametrize("sent", [str(ROLE_ID), str(ROLE_ID).upper()], ids=["lower", "upper"])
def test_grant_lets_the_named_role_pass(auth, contexts, users, sent):
    contexts.add_context({"user": users[USER_ID]})
    auth.grant(MANAGERS)(body(activeRoleId=sent))
    assert contexts.get_context_model().active_role is ROLE


@pytest.mark.parametrize(
    ("set_", "expected"),
    [
        ({}, (400, "validation_error", "activeRoleId is required")),
        ({"activeRoleId": None}, (400, "validation_error", "activeRoleId is required")),
        ({"activeRoleId": ""}, (403, "forbidden", "Active role not found")),
        ({"activeRoleId": "c" * 24}, (403, "forbidden", "Active role not found")),
        ({"activeRoleId": {"$ne": None}}, (403, "forbidden", "Active role not found")),
        ({"activeRoleId": str(HEAD["roleId"])}, (403, "forbidden", "You cant do this")),
    ],
    ids=["missing", "null", "empty", "someone else's", "operator", "not permitted"],
)
def test_grant_refuses(auth, contexts, users, set_, expected):
    contexts.add_context({"user": users[USER_ID]})
    assert refusal(auth.grant(MANAGERS), body(**set_)) == expected
    assert "active_role" not in contexts.get_context_model()


def test_scope_decides_with_role_and_body(auth, contexts, users):
    contexts.add_context({"user": users[USER_ID]})
    own = Rule(roles=("OrgHead",), scope=lambda role, body: same_id(role["scopeId"], body["details"]["set"]["place"]))
    check, head = auth.grant(MANAGERS, own), str(HEAD["roleId"])
    check(body(activeRoleId=head, place=USER_ID))
    assert refusal(check, body(activeRoleId=head, place="f" * 24)) == (403, "forbidden", "You cant do this")


def test_scope_must_say_true(auth, contexts, users):
    contexts.add_context({"user": users[USER_ID]})
    check = auth.grant(Rule(roles=("Manager",), scope=lambda role, body: "yes"))
    assert refusal(check, body(activeRoleId=str(ROLE_ID))) == (403, "forbidden", "You cant do this")


def test_ghost_passes_every_rule_without_an_active_role(auth, contexts):
    contexts.add_context({"user": {"isGhost": True}})
    auth.grant()(body())
    assert contexts.get_context_model().active_role is None


@pytest.mark.parametrize("flag", [1, "true", [1], None])
def test_only_true_makes_a_ghost(auth, contexts, users, flag):
    contexts.add_context({"user": {**users[USER_ID], "isGhost": flag}})
    assert refusal(auth.grant(), body(activeRoleId=str(ROLE_ID))) == (403, "forbidden", "You cant do this")


@pytest.mark.parametrize("roles", [None, [], ["Manager"], [{"name": "Manager"}], [{"roleId": None}]], ids=repr)
def test_user_without_usable_roles_has_no_active_role(auth, contexts, roles):
    contexts.add_context({"user": {"roles": roles}})
    assert refusal(auth.grant(MANAGERS), body(activeRoleId="None")) == (403, "forbidden", "Active role not found")


@pytest.mark.parametrize("context", [{}, {"user": None}], ids=["absent", "none"])
def test_who_is_not_signed_in_does_not_pass(auth, contexts, context):
    contexts.add_context(context)
    refused = (401, "unauthenticated", "user not exist")
    assert refusal(auth.grant(MANAGERS), body(activeRoleId=str(ROLE_ID))) == refused
    assert refusal(auth.grant(), body()) == refused


def test_a_user_that_is_no_mapping_is_a_fault_of_the_program(auth, contexts):
    contexts.add_context({"user": object()})
    with pytest.raises(DefinitionError, match="^grant: 'user' in the context must be a mapping, not object$"):
        auth.grant(MANAGERS)(body(activeRoleId=str(ROLE_ID)))


def test_grant_that_was_not_called_is_refused_when_the_act_is_registered(auth):
    gw = gateway()
    with pytest.raises(DefinitionError) as caught:
        gw.acts.act("user", "add", pre_act=[auth.read_token, auth.grant])(lambda body: 1)
    message = "act user.add: pre_act[1] makes a hook but is not one: call it, as in grant(Rule(roles=(...)))"
    assert caught.value.message == message


@pytest.mark.parametrize("rules", [("Manager",), (MANAGERS, None)])
def test_grant_takes_rules_only(auth, rules):
    with pytest.raises(DefinitionError, match=r"^grant: expected rules: grant\(Rule\(roles=\(\.\.\.\)\)\)$"):
        auth.grant(*rules)


@pytest.mark.parametrize("roles", ["Manager", (1,), None])
def test_rule_takes_a_tuple_of_names(roles):
    with pytest.raises(DefinitionError, match="^Rule: roles must be a tuple of names$"):
        Rule(roles=roles)


OWN, FOREIGN = "0123456789abcdef01234567", "f" * 24
SCOPED = {"roleId": ROLE_ID, "name": "OrgHead", "scopeType": "organization", "scopeId": ObjectId(OWN)}


@pytest.mark.parametrize(
    ("sent", "first", "every"),
    [
        ([OWN], True, True),
        ([OWN.upper()], True, True),
        ([ObjectId(OWN)], True, True),
        ([OWN, OWN.upper()], True, True),
        ([OWN, FOREIGN], True, False),
        ([FOREIGN, OWN], False, False),
        ([FOREIGN], False, False),
        ([OWN, "x"], False, False),
        ([OWN, None], False, False),
        ([OWN, {"$ne": None}], False, False),
        ([[OWN]], False, False),
        ([OWN + "\n"], False, False),
        ([None], False, False),
        ([], False, False),
        (None, False, False),
        (OWN, False, False),
        (ObjectId(OWN), False, False),
        ((OWN,), False, False),
        ({"0": OWN}, False, False),
        ({"$in": [OWN]}, False, False),
        (5, False, False),
    ],
    ids=repr,
)
def test_scopes_compare_the_ids_of_a_list(sent, first, every):
    found = [scope("places", "organization")(SCOPED, body(places=sent)) for scope in (first_id, all_ids)]
    assert found == [first, every]


@pytest.mark.parametrize("scope", [first_id, all_ids])
@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (SCOPED, True),
        ({**SCOPED, "scopeId": OWN.upper()}, True),
        ({**SCOPED, "scopeType": "unit"}, False),
        ({**SCOPED, "scopeType": None}, False),
        ({**SCOPED, "scopeId": None}, False),
        ({**SCOPED, "scopeId": {"$ne": None}}, False),
        ({**SCOPED, "scopeId": "None"}, False),
        ({"roleId": ROLE_ID, "name": "OrgHead"}, False),
    ],
    ids=lambda case: repr(case) if isinstance(case, bool) else str(case.get("scopeType")) + str(case.get("scopeId")),
)
def test_scopes_judge_the_role(scope, role, expected):
    assert scope("places", "organization")(role, body(places=[OWN])) is expected


@pytest.mark.parametrize("scope", [first_id, all_ids])
def test_scopes_refuse_what_the_act_did_not_ask_for(scope):
    check = scope("places", "organization")
    assert [check(SCOPED, sent) for sent in (body(), body(other=[OWN]), {"details": {"set": object()}})] == [False] * 3


@pytest.mark.parametrize("names", [("", "organization"), ("places", ""), (None, "organization"), ("places", 5)])
@pytest.mark.parametrize("scope", [first_id, all_ids])
def test_scopes_take_names_only(scope, names):
    with pytest.raises(DefinitionError, match="^scope: expected the name of a field of set and a scopeType$"):
        scope(*names)


def test_all_ids_refuses_a_foreign_id_beside_the_own(auth, contexts):
    contexts.add_context({"user": {"roles": [SCOPED]}})
    strict, by_the_letter = (
        auth.grant(Rule(roles=("OrgHead",), scope=scope("places", "organization"))) for scope in (all_ids, first_id)
    )
    sent = body(activeRoleId=str(ROLE_ID), places=[OWN, FOREIGN])
    assert refusal(strict, sent) == (403, "forbidden", "You cant do this")
    by_the_letter(sent)
    assert contexts.get_context_model().active_role is SCOPED


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (OWN, ObjectId(OWN), True),
        (OWN.upper(), OWN, True),
        (OWN, FOREIGN, False),
        (None, None, False),
        ("None", None, False),
        ("x", "x", False),
        (5, 5, False),
        ([OWN], [OWN], False),
        ({"$ne": None}, {"$ne": None}, False),
        ("０" * 24, "０" * 24, False),
    ],
    ids=repr,
)
def test_only_ids_are_the_same_id(left, right, same):
    assert (same_id(left, right), same_id(right, left)) == (same, same)


def test_hooks_of_grant_are_access_rules_and_the_others_are_not(auth):
    hooks = [auth.read_token, auth.load_user, auth.grant(), auth.grant(MANAGERS)]
    assert [getattr(hook, "is_access_rule", False) for hook in hooks] == [False, False, True, True]


def test_access_rule_marks_a_function_and_returns_it():
    def own(body):
        return None

    assert access_rule(own) is own
    assert own.is_access_rule is True


def test_access_rule_of_a_method_marks_nothing_else(auth, contexts, users):
    contexts.add_context({"token": {"_id": USER_ID}})
    marked = access_rule(auth.load_user)
    marked()
    assert contexts.get_context_model().user is users[USER_ID]
    assert marked.is_access_rule is True
    assert not hasattr(auth.load_user, "is_access_rule")


def test_access_rule_of_a_method_keeps_its_name(auth):
    marked = access_rule(auth.load_user)
    assert (marked.__name__, marked.__doc__) == ("load_user", Auth.load_user.__doc__)


@pytest.mark.parametrize(("hook", "kind"), [(None, "NoneType"), ("own", "str"), (5, "int")])
def test_access_rule_takes_functions_only(hook, kind):
    with pytest.raises(DefinitionError, match=f"^access_rule: expected a function, not {kind}$"):
        access_rule(hook)


def test_each_hook_says_what_it_needs_and_gives(contexts, users):
    carriers = bearer(), cookie("role")
    auth = Auth(contexts, Tokens("k" * 32), users.get, token_from=carriers[0], role_from=carriers[1])
    assert [find_mark(hook) for hook in (auth.read_token, auth.load_user, auth.grant(), auth.grant(MANAGERS))] == [
        HookMark("read_token", "", "token", carriers[0], None),
        HookMark("load_user", "token", "user", None, None),
        HookMark("grant", "user", "", None, None),
        HookMark("grant", "user", "", None, carriers[1]),
    ]


def test_a_hook_of_grant_tells_its_rules(auth):
    assert (auth.grant().rules, auth.grant(MANAGERS).rules) == ((), (MANAGERS,))


def test_a_rule_never_changes_and_its_roles_are_a_tuple():
    rule = Rule(["Manager"])
    assert rule.roles == ("Manager",)
    assert rule.scope is None
    assert hash(rule) == hash(Rule(("Manager",)))
    with pytest.raises(FrozenInstanceError):
        rule.roles = ("Ghost",)


def test_the_messages_of_a_missing_token_cannot_be_changed():
    with pytest.raises(TypeError):
        NO_TOKEN["header"] = "other"
