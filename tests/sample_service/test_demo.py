"""The demo data: what is in it, and that the printed commands work."""

from __future__ import annotations

import json
import shlex

from sample_service import demo
from tests.sample_service.conftest import ROLES, user_doc


def body_of(command):
    """The headers and the body of a printed curl command, as a shell reads it."""
    words = shlex.split(command)
    return [words[i + 1] for i, word in enumerate(words) if word == "-H"], json.loads(words[words.index("-d") + 1])


def post(service, command):
    headers, body = body_of(command)
    reply = (
        service.gw.create_app()
        .test_client()
        .post("/gateway", json=body, headers=[tuple(header.split(": ", 1)) for header in headers])
    )
    return reply.status_code, reply.get_json()


def test_seed_makes_a_user_in_each_role(service):
    assert demo.seed(service) is True
    users = service.users.find(projection={"roles": 1}).sort("_id").to_list()
    assert [[role["name"] for role in user["roles"]] for user in users] == [[name] for name in ROLES]
    assert demo.credentials(service).splitlines()[1:] == [
        f"{name:<10}{name.lower() + '@example.com':<24}demo-{name.lower()}" for name in ROLES
    ]


def test_seed_leaves_a_database_with_users_alone(service, digest):
    service.users.insert_one(doc=user_doc("One"))
    before = digest()
    assert demo.seed(service) is False
    assert digest() == before
    assert demo.credentials(service) == "There are no demo users in this database."
    assert demo.examples(service, "http://127.0.0.1/gateway") == ""


def test_printed_commands_work_as_they_are(service):
    demo.seed(service)
    login, add_user = demo.examples(service, "http://127.0.0.1/gateway").split("\n\n")
    status, envelope = post(service, login)
    assert status == 200
    assert sorted(envelope["body"]) == ["roles", "token", "user"]
    assert envelope["success"] is True
    status, envelope = post(service, add_user)
    assert status == 200
    assert envelope["body"].pop("_id") is not None
    assert envelope == {
        "body": {"email": "nina@example.com", "isActive": True, "organizations": [{"name": "Harbour Works"}]},
        "success": True,
    }


def test_demo_heads_may_do_what_their_role_says(service):
    demo.seed(service)
    head = service.users.find_one(filters={"email": "orghead@example.com"})
    assert head["roles"][0]["scopeId"] == head["organizations"][0]["_id"]
