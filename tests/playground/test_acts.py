"""The view of acts, as somebody uses it: forms, projections, JSON, replies."""

from __future__ import annotations

import re

import pytest

from tests.playground.conftest import empty, open_act, send

ORGANIZATIONS = ["Harbour Works", "City Library"]


def at(page, path):
    """The control of a path of the request."""
    return page.locator(f"[data-path='{path}']")


def request_of(page):
    """The text of the details, as the JSON editor shows them."""
    page.get_by_role("tab", name="JSON").click()
    editor = page.get_by_role("textbox", name="Details as JSON")
    editor.wait_for()
    page.locator(".cm-content").wait_for()
    text = "\n".join(page.locator(".cm-line").all_inner_texts())
    page.get_by_role("tab", name="Form").click()
    return text


def compact(text):
    return re.sub(r"\s+", "", text)


def reply_rows(page):
    return [compact(text) for text in page.get_by_role("treeitem").all_inner_texts()]


def test_a_password_is_masked_and_enter_in_it_sends(page):
    open_act(page, "login")
    at(page, "set.email").fill("manager@example.com")
    assert [at(page, f"set.{name}").get_attribute("type") for name in ("email", "password")] == ["text", "password"]
    at(page, "set.email").press("Enter")
    at(page, "set.password").fill("demo-manager")
    page.get_by_role("button", name="Show password").click()
    assert at(page, "set.password").get_attribute("type") == "text"
    page.get_by_label("token", exact=True).check()
    at(page, "set.password").press("Enter")
    page.get_by_role("button", name="Use it").wait_for()
    marks = page.get_by_role("navigation", name="Acts").locator(".acts-act")
    word = "one => one.querySelector('.act-mark')?.dataset.word ?? ''"
    words = {act.locator(".act").inner_text(): act.evaluate(word) for act in marks.all()}
    told = {name: words[name] for name in ("getUser", "addUser", "removeUser", "login")}
    assert told == {"getUser": "read", "addUser": "write", "removeUser": "delete", "login": ""}


def test_a_user_with_organizations_is_added_through_the_form(page, login):
    role = login()
    open_act(page, "addUser")
    at(page, "set.activeRoleId").fill(role)
    for name, value in (("first_name", "Nora"), ("last_name", "Berg"), ("password", "secret-1")):
        at(page, f"set.{name}").fill(value)
    at(page, "set.email").fill("nora@example.com")
    page.get_by_label("Send organizations").check()
    page.get_by_role("button", name="Find organizations to add").click()
    dialog = page.get_by_role("dialog", name="Find in organization")
    dialog.get_by_text("2 of 2 found").wait_for()
    for name in ORGANIZATIONS:
        dialog.get_by_role("button", name=name).click()
    dialog.get_by_text("2 chosen").wait_for()
    assert dialog.locator(".picker-list [aria-pressed=true] .icon").count() == 2
    dialog.get_by_role("button", name="Done").click()
    assert page.get_by_role("textbox", name=re.compile("^organizations [12]")).count() == 2
    at(page, "get.first_name").check()
    page.get_by_role("button", name="Fields of organizations").click()
    box = at(page, "get.organizations.name")
    box.check()
    send(page)
    rows = reply_rows(page)
    assert 'first_name:"Nora"' in rows
    assert [row for row in rows if row.startswith("name:")] == [f'name:"{compact(name)}"' for name in ORGANIZATIONS]
    page.get_by_role("group", name="About the reply").get_by_text("200 OK").wait_for()


@pytest.fixture
def refused(page, login):
    """The field whose value the server has refused."""
    login()
    open_act(page, "getUsers")
    at(page, "set.limit").fill("1000")
    send(page)
    return at(page, "set.limit")


def test_what_the_server_refuses_is_shown_at_its_field(page, refused):
    assert refused.get_attribute("aria-invalid") == "true"
    errors, *_more = refused.get_attribute("aria-describedby").split()
    described = page.locator(f"[id='{errors}']")
    assert described.inner_text() == "Must be greater than or equal to 1 and less than or equal to 100."
    refused.fill("100")
    assert refused.get_attribute("aria-invalid") is None


def test_what_the_server_refuses_is_shown_at_its_line(page, refused):
    page.get_by_role("tab", name="JSON").click()
    page.locator(".cm-lintRange-error").wait_for()
    assert page.locator(".cm-line", has=page.locator(".cm-lintRange-error")).inner_text().strip() == '"limit": 1000'


def test_the_json_says_that_replies_have_the_id(page):
    for act, count in (("getUsers", 1), ("login", 0)):
        open_act(page, act)
        page.get_by_role("tab", name="JSON").click()
        page.get_by_text("Ctrl Space completes. The form shows the same.").wait_for()
        assert page.get_by_text('Replies have _id unless get says "_id": 0.').count() == count


def test_an_error_of_the_reply_leads_to_its_field(page, refused):
    page.get_by_role("button", name="set.limit").click()
    assert page.evaluate("document.activeElement.dataset.path") == "set.limit"


