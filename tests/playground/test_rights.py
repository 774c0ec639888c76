"""What users may call and see: in the list of acts, beside each other, and marked where they do not see it."""

from __future__ import annotations

import json

import mongomock
import pytest
from bson import ObjectId

from gatewayfw import gateway
from gatewayfw.auth import Auth, Rule, Tokens
from gatewayfw.schemas import integer, object_id, optional, string
from tests.playground.conftest import empty, open_act, send
from tests.playground.test_acts import at, reply_rows, request_of
from tests.playground.test_looks import CUT, WIDTHS, axe, judged  # noqa: F401  # a fixture

PREFIX = "gatewayfw:/playground/:"
ROLES = {"Clerk": "a" * 24, "Auditor": "b" * 24, "Temp": "c" * 24}
TOKENS = Tokens("k" * 32)


def rights_app():
    """Return an application in which a clerk does all, an auditor reads and sees no price, and a temp sees no loans."""
    gw = gateway(roles=list(ROLES))
    gw.odm.set_db(mongomock.MongoClient().test)
    members = gw.odm.new_model("member", {"name": string(), "email": optional(string())})
    loans = gw.odm.new_model(
        "loan",
        {"title": string(), "fee": integer(), "branch": string()},
        {"member": {"schemaName": "member", "type": "single"}},
    )
    gw.policy("loan", roles=["Clerk"], fixed=["branch"])
    gw.policy("loan", roles=["Auditor"], hide=["fee"], rows=lambda context: {"branch": "Oak"}, write=False)
    gw.policy("member", roles=["Clerk"])
    gw.policy("member", roles=["Temp"], hide=["email"], own=lambda context: [])

    def user(id_):
        roles = [{"roleId": ObjectId(id_), "name": name} for name, one in ROLES.items() if one == id_]
        return {"_id": ObjectId(id_), "roles": roles}

    auth = Auth(gw.context_fns, TOKENS, user)

    def act(name, *roles, **more):
        hooks = [auth.read_token, auth.load_user, auth.grant(Rule(roles=roles))]
        role = {"activeRoleId": object_id()}
        return gw.acts.act("loan", name, set=role, get=1, mode="create", pre_act=hooks, **more)

    act("listLoans", "Clerk", "Auditor", returns="many")(
        lambda body: loans.find({}, projection=body["details"]["get"]).to_list()
    )
    act("closeLoan", "Clerk")(lambda body: None)
    gw.acts.act("loan", "countLoans", public=True)(lambda body: 1)
    ann = members.insert_one({"name": "Ann"})["_id"]
    for title, branch in (("Emma", "Oak"), ("Dune", "Elm")):
        loan = {"title": title, "fee": 3, "branch": branch}
        loans.insert_one(loan, relations={"member": {"_ids": ann}})
    return gw.create_app(playground=True)


@pytest.fixture
def service_url(stage):
    """The service of clerks and auditors."""
    return stage(rights_app())


@pytest.fixture
def signed_in(page):
    """A function that signs people in, by the names of their roles; the last one is who sends."""

    def done(*names):
        people = [
            {
                "id": name,
                "token": TOKENS.issue({"_id": ROLES[name]}),
                "session": {"who": f"{name.lower()}@example.com", "roles": [{"id": ROLES[name], "name": name}]},
            }
            for name in names
        ]
        given = {"identities": people, "token": people[-1]["token"]}
        page.evaluate(
            "given => Object.entries(given).forEach(([name, text]) => sessionStorage.setItem(name, text))",
            {PREFIX + name: json.dumps(value) for name, value in given.items()},
        )
        page.reload()
        page.locator(".loading").wait_for(state="detached")
        return page

    return done


def listed(page):
    return page.get_by_role("navigation", name="Acts").locator(".acts-act > .act").all_inner_texts()


def test_the_list_has_only_what_one_may_call(signed_in, page):
    every = ["listLoans", "closeLoan", "countLoans"]
    only = page.get_by_label("Only what I may call")
    only.check()
    assert listed(page) == ["countLoans"]
    signed_in("Auditor")
    assert listed(page) == every
    only.check()
    assert listed(page) == ["listLoans", "countLoans"]
    page.get_by_label("Filter acts").fill("list")
    assert listed(page) == ["listLoans"]
    only.uncheck()
    page.get_by_label("Filter acts").fill("")
    signed_in("Clerk")
    assert listed(page) == every
    assert only.count() == 0


def table_of(page, part):
    """The rows of the table of acts or models by user."""
    page.get_by_role("tab", name=part, exact=True).click()
    table = page.get_by_role("region", name=f"{part} by user")
    table.wait_for()
    heads = [text.replace("\n", " ") for text in table.locator("th").all_inner_texts()]
    rows = [[cell.strip() for cell in row.locator("td").all_inner_texts()] for row in table.locator("tbody tr").all()]
    return [heads, *rows]


