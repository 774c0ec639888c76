"""The view of the schema: models, relations, search."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import string


@pytest.fixture
def schema(page):
    """The view, at the first model."""
    page.get_by_role("link", name="Schema", exact=True).click()
    page.get_by_role("heading", name="user", exact=True).wait_for()
    return page


def looked_at(page):
    """The model that is shown, and the relation in it that is marked."""
    model = page.locator("#explorer-model").inner_text()
    marked = page.locator("[data-link][aria-current]")
    return model, marked.inner_text() if marked.count() else None


def rows_of(page, label):
    table = page.get_by_role("region", name=label, exact=True)
    return [[cell.strip() for cell in row.inner_text().split("\t")] for row in table.locator("tbody tr").all()]


def test_fields_are_shown_with_their_kind_and_rules(schema):
    rows = {name: (kind, notes) for name, kind, notes in rows_of(schema, "Fields of user")}
    assert rows["_id"] == ("id", "")
    assert rows["isActive"] == ("boolean", "default: true")
    assert rows["features"] == ("list of object", "optional\nat most 20 items")
    assert rows["features[].feature"] == ("choice", "reports · exports · invitations")
    assert "password" not in rows


def test_a_relation_leads_to_its_reverse_and_back(schema):
    schema.get_by_role("region", name="Relations of user").get_by_role("button", name="organization.users").click()
    assert looked_at(schema) == ("organization", "users")
    assert schema.evaluate("document.activeElement.dataset.link") == "users"
    schema.get_by_role("region", name="Reverse relations of organization").get_by_role(
        "button", name="user.organizations"
    ).click()
    assert looked_at(schema) == ("user", "organizations")
    schema.go_back()
    assert looked_at(schema) == ("organization", "users")


def test_a_link_says_how_many_and_in_which_order(schema):
    schema.get_by_role("button", name="organization", exact=True).first.click()
    assert rows_of(schema, "Reverse relations of organization")[:2] == [
        ["users", "user", "user.organizations"],
        [
            "Many; at most 100; by _id, descending. "
            "Copied fields: _id, first_name, last_name, email, position, isActive, features"
        ],
    ]


def test_all_relations_are_in_a_list(schema):
    schema.get_by_role("tab", name="All relations").click()
    assert rows_of(schema, "All relations") == [
        ["user.avatar", "file one", "none"],
        ["user.organizations", "organization many", "organization.users"],
        ["user.units", "unit many", "unit.members"],
        ["city.country", "country one", "country.cities"],
        ["unit.organization", "organization one", "organization.units"],
    ]


def test_search_finds_fields_relations_and_acts(schema):
    box = schema.get_by_role("searchbox", name="Search models, fields, relations and acts")
    box.fill("member")
    found = schema.get_by_role("list", name="Found").get_by_role("listitem")
    assert found.all_inner_texts() == ["members\nreverse relation of unit"]
    box.press("Enter")
    assert looked_at(schema) == ("unit", "members")
    box.fill("addCountry")
    assert found.all_inner_texts() == ["addCountry\nact of country"]
    box.fill("nothing like it")
    assert found.all_inner_texts() == ["No results."]


def test_acts_that_use_a_model_open_in_a_tab(schema):
    schema.get_by_role("button", name="unit", exact=True).first.click()
    uses = {name.split("\n")[0]: how for name, how, _ in rows_of(schema, "Acts that use unit")}
    assert uses["unit.getUnit"] == "one of its acts, returns it, takes its ids"
    assert uses["user.addUser"] == "can show it, takes its ids"
    assert "file.getFile" not in uses
    schema.get_by_role("button", name="Open unit.addUnit").click()
    schema.get_by_role("region", name="Request").get_by_role("heading", name="addUnit").wait_for()


def test_the_graph_follows_the_keys(schema):
    node = schema.get_by_role("button", name="user 9 fields, 3 links")
    assert node.get_attribute("aria-pressed") == "true"
    node.focus()
    schema.keyboard.press("ArrowRight")
    focused = schema.evaluate("document.activeElement.dataset.model")
    assert focused in ("unit", "country", "file")
    schema.keyboard.press("Enter")
    assert looked_at(schema) == (focused, None)


#: Between the name and the kind of a row.
GAP = """(row) => {
    const [name, kind] = row.children
    return kind.getStartPositionOfChar(0).x - name.getEndPositionOfChar(name.textContent.length - 1).x
}"""


def test_a_row_of_the_graph_has_a_gap_between_a_whole_name_and_a_whole_kind(schema):
    row = schema.locator(".explorer-row").filter(has_text="organizations")
    assert row.locator("tspan").all_text_contents() == ["organizations", "organization []"]
    assert row.evaluate(GAP) >= 10


def test_the_graph_is_moved_by_buttons_and_keys(schema):
    def seen():
        graph = schema.get_by_role("group", name="Models and their relations")
        return [float(part) for part in graph.get_attribute("viewBox").split()]

    # Until its size is known the graph is drawn for another one.
    schema.wait_for_function(
        """() => {
            const svg = document.querySelector("[aria-label='Models and their relations']")
            const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number)
            const box = svg.parentElement
            return Math.abs(width / height - box.clientWidth / box.clientHeight) < 0.01
        }"""
    )
    schema.get_by_role("button", name="Fit").click()
    before = seen()
    schema.get_by_role("button", name="Zoom in").click()
    assert seen()[2] < before[2]
    schema.locator(".explorer-node[tabindex='0']").focus()
    schema.keyboard.press("0")
    assert seen() == before
    schema.keyboard.press("Shift+ArrowRight")
    assert seen()[0] > before[0]
    schema.get_by_role("button", name="Fit").click()
    assert seen() == before


def place_of(page, model):
    """Where a model is on the screen: the middle of its box."""
    box = page.locator(f"[data-model='{model}'] rect").bounding_box()
    return round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)


def test_zooming_keeps_what_is_looked_at_in_its_place(schema):
    schema.get_by_role("button", name="Fit").click()
    before = {name: place_of(schema, name) for name in ("user", "unit")}
    schema.get_by_role("button", name="Zoom in").click()
    assert place_of(schema, "user") == pytest.approx(before["user"], abs=1)
    assert place_of(schema, "unit")[0] > before["unit"][0] + 20
    schema.get_by_role("button", name="Fit").click()
    schema.mouse.move(*before["unit"])
    schema.keyboard.down("Control")
    schema.mouse.wheel(0, -120)
    schema.keyboard.up("Control")
    schema.wait_for_function(
        "x => document.querySelector('[data-model=user] rect').getBoundingClientRect().x < x - 20",
        arg=before["user"][0] - 84,
    )
    assert place_of(schema, "unit") == pytest.approx(before["unit"], abs=1)


def test_a_large_graph_opens_at_the_model_with_the_most_links(page, stage):
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    relation = {"schemaName": "hub", "type": "single", "optional": True, "relatedRelations": {}}
    gw.odm.new_model("edge", {"name": string()}, {"next": {**relation, "schemaName": "hub"}})
    for number in range(30):
        gw.odm.new_model(f"left{number}", {"name": string()}, {"hub": relation})
    gw.odm.new_model(
        "hub",
        {"name": string()},
        {f"to{n}": {**relation, "schemaName": f"right{n}"} for n in range(30)},
    )
    for number in range(30):
        gw.odm.new_model(f"right{number}", {"name": string()}, {})
    page.goto(f"{stage(gw.create_app(playground=True))}/playground/#/schema")
    page.reload()
    page.get_by_role("heading", name="hub", exact=True).wait_for()
    graph = page.locator(".explorer-graph-box").bounding_box()
    x, y = place_of(page, "hub")
    assert abs(x - graph["x"] - graph["width"] / 2) < graph["width"] / 4
    assert abs(y - graph["y"] - graph["height"] / 2) < graph["height"] / 4


def test_each_view_has_one_search_of_the_whole_page(page, service_url):
    for view in ("acts", "schema", "sequences", "history", "downloads"):
        page.goto(f"{service_url}/playground/#/{view}")
        page.reload()
        page.locator(".loading").wait_for(state="detached")
        assert page.locator(".topbar-end button:visible").first.inner_text().startswith("Search"), view
        assert not page.locator(".topbar-end [aria-label=Search]").is_visible(), view


def test_an_address_leads_to_a_model_and_its_relation(page, service_url):
    page.goto(f"{service_url}/playground/#/schema/city/country")
    page.get_by_role("heading", name="city", exact=True).wait_for()
    assert looked_at(page) == ("city", "country")
    page.goto(f"{service_url}/playground/#/schema/no%2Fsuch")
    page.reload()
    page.get_by_role("heading", name="user", exact=True).wait_for()


def test_a_box_has_the_fields_and_relations_of_its_model_and_lights_up_with_its_neighbours(schema):
    boxes = {name: schema.locator(f"[data-model='{name}']") for name in ("unit", "user", "city")}
    rows = boxes["unit"].locator("xpath=following-sibling::*[1]").locator("text")
    assert rows.all_text_contents() == ["_idid", "nametext", "organizationorganization"]
    boxes["unit"].click()
    looks = {name: box.get_attribute("class") for name, box in boxes.items()}
    assert looks == {
        "unit": "explorer-node chosen",
        "user": "explorer-node near",
        "city": "explorer-node far",
    }


def test_the_graph_has_the_height_of_the_screen(schema):
    schema.set_viewport_size({"width": 1440, "height": 900})
    graph, detail = (schema.locator(name).bounding_box() for name in (".explorer-graph", ".explorer-detail"))
    assert (
        graph["y"] + graph["height"] == detail["y"] + detail["height"] == 887
    )  # above the edge of the page and a line
    assert graph["x"] + graph["width"] <= detail["x"]
