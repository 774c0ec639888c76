"""What the values of a reply lead to: documents, paths, sequences; and what stays unfolded."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import integer
from tests.playground.conftest import open_act, send, show_view
from tests.playground.test_acts import at
from tests.playground.test_first_minutes import undo


def choose(page, text):
    """Choose a value of the reply; give what can be done with it."""
    page.get_by_role("treeitem").filter(has_text=text).first.click()
    bar = page.get_by_role("group", name="The chosen value")
    bar.get_by_role("button", name="Copy path").wait_for()
    return bar


@pytest.fixture
def organizations(page, login):
    """A page with the organizations, as the manager sees them."""
    login()
    open_act(page, "getOrganizations")
    send(page)
    return page


def test_a_value_and_its_path_are_copied(organizations):
    bar = choose(organizations, "City Library")
    assert bar.locator("code").inner_text() == "body.rows[1].name"
    copied = []
    for what in ("value", "path"):
        bar.get_by_role("button", name=f"Copy {what}").click()
        organizations.get_by_text(f"The {what} is copied.").wait_for()
        copied.append(organizations.evaluate("navigator.clipboard.readText()"))
    assert copied == ["City Library", "body.rows[1].name"]


def test_an_id_leads_to_its_document_by_a_button_and_by_the_mouse(organizations):
    bar = choose(organizations, "_id")
    name = bar.get_by_role("button", name="Open with getOrganization", exact=True)
    id_ = organizations.get_by_role("treeitem").filter(has_text="_id").first.inner_text().split('"')[1]
    name.click()
    organizations.get_by_role("heading", name="organization.getOrganization", exact=True).wait_for()
    assert at(organizations, "set.organizationId").input_value() == id_
    organizations.get_by_role("treeitem").filter(has_text="Harbour Works").wait_for()
    organizations.go_back()
    link = organizations.get_by_role("treeitem").filter(has_text="_id").nth(1).locator(".json-link")
    link.locator("..").hover()
    assert link.get_attribute("title") == "Open with getOrganization"
    link.click()
    organizations.get_by_role("treeitem").filter(has_text="City Library").wait_for()
    assert choose(organizations, "name:").get_by_role("button").all_inner_texts() == [
        "Copy value",
        "Copy path",
        "Capture",
        "Expect this",
    ]


def test_a_value_of_the_table_leads_as_far(organizations):
    organizations.get_by_role("tab", name="Table").click()
    table = organizations.get_by_role("region", name="Reply as a table")
    table.get_by_role("button", name="name").click()  # City Library, which comes second, is first now
    table.get_by_role("cell", name="City Library").click()
    bar = organizations.get_by_role("group", name="The chosen value")
    assert bar.locator("code").inner_text() == "body.rows[1].name"
    table.locator("tbody td").first.click()
    bar.get_by_role("button", name="Open with getOrganization", exact=True).click()
    organizations.get_by_role("treeitem").filter(has_text="City Library").wait_for()
    tabs = organizations.locator(".strip-tab")
    before = tabs.count()
    organizations.go_back()
    table.get_by_role("row").filter(has_text="City Library").locator("td").first.click()
    bar.get_by_role("button", name="Open with getOrganization", exact=True).click()
    organizations.get_by_role("treeitem").filter(has_text="City Library").wait_for()
    assert tabs.count() == before


def test_an_id_in_a_field_has_the_name_of_its_document(organizations):
    open_act(organizations, "addUser")
    organizations.get_by_label("Send organizations").check()
    organizations.get_by_role("button", name="Find organizations to add").click()
    organizations.get_by_role("button", name="City Library").click()
    organizations.get_by_role("button", name="Done").click()
    organizations.locator(".id-title").get_by_text("City Library").wait_for()


def test_a_value_goes_into_a_sequence_with_its_request(organizations):
    choose(organizations, "_id").get_by_role("button", name="Capture").click()
    organizations.get_by_text("Step 1 of “Sequence” captures {{organizationId}}.").wait_for()
    choose(organizations, "name:").get_by_role("button", name="Expect this").click()
    where = organizations.get_by_role("dialog", name="Which sequence?")
    where.get_by_role("button", name="Sequence 1 step", exact=True).click()
    organizations.get_by_text("Step 1 of “Sequence” expects this at body.rows[0].name.").wait_for()
    open_act(organizations, "getOrganization")
    organizations.get_by_role("button", name="More", exact=True).click()
    organizations.get_by_role("menuitem", name="Add to a sequence").click()
    where.locator("button:focus").wait_for()
    organizations.keyboard.press("Enter")  # the one that was chosen last
    note = organizations.locator(".notice").filter(has_text="organization.getOrganization is step 2 of “Sequence” now.")
    note.get_by_role("button", name="Show").click()
    titles = organizations.locator(".sequences-step .library-title")
    titles.nth(1).wait_for()
    assert titles.all_inner_texts() == ["organization.getOrganizations", "organization.getOrganization"]
    form = organizations.get_by_role("group", name="Form of step 2")
    form.get_by_role("button", name="{{organizationId}}").click()
    assert at(form, "set.organizationId").input_value() == "{{organizationId}}"
    organizations.get_by_role("button", name="Run", exact=True).click()
    report = organizations.get_by_role("region", name="Report")
    report.get_by_text("2 of 2 sent, 2 as expected, 0 not").wait_for()
    assert report.get_by_role("status").evaluate("one => one.getBoundingClientRect().top < innerHeight")


def test_a_value_goes_into_no_sequence_that_was_not_chosen(organizations):
    capture = choose(organizations, "_id").get_by_role("button", name="Capture")
    capture.click()
    organizations.get_by_text("Step 1 of “Sequence” captures").wait_for()
    where = organizations.get_by_role("dialog", name="Which sequence?")
    capture.click()
    where.wait_for()
    organizations.keyboard.press("Escape")
    where.wait_for(state="detached")
    capture.click()
    where.get_by_role("button", name="New sequence").click()
    note = organizations.locator(".notice").filter(has_text="Step 1 of “Sequence 2” captures {{organizationId}}.")
    note.get_by_role("button", name="Show").click()
    rail = organizations.get_by_role("navigation", name="Sequences")
    rail.get_by_text("Sequence 2").wait_for()
    assert rail.locator(".acts-act").all_inner_texts() == ["Sequence\n1 step", "Sequence 2\n1 step"]
    assert organizations.get_by_label("From").input_value() == "body.rows[0]._id"


@pytest.fixture
def many(page, stage):
    """A page with a reply of 1,000 rows."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("row", {"number": integer()}, {})
    rows = [{"number": number, "parts": [{"part": number}]} for number in range(1000)]
    gw.acts.act("row", "getRows", public=True)(lambda body: {"rows": rows})
    page.goto(f"{stage(gw.create_app(playground=True))}/playground")
    open_act(page, "getRows")
    send(page)
    return page