def open_rights(page):
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("who may")
    page.keyboard.press("Enter")
    return page.get_by_role("dialog", name="Who may do what")


def test_users_are_compared_side_by_side(signed_in, page):
    signed_in("Clerk", "Auditor", "Temp")
    dialog = open_rights(page)
    people = [f"{name.lower()}@example.com {name}" for name in ROLES]
    assert table_of(page, "Acts") == [
        ["Act", *people, "Nobody not signed in"],
        ["loan.listLoans", "may call", "may call", "may not", "has to log in"],
        ["loan.closeLoan", "may call", "may not", "may not", "has to log in"],
        ["loan.countLoans", "may call", "may call", "may call", "may call"],
    ]
    assert table_of(page, "Models") == [
        ["Model", *people, "Nobody not signed in"],
        ["member", "all documents", "nothing", "all documents; email in their own only", "nothing"],
        [
            "loan",
            "all documents; may not change branch",
            "some documents; without fee; read only",
            "nothing",
            "nothing",
        ],
    ]
    dialog.get_by_label("Only where they differ").check()
    assert len(table_of(page, "Acts")) == 3
    dialog.get_by_role("button", name="loan.closeLoan").click()
    page.get_by_role("heading", name="loan.closeLoan").wait_for()


def test_what_one_does_not_see_is_marked_and_not_asked_for(signed_in, page):
    signed_in("Clerk", "Auditor")
    open_act(page, "listLoans")
    assert json.loads(request_of(page))["get"] == {"title": 1, "branch": 1}
    hidden = page.locator("label:has(> [data-path='get.fee']) .projection-hidden")
    hidden.wait_for()
    page.get_by_role("region", name="Request").get_by_role("button", name="All", exact=True).click()
    assert not at(page, "get.fee").is_checked()
    send(page)
    assert [row for row in reply_rows(page) if row.startswith("title")] == ['title:"Emma"']
    link = page.locator("li:has(> div [data-path='get.member'])")
    assert "hidden" in link.inner_text()  # an auditor sees no member
    page.get_by_role("region", name="Request").get_by_role("button", name="as Auditor").click()
    page.get_by_role("menuitemradio", name="clerk@example.com").click()
    hidden.wait_for(state="detached")


def test_what_one_sees_in_ones_own_documents_is_told_apart(signed_in, page, service_url):
    signed_in("Temp")
    open_act(page, "listLoans")
    page.get_by_role("button", name="Fields of member").click()
    marks = {name: page.locator(f"label:has(> [data-path='get.member.{name}'])") for name in ("name", "email")}
    assert [mark.locator(".projection-hidden").count() for mark in marks.values()] == [0, 1]
    assert "own only" in marks["email"].inner_text()
    page.goto(f"{service_url}/playground#/schema/member")
    page.get_by_text("hidden from Temp but in their own").wait_for()


def test_the_editor_offers_nothing_that_one_does_not_see(signed_in, page):
    for name, offered in (("Auditor", ["title"]), ("Clerk", ["fee", "member", "title"])):
        signed_in(name)
        open_act(page, "listLoans")
        page.get_by_role("tab", name="JSON").click()
        page.locator(".cm-content").wait_for()
        editor = page.get_by_role("textbox", name="Details as JSON")
        empty(editor)
        editor.press_sequentially('{"get": {"e')
        page.get_by_role("option", name="title").wait_for()
        options = page.get_by_role("option").locator(".cm-completionLabel").all_inner_texts()
        assert sorted(options) == offered
        empty(editor)


def test_the_schema_marks_it_too(signed_in, page, service_url):
    signed_in("Auditor")
    page.goto(f"{service_url}/playground#/schema/loan")
    detail = page.get_by_role("article", name="loan")
    detail.get_by_text("Auditor sees some documents only and changes none").wait_for()
    row = detail.get_by_role("region", name="Fields of loan").get_by_role("row").filter(has_text="fee")
    assert "hidden from Auditor" in row.inner_text()
    page.goto(f"{service_url}/playground#/schema/member")
    page.get_by_text("Auditor sees no document").wait_for()


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_axe_finds_nothing_in_what_is_marked(signed_in, page, axe, width):  # noqa: F811
    page.set_viewport_size(WIDTHS[width])
    signed_in("Clerk", "Temp", "Auditor")
    open_act(page, "listLoans")
    found = {"form": [*judged(page, axe), *page.evaluate(CUT)]}
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Schema").click()
    page.locator(".explorer-detail").wait_for()
    found["schema"] = judged(page, axe)
    open_rights(page)
    for part in ("Models", "Acts"):
        table_of(page, part)
        found[part] = [*judged(page, axe), *page.evaluate(CUT)]
    assert found == dict.fromkeys(found, [])
