"""How it looks and to whom it is usable: axe in both themes, narrow screens, the keyboard; screenshots."""

from __future__ import annotations

import json

import pytest

from tests.installing import node_modules
from tests.playground.conftest import open_act, send, show_view
from tests.playground.front_end import SOURCE
from tests.playground.test_sequences import add_step

VIEWS = ["acts", "schema", "sequences", "history", "downloads"]
WIDTHS = {
    "wide": {"width": 1280, "height": 800},
    "middle": {"width": 768, "height": 1024},
    "narrow": {"width": 390, "height": 844},
}
#: What axe judges by; with ``resultTypes`` it describes no more than it has to of what is in order. What it would load
#: first is for rules of sound and video (`no-autoplay-audio`), of which there is none: see `judged`.
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
    "preload": False,
}
#: The rules of colours, which are all that a theme changes.
COLOURS = {**RULES, "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
#: The rules that the size of the screen changes, and screens besides those that each test is run on.
OF_SIZE = {**RULES, "runOnly": {"type": "rule", "values": ["target-size", "scrollable-region-focusable"]}}
SIZES = [{"width": 1440, "height": 900}, {"width": 1024, "height": 768}, {"width": 768, "height": 1024}]
FINDS = "async ([rules, changed]) => (await axe.run(changed ? {include: [[changed]]} : document, rules)).violations"
#: Above the rest of the page.
ABOVE = "dialog[open], [role=menu]"
#: A colour that is still changing is none that anybody has to read.
SETTLE = """document.getAnimations().filter(one => isFinite(one.effect.getComputedTiming().endTime))
    .forEach(one => one.finish())"""


@pytest.fixture(scope="session")
def axe():
    """The source of axe-core."""
    path = SOURCE / "node_modules" / "axe-core" / "axe.min.js"
    if not path.is_file():
        path = node_modules(SOURCE) / "node_modules" / "axe-core" / "axe.min.js"
    return path.read_text("utf-8")


@pytest.fixture(params=["wide", "narrow"])
def options(request):
    """A browser of each width."""
    return {"viewport": WIDTHS[request.param]}


def judged(page, axe: str, changed: str = "") -> list[str]:
    """What axe finds on a page in both themes and in forced colours: theme, rule, and where.

    ``changed`` selects what is new since the page was judged: only of that the colours are looked at again.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    told = ["sound or video, which axe must load"] if page.locator("audio, video").count() else []
    for theme, rules in (("forced", COLOURS), ("dark", COLOURS), ("light", RULES)):
        forced = theme == "forced"
        page.emulate_media(color_scheme="dark" if forced else theme, forced_colors="active" if forced else "none")
        page.evaluate(SETTLE)
        found = page.evaluate(FINDS, [rules, changed if rules is COLOURS else ""])
        told += [f"{theme} {one['id']}: {json.dumps([node['target'] for node in one['nodes']])}" for one in found]
    return told


@pytest.fixture
def used(page, login):
    """A page with a refused request, a reply, a token, and so with things in every view."""
    role = login()
    open_act(page, "addUser")
    page.locator("[data-path='set.activeRoleId']").fill(role)
    page.get_by_label("Send features").check()
    page.get_by_role("button", name="Add features").click()
    page.get_by_label("Send organizations").check()
    open_act(page, "getUsers")
    page.locator("[data-path='set.limit']").fill("1000")
    send(page)
    page.get_by_role("button", name="Fields of units").click()
    return page


def parts(page):
    """Show every part of the playground, one after the other; yield their names."""
    for view in VIEWS:
        show_view(page, view)
        yield view
    show_view(page, "acts")
    for part, sign in (("JSON", ".editor-host:not([hidden])"), ("About", ".act-docs"), ("Form", ".request-form")):
        page.get_by_role("tab", name=part).click()
        page.locator(sign).wait_for()
        yield part
    page.get_by_role("tab", name="Raw").click()
    yield "Raw"
    openers = {
        "palette": lambda: page.keyboard.press("Control+k"),
        "account": lambda: page.get_by_role("button", name="manager@example.com").click(),
        "theme": lambda: page.get_by_role("button", name="Theme").click(),
        "more": lambda: page.get_by_role("button", name="More").click(),
    }
    for name, opened in openers.items():
        opened()
        page.locator(ABOVE).wait_for()
        yield name
        page.keyboard.press("Escape")
        page.locator(ABOVE).wait_for(state="detached")


WIDTHS_OF_FIGURES = """(() => {
    const text = document.body.appendChild(document.createElement('span'));
    const widths = [...'0123456789'].map((figure) => ((text.textContent = figure), text.getBoundingClientRect().width));
    text.remove();
    return new Set(widths).size;
})()"""
#: On a phone the reply is a page beside the request.
CUT = """[...document.querySelectorAll('#main button, #main input, #main select')].filter(one => one.checkVisibility()
    && !one.closest('.strip, .tabs-list, .table-scroll, svg') && one.getBoundingClientRect().right
        > (one.closest('.request-tabs, .reply') ?? document.documentElement).getBoundingClientRect().right + 1
).map(one => one.outerHTML.slice(0, 120))"""


def edges(locator) -> set[int]:
    """The left edges of what can be seen, in pixels."""
    return {round(one.bounding_box()["x"]) for one in locator.all() if one.is_visible()}


@pytest.mark.parametrize("options", ["wide"], indirect=True)
def test_fonts_boxes_choices_and_filters_of_a_form_look_alike(page):
    page.wait_for_function("[...document.fonts].some((font) => font.status === 'loaded')")
    assert page.evaluate(WIDTHS_OF_FIGURES) == 1
    open_act(page, "getUsers")
    colour = "(one, part) => getComputedStyle(one, part).color"
    written = page.get_by_label("Filter acts").evaluate(colour, "::placeholder")
    choice = page.locator("[data-path='set.sort']")
    assert choice.evaluate(colour) == written
    choice.select_option(index=1)
    assert choice.evaluate(colour) != written
    page.get_by_role("button", name="Add filter").click()
    page.get_by_role("menuitem", name="email").click()
    row = page.get_by_role("group", name="filter 1")
    below = edges(row.locator(".filter-value"))
    assert edges(row.get_by_label("operator")) == below == edges(page.locator("[data-path='set.limit']"))
    page.get_by_role("button", name="Headers and token").click()
    boxes = page.locator("input[type=checkbox]:checked:not([data-switch])")
    colours = boxes.evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert len(colours) > 5
    assert len(set(colours)) == 1


TO_NEXT_LABEL = """fields => [...fields.children].map(one => one.querySelector('.field-aside, .value-off > .small'))
    .map((caption, index) => [caption, fields.children[index + 1]?.querySelector('.value-name, .switch > span')])
    .filter(([caption, next]) => caption && next)
    .map(([caption, next]) => next.getBoundingClientRect().top - caption.getBoundingClientRect().bottom)"""


@pytest.mark.parametrize("options", ["wide"], indirect=True)
def test_requests_and_steps_have_one_left_edge_and_begin_at_their_top(used):
    lines = used.locator(".acts-split .tabs-line").all()
    assert len({(box["y"], box["height"]) for box in (one.bounding_box() for one in lines)}) == 1
    open_act(used, "addUser")
    form = used.get_by_role("group", name="Form")
    controls = form.locator("input[data-path^='set.'], select[data-path^='set.'], input[data-switch^='set.']")
    assert len(edges(controls)) == 1
    assert len(edges(form.locator("li:is(.projection-link, .projection-list > :first-child) > * input"))) == 1
    gaps = used.locator(".request-form > .fields").evaluate(TO_NEXT_LABEL)
    assert len(gaps) > 5
    assert [gap for gap in gaps if gap < 16] == []
    panel = used.get_by_role("region", name="Request").get_by_role("tabpanel")
    panel.evaluate("one => one.scrollTo(0, 9999)")
    assert panel.evaluate("one => one.scrollTop") > 0
    used.get_by_role("tab", name="JSON").click()
    used.locator(".editor-host:not([hidden])").wait_for()
    assert panel.evaluate("one => one.scrollTop") == 0
    show_view(used, "sequences")
    add_step(used, "addUser")
    step = used.get_by_role("group", name="Form of step 1")
    name, control = step.get_by_text("first_name").first, step.locator("[data-path='set.first_name']")
    assert min(edges(control)) - min(edges(name)) == 188
    assert used.get_by_role("button", name="Run", exact=True).bounding_box()["y"] < 200


@pytest.mark.parametrize("options", ["wide"], indirect=True)
def test_all_views_have_the_edges_of_the_page_and_no_text_is_too_wide(page):
    page.set_viewport_size({"width": 2560, "height": 900})
    head, columns = page.locator(".home-head").bounding_box(), page.locator(".home-columns").bounding_box()
    assert (head["x"], columns["width"]) == (268, 1200)
    for view, pane in (("history", ".library"), ("downloads", ".downloads")):
        show_view(page, view)
        box = page.locator(f".page{pane}").bounding_box()
        assert (box["x"], box["x"] + box["width"]) == (12, 2548)
    page.locator(".downloads-item").first.wait_for()
    cards = [one.bounding_box() for one in page.locator(".downloads-item").all()]
    assert {round(box["width"]) for box in cards} <= {616, 617}
    assert {box["y"] for box in cards} == {cards[0]["y"]}
    show_view(page, "sequences")
    box, row = page.locator(".sequences").bounding_box(), page.locator(".sequences-rail .acts-act").bounding_box()
    assert (row["x"], box["x"] + box["width"]) == (12, 2548)
    show_view(page, "schema")
    box, search = page.locator(".explorer-main").bounding_box(), page.locator(".explorer-search input").bounding_box()
    assert (search["x"], box["x"] + box["width"]) == (12, 2548)
    show_view(page, "acts")
    assert page.get_by_label("Filter acts").bounding_box()["x"] == page.locator(".brand").bounding_box()["x"] == 12
    open_act(page, "getUsers")
    box, end = page.locator(".acts-split").bounding_box(), page.locator(".topbar-end").bounding_box()
    assert box["x"] + box["width"] == end["x"] + end["width"] == 2548


@pytest.mark.parametrize("options", ["middle"], indirect=True)
def test_the_header_has_room_for_all_views(page, login):
    login()
    views = page.get_by_role("navigation", name="Views")
    assert views.evaluate("one => one.scrollWidth - one.clientWidth") == 0
    name, account = page.locator(".brand h1").bounding_box(), page.locator(".account button").bounding_box()
    assert views.bounding_box()["x"] - (name["x"] + name["width"]) == 16
    assert account["width"] == account["height"] == 32


def test_axe_finds_nothing_and_nothing_is_cut_off(used, axe):
    field = used.get_by_label("Search the reply").bounding_box()
    button = used.get_by_role("button", name="Compare").bounding_box()
    assert field["y"] <= button["y"] <= button["y"] + button["height"] <= field["y"] + field["height"]
    found = {}
    own = used.viewport_size
    used.evaluate(axe)
    for part in parts(used):
        changed = ABOVE if used.locator(ABOVE).count() else ""
        for size in SIZES if own["width"] > 1024 else ():
            used.set_viewport_size(size)
            told = used.evaluate(FINDS, [OF_SIZE, changed])
            found[f"{part} {size['width']}"] = [*map(json.dumps, told), *used.evaluate(CUT)]
        used.set_viewport_size(own)
        is_too_large = used.evaluate("scrollX + scrollY + document.documentElement.scrollWidth > innerWidth")
        found[part] = [
            *judged(used, axe, changed),
            *used.evaluate(CUT),
            *(["larger than the screen"] if is_too_large else []),
        ]
    assert found == dict.fromkeys(found, [])
