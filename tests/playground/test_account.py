"""Logging in from the top bar, and who is signed in."""

from __future__ import annotations

from gatewayfw import gateway
from sample_service import demo
from tests.playground.conftest import open_act, send
from tests.playground.service import sample_app
from tests.playground.test_acts import at


def test_one_logs_in_and_out_from_the_top_bar(page):
    page.get_by_role("banner").get_by_role("button", name="Log in", exact=True).click()
    dialog = page.get_by_role("dialog", name="Log in")
    dialog.wait_for()
    assert page.evaluate("document.activeElement.dataset.path") == "set.email"
    at(page, "set.email").fill("manager@example.com")
    at(page, "set.password").fill("wrong")
    at(page, "set.password").press("Enter")
    dialog.get_by_role("alert").get_by_text("wrong e-mail or password").wait_for()
    at(page, "set.password").fill("demo-manager")
    at(page, "set.password").press("Enter")
    dialog.wait_for(state="detached")
    account = page.get_by_role("button", name="manager@example.com")
    assert "; it expires " in account.get_attribute("title")
    assert account.get_attribute("title").endswith("Roles: Manager")
    page.reload()
    open_act(page, "addUser")
    role = at(page, "set.activeRoleId").input_value()
    assert page.get_by_role("button", name="Manager", exact=True).get_attribute("aria-pressed") == "true"
    assert len(role) == 24
    kept = page.evaluate("JSON.stringify({...localStorage})")
    assert "manager@example.com" not in kept
    assert role not in kept
    account.click()
    page.get_by_role("menuitem", name="Log out").click()
    page.get_by_role("banner").get_by_role("button", name="Log in", exact=True).wait_for()
    assert "manager@example.com" not in page.evaluate("JSON.stringify({...sessionStorage})")
    page.locator(".notice").filter(has_text="Logged out.").get_by_role("button", name="Undo").click()
    assert account.get_attribute("title").endswith("Roles: Manager")


def test_requests_begin_with_what_is_most_often_asked_for(page):
    open_act(page, "getCity")
    assert [at(page, f"get.{name}").is_checked() for name in ("_id", "name", "country")] == [True, True, False]
    open_act(page, "login")
    boxes = {name: page.get_by_label(name, exact=True).is_checked() for name in ("token", "roles")}
    assert boxes == {"token": True, "roles": True}


def test_the_page_has_the_name_and_the_colour_of_the_project(page, stage):
    gw = gateway(playground_title="Harbour", playground_color="#f2d21b")
    page.goto(f"{stage(gw.create_app(playground=True))}/playground")
    page.get_by_role("heading", name="Harbour", level=1).wait_for()
    page.wait_for_function("document.title === 'Acts · Harbour'")
    accent = "getComputedStyle(document.querySelector('.views [aria-current] .icon')).color"
    shown = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        shown.append(page.evaluate(accent))
    page.emulate_media(color_scheme=None)
    assert shown == ["rgb(121, 105, 14)", "rgb(242, 210, 27)"]


def test_an_act_begins_in_a_role_that_may_call_it(page):
    def log_in(role):
        page.get_by_role("dialog", name="Log in").wait_for()
        at(page, "set.email").last.fill(f"{role}@example.com")
        at(page, "set.password").last.fill(f"demo-{role}")
        page.keyboard.press("Enter")
        page.get_by_role("button", name=f"{role}@example.com").wait_for()

    open_act(page, "addUser")
    assert at(page, "set.activeRoleId").input_value() == ""
    rule = page.locator(".act-facts")
    assert rule.inner_text().split("\n")[0] == "Manager, Admin, OrgHead"
    page.get_by_text("Log in to call it").first.wait_for()
    page.get_by_role("banner").get_by_role("button", name="Log in", exact=True).click()
    log_in("manager")
    rule.get_by_text("You may call it").wait_for()
    manager = at(page, "set.activeRoleId").input_value()
    page.get_by_role("button", name="manager@example.com").click()
    page.get_by_role("menuitem", name="Log in as another user").click()
    log_in("orghead")
    head = at(page, "set.activeRoleId").input_value()
    assert {len(manager), len(head)} == {24}
    assert manager != head
    at(page, "set.activeRoleId").fill("my own")
    open_act(page, "setUserRoles")  # for a Manager only
    assert at(page, "set.activeRoleId").input_value() == ""
    page.get_by_role("button", name="orghead@example.com").click()
    page.get_by_role("menuitemradio", name="manager@example.com").click()
    assert at(page, "set.activeRoleId").input_value() == manager
    open_act(page, "addUser")
    assert at(page, "set.activeRoleId").input_value() == "my own"


def test_the_note_of_the_project_is_on_the_home_page_and_at_the_log_in(page, stage):
    app = sample_app()
    gw = gateway(playground_note="Try <it> as `ada`.")
    page.goto(f"{stage(gw.create_app(playground=True))}/playground")
    page.locator(".home").get_by_text("Try <it> as ada.").wait_for()
    assert page.locator(".home .demo code").inner_text() == "ada"
    stage(app)
    page.reload()
    page.locator(".home").get_by_role("button", name="Log in", exact=True).wait_for()
    assert page.get_by_text("Try <it>").count() == 0


def test_the_token_is_copied(page, login):
    login()
    page.get_by_role("button", name="manager@example.com").click()
    page.get_by_role("menuitem", name="Copy token").click()
    page.get_by_text("Token copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("eyJ")


def test_the_accounts_in_the_note_log_in_at_a_click(page, stage, monkeypatch):
    monkeypatch.setenv("GATEWAYFW_PLAYGROUND_NOTE", demo.note())
    page.goto(f"{stage(sample_app())}/playground")
    page.reload()
    home = page.locator(".home")
    chips = home.locator(".demo")
    assert chips.inner_text().split() == [
        "Demo",
        "users",
        *(demo.email_of(role).split("@")[0] for _, role, _ in demo.USERS),
    ]
    chips.get_by_role("button", name="employee").click()
    page.get_by_role("button", name="Employee, employee@example.com").wait_for()
    assert chips.count() == 0


def test_acts_are_marked_while_one_may_not_call_them(page):
    marks = page.get_by_role("navigation", name="Acts")

    def seen():
        names = ("login", "addUser", "setUserRoles", "getMe")
        rows = {name: marks.get_by_role("button", name=name, exact=True) for name in names}
        return [name for name, row in rows.items() if row.locator(".act-lock").count()]

    assert seen() == ["addUser", "setUserRoles", "getMe"]
    page.get_by_role("banner").get_by_role("button", name="Log in", exact=True).click()
    at(page, "set.email").fill("orghead@example.com")
    at(page, "set.password").fill("demo-orghead")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="OrgHead, orghead@example.com").wait_for()
    assert seen() == ["setUserRoles"]


def test_the_menu_begins_with_who_is_signed_in(page, login):
    login()
    page.get_by_role("button", name="manager@example.com").click()
    menu = page.get_by_role("menu")
    who, more = menu.locator(".account-head").inner_text().split("\n")
    assert (who, more.split(" · expires ")[0]) == ("manager@example.com", "Manager")
    assert menu.get_by_role("menuitem").all_inner_texts() == [
        "Copy token",
        "Headers and token",
        "Who may do what",
        "Log in as another user",
        "Log out",
    ]


def test_a_role_is_offered_by_its_name_and_where_it_holds(page, login):
    login("OrgHead")
    open_act(page, "getOrganizations")
    send(page)
    open_act(page, "updateUser")
    assert page.locator(".roles button").all_inner_texts() == ["OrgHead · organization Harbour Works"]
    page.get_by_text("Acts with the rights of this role.").wait_for()
