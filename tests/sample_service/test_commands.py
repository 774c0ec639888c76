"""The commands of the service: the first user, and the demo data."""

from __future__ import annotations

import pytest
from flask import Flask

from sample_service import commands, demo
from tests.sample_service.conftest import HASH, PASSWORD, user_doc


@pytest.fixture
def run(service):
    """Run a command: ``run("create-user", "--ghost", input=...)`` gives exit status and output."""
    app = Flask("commands")
    commands.add_to(app, service, in_memory=False)

    def run(*words: str, input: str | None = None) -> tuple[int, str]:
        result = app.test_cli_runner().invoke(args=list(words), input=input)
        return result.exit_code, result.output

    return run


CREATE = ("create-user", "--email", "first@example.com")


@pytest.mark.parametrize(
    ("flag", "rights", "kind"),
    [("--ghost", {"isGhost": True}, "the ghost"), ("--manager", {"roles": [{"name": "Manager"}]}, "the Manager")],
)
def test_create_user_stores_the_hash_and_the_rights(service, run, flag, rights, kind):
    result = run(*CREATE, flag, "--password-stdin", input=PASSWORD + "\n")
    user = service.users.find_one(filters={"email": "first@example.com"}, reveal=["password"])
    id_, hash_ = user.pop("_id"), user.pop("password")
    for role in user.get("roles", []):
        del role["roleId"]
    names = {"first_name": "First", "last_name": "User", "email": "first@example.com", "isActive": True}
    assert (result, hash_) == ((0, f"created {kind} first@example.com, _id {id_}\n"), HASH)
    assert {name: value for name, value in user.items() if value != []} == {**names, **rights}


def test_user_so_created_can_log_in(service, run):
    assert run(*CREATE, "--manager", "--first-name", "Mary", input=f"{PASSWORD}\n{PASSWORD}\n")[0] == 0
    details = {
        "set": {"email": "first@example.com", "password": PASSWORD},
        "get": {"user": {"first_name": 1, "_id": 0}},
    }
    reply = (
        service.gw.create_app()
        .test_client()
        .post("/gateway", json={"model": "user", "act": "login", "details": details})
    )
    assert reply.get_json() == {"body": {"user": {"first_name": "Mary"}}, "success": True}


def test_password_is_asked_for_twice_and_never_shown(service, run):
    status, output = run(*CREATE, "--ghost", input=f"{PASSWORD}\nother\n{PASSWORD}\n{PASSWORD}\n")
    assert status == 0
    assert output.splitlines()[:2] == ["Password: ", "Repeat for confirmation: "]
    assert PASSWORD not in output


@pytest.mark.parametrize(
    ("words", "input", "status", "message"),
    [
        (CREATE, "", 2, "Error: give either --ghost or --manager\n"),
        ((*CREATE, "--ghost", "--manager"), "", 2, "Error: give either --ghost or --manager\n"),
        (("create-user", "--ghost"), "", 2, "Error: Missing option '--email'.\n"),
        (("create-user", "--ghost", "--email", " "), "", 2, "Error: the e-mail is empty\n"),
        ((*CREATE, "--ghost", "--password-stdin"), "\n", 1, "Error: the password is empty\n"),
        (
            (*CREATE, "--ghost", "--password-stdin"),
            "x" * 4097,
            1,
            "Error: validation error: password: Must be text of at most 4096 bytes.\n",
        ),
    ],
    ids=["no kind", "two kinds", "no e-mail", "empty e-mail", "empty password", "long password"],
)
def test_create_user_refuses(service, run, words, input, status, message):
    result = run(*words, input=input)
    assert result[0] == status
    assert result[1].endswith(message)
    assert service.users.count() == 0


def test_create_user_refuses_an_email_that_is_taken(service, run, digest):
    service.users.insert_one(doc={**user_doc("x"), "email": "first@example.com"})
    before = digest()
    assert run(*CREATE, "--ghost", "--password-stdin", input="pass\n") == (
        1,
        "Error: Duplicate key error: there is a user with this e-mail already\n",
    )
    assert digest() == before


def test_seed_adds_the_demo_data_once(service, run, digest):
    assert run("seed") == (0, demo.credentials(service) + "\n")
    before = digest()
    assert run("seed") == (0, "there are users already: nothing was added\n")
    assert digest() == before


@pytest.mark.parametrize("words", [(*CREATE, "--ghost"), ("seed",)], ids=["create-user", "seed"])
def test_commands_refuse_when_nothing_would_remain(service, words):
    app = Flask("commands")
    commands.add_to(app, service, in_memory=True)
    result = app.test_cli_runner().invoke(args=list(words))
    assert result.exit_code == 1
    assert result.output == "Error: there is no database to write to: set MONGODB_URI\n"
    assert service.users.count() == 0