def test_an_error_in_a_list_names_its_item_as_the_form_does(page, login):
    role = login()
    open_act(page, "addUser")
    at(page, "set.activeRoleId").fill(role)
    for name in ("first_name", "last_name"):
        at(page, f"set.{name}").fill("Ada")
    at(page, "set.email").fill("ada@example.com")
    at(page, "set.password").fill("a password")
    page.get_by_label("Send organizations").check()
    for index in range(2):
        page.get_by_role("button", name="Add organizations").click()
        at(page, f"set.organizations.{index}").fill("no id")
    send(page)
    error = page.locator(".failure li").filter(has_text="set.organizations.1")
    assert " ".join(error.inner_text().split()).startswith("set.organizations.1 (organizations 2) Not a valid")
    assert page.get_by_label("organizations 2", exact=False).first.get_attribute("data-path") == "set.organizations.1"


def test_a_value_that_is_taken_is_shown_at_its_field(page, login):
    login()
    open_act(page, "addUser")
    for name in ("first_name", "last_name", "password"):
        at(page, f"set.{name}").fill("Ada")
    email = at(page, "set.email")
    email.fill("manager@example.com")
    send(page)
    errors = email.get_attribute("aria-describedby").split()[0]
    assert (page.locator(f"[id='{errors}']").inner_text(), email.get_attribute("aria-invalid")) == ("is taken", "true")
    page.get_by_role("button", name="email", exact=True).click()
    assert page.evaluate("document.activeElement.dataset.path") == "set.email"


def test_the_id_below_a_relation_is_ticked_only_where_it_is_sent(page):
    open_act(page, "getUsers")
    page.get_by_role("button", name="Fields of units").click()
    at(page, "get.units.name").check()
    boxes = [at(page, f"get.units.{name}").is_checked() for name in ("_id", "name")]
    assert boxes == [False, True]
    assert compact(request_of(page)).endswith('"units":{"name":1}}}')


def test_a_nested_projection_is_chosen_in_the_tree(page, login):
    login()
    open_act(page, "getUsers")
    page.get_by_role("button", name="None").click()
    at(page, "get.email").check()
    page.get_by_role("button", name="Fields of units").click()
    at(page, "get.units.name").check()
    units = at(page, "get.units")
    assert units.evaluate("box => box.indeterminate") is True
    send(page)
    rows = reply_rows(page)
    assert 'email:"manager@example.com"' in rows
    assert 'name:"Office"' in rows
    assert not [row for row in rows if row.startswith("first_name")]


def test_the_boxes_of_a_link_are_all_some_or_none(page, login):
    open_act(page, "getUser")
    page.get_by_role("button", name="None").click()
    page.get_by_role("button", name="Fields of avatar").click()
    link = at(page, "get.avatar")
    fields = ["_id", "name", "type", "size", "sha256", "path"]
    boxes = [at(page, f"get.avatar.{name}") for name in fields]
    link.check()
    assert [box.is_checked() for box in boxes] == [True] * 6
    boxes[1].uncheck()
    assert compact(request_of(page)).endswith('"get":{"avatar":{"_id":1,"type":1,"size":1,"sha256":1,"path":1}}}')
    assert not link.is_checked()
    assert link.evaluate("box => box.indeterminate") is True
    boxes[1].check()
    assert compact(request_of(page)).endswith('"get":{"avatar":1}}')
    link.uncheck()
    assert [box.is_checked() for box in boxes] == [False] * 6
    assert compact(request_of(page)).endswith('"get":{}}')


def test_all_and_none(page):
    open_act(page, "getCity")
    tree = page.get_by_role("region", name="Fields to return get")
    told = []
    for button, expected in (("All", '"get":{"name":1,"country":1}}'), ("None", '"get":{}}')):
        tree.get_by_role("button", name=button).click()
        assert compact(request_of(page)).endswith(expected)
        told.append(tree.locator(".part-head > .small").inner_text())
    assert told == ["3 of 4", "1 of 4"]
    assert page.get_by_role("group", name="Form").get_by_role("heading").all_inner_texts() == [
        "Input set",
        "Fields to return get",
    ]


def test_form_and_json_are_in_step(page):
    open_act(page, "addCountry")
    at(page, "set.name").fill("Chile")
    page.get_by_role("tab", name="JSON").click()
    editor = page.get_by_role("textbox", name="Details as JSON")
    page.locator(".cm-content").wait_for()
    assert '"name": "Chile"' in editor.inner_text()
    empty(editor)
    editor.press_sequentially('{"set": {"name": "Peru", "population": 34.5}}')
    page.get_by_role("tab", name="Form").click()
    assert at(page, "set.name").input_value() == "Peru"
    assert at(page, "set.population").input_value() == "34.5"


def test_the_editor_completes_the_keys_of_the_act(page):
    open_act(page, "getUser")
    page.get_by_role("tab", name="JSON").click()
    page.locator(".cm-content").wait_for()
    editor = page.get_by_role("textbox", name="Details as JSON")
    empty(editor)
    editor.press_sequentially('{"get": {"f')
    option = page.get_by_role("option", name="first_name")
    option.click()
    assert compact(editor.inner_text()) == '{"get":{"first_name":1}}'