def test_a_long_list_is_unfolded_and_stays_as_it_was_left(many):
    rows = many.get_by_role("treeitem")
    row = rows.filter(has_text="0:").first
    assert row.get_attribute("aria-expanded") == "false"
    assert "number, parts" in row.inner_text()
    row.locator(".json-fold").click()
    shown = rows.filter(has_text="number:0")
    shown.wait_for()
    send(many)
    shown.wait_for()
    many.get_by_role("tab", name="Raw").click()
    many.get_by_role("tab", name="Reply").click()
    shown.wait_for()


def test_what_is_not_valid_and_a_replaced_request_can_be_had_back(page):
    open_act(page, "addCity")
    at(page, "set.name").fill("Kiruna")
    save = page.get_by_role("button", name="Save", exact=True)
    save.click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    page.get_by_text("Saved.", exact=True).wait_for()
    at(page, "set.name").fill("Luleå")
    page.keyboard.press("Control+s")
    undo(page, "“city.addCity” updated.")
    page.get_by_role("button", name="Close city.addCity").click()
    page.get_by_role("group", name="Saved requests").get_by_role("button", name="city.addCity", exact=True).click()
    assert at(page, "set.name").input_value() == "Kiruna"


def test_the_question_for_a_sequence_goes_with_the_view_it_was_asked_in(organizations):
    choose(organizations, "_id").get_by_role("button", name="Capture").click()
    organizations.get_by_text("Step 1 of “Sequence” captures {{organizationId}}.").wait_for()
    show_view(organizations, "schema")
    organizations.locator(".explorer").wait_for()
    organizations.go_back()
    choose(organizations, "_id").get_by_role("button", name="Capture").click()
    where = organizations.get_by_role("dialog", name="Which sequence?")
    where.wait_for()
    organizations.go_back()
    where.wait_for(state="detached")