def test_lists_are_added_to_moved_and_removed_from(page):
    open_act(page, "addUser")
    page.get_by_label("Send features").check()
    add = page.get_by_role("button", name="Add features")
    for choice in ("reports", "exports", "invitations"):
        add.click()
        page.get_by_role("combobox").last.select_option(label=choice)
    page.get_by_role("button", name="Move features 3 up").click()
    page.get_by_role("button", name="Remove features 1").click()
    sent = compact(request_of(page))
    assert '"features":[{"feature":"invitations"},{"feature":"exports"}]' in sent


def test_optional_and_defaulted_fields_are_sent_only_when_they_are_filled_in(page):
    open_act(page, "addUser")
    page.get_by_role("button", name="None").click()
    assert "isActive" not in request_of(page)
    assert at(page, "set.isActive").locator("option").all_inner_texts() == ["true (default)", "true", "false"]
    assert at(page, "set.activeRoleId").get_attribute("placeholder") is None
    assert page.get_by_role("group", name="Form").locator(".part-head").first.inner_text() == "Input set\n* required"
    at(page, "set.isActive").select_option("false")
    at(page, "set.activeRoleId").fill("5")
    request = request_of(page)
    assert '"isActive": false' in request
    assert '"activeRoleId": "5"' in request
    at(page, "set.isActive").select_option("true (default)")
    at(page, "set.activeRoleId").fill("")
    request = request_of(page)
    assert "isActive" not in request
    assert "activeRoleId" not in request


def test_numbers_are_sent_as_numbers_and_other_text_as_it_is(page):
    open_act(page, "addCountry")
    field = at(page, "set.population")
    for typed, expected in (("5.5", "5.5}"), ("-3", "-3}"), ("1.", '"1."}'), ("many", '"many"}'), ("", '"name":""}')):
        field.fill(typed)
        assert compact(request_of(page)).split(',"get"')[0].endswith(expected)
        assert field.input_value() == typed


def test_a_call_is_sent_with_the_keyboard_and_can_be_cancelled(page, service_url):
    open_act(page, "getUsers")
    page.route("**/gateway", lambda route: page.evaluate("1") and None)
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Cancel").first.click()
    page.get_by_text("Cancelled.").first.wait_for()
    page.unroute("**/gateway")
    page.keyboard.press("Control+Enter")
    page.get_by_role("tree", name="Reply as a tree").wait_for()


def test_tabs_keep_their_requests_and_replies(page):
    open_act(page, "addCountry")
    at(page, "set.name").fill("Chile")
    open_act(page, "addCity")
    strip = page.get_by_role("group", name="Open requests")
    strip.get_by_role("button", name="country.addCountry").click()
    assert at(page, "set.name").input_value() == "Chile"
    strip.get_by_role("button", name="Close addCountry").click()
    page.get_by_role("heading", name="city.addCity").wait_for()
    assert strip.get_by_role("button").count() == 2


def test_more_headers_are_sent(page):
    page.get_by_role("button", name="Headers and token").click()
    page.get_by_role("button", name="Add a header").click()
    page.get_by_label("Name of header 1").fill("X-Tenant")
    page.get_by_label("Value of header 1").fill("north")
    page.get_by_role("button", name="Done").click()
    open_act(page, "getMe")
    with page.expect_request("**/gateway") as asked:
        page.keyboard.press("Control+Enter")
    sent = asked.value.headers
    assert sent["x-tenant"] == "north"
    assert sent["x-gateway-detail"] == "1"
    assert "token" not in sent


def test_acts_are_found_by_words_and_with_the_palette(page):
    page.get_by_label("Filter acts").fill("unit update")
    acts = page.get_by_role("navigation", name="Acts").locator(".acts-act")
    assert acts.all_inner_texts() == ["updateUnit"]
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("addcit")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="city.addCity").wait_for()


def test_the_palette_has_models_and_closes_at_once(page):
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox")
    box.fill("unit")
    groups = page.get_by_role("listbox").get_by_role("group")
    assert groups.evaluate_all("all => all.map((one) => one.ariaLabel)") == ["Models", "Acts"]
    assert groups.first.get_by_role("option").all_inner_texts() == ["unit"]
    page.keyboard.press("Escape")
    box.wait_for(state="detached")
    page.keyboard.press("Control+k")
    box.fill("unit")
    page.keyboard.press("Enter")
    page.locator("#explorer-model").get_by_text("unit", exact=True).wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_follows_the_system_and_the_switch(page, theme):
    ground = "getComputedStyle(document.body).backgroundColor"
    colours = {}
    for name in ("light", "dark"):
        page.emulate_media(color_scheme=name)
        colours[name] = page.evaluate(ground)
    assert colours["light"] != colours["dark"]
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("menuitemradio", name=theme.title()).click()
    assert page.evaluate(ground) == colours[theme]
    page.reload()
    assert page.evaluate(ground) == colours[theme]
