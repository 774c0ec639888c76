"""Two browser tabs of one playground: neither loses what the other keeps; storage that is full, blocked or damaged."""

from __future__ import annotations

import json

import pytest

from tests.playground.conftest import open_act, send, watch
from tests.playground.test_library import saved
from tests.playground.test_numbers import bodies, service_url  # noqa: F401  # fixtures
from tests.playground.test_sequences import SEQUENCE, import_text, names
from tests.playground.test_sequences import add_step as add

PREFIX = "gatewayfw:/playground/:"
THING = {"service": "main", "model": "thing", "act": "echo", "set": {}, "get": {}}


def opened(page, url):
    """Open the playground in a page; give the page."""
    page.goto(f"{url}/playground")
    page.get_by_role("navigation", name="Views").wait_for()
    page.locator(".loading").wait_for(state="detached")
    return page


@pytest.fixture
def other(page, service_url):  # noqa: F811
    """Another tab of the same browser."""
    other = page.context.new_page()
    problems = watch(other, service_url)
    yield opened(other, service_url)
    assert problems == []


def save_open(page, name):
    """Save the open request under a name; what it was saved as before stays."""
    page.bring_to_front()  # the browser hardly draws a tab behind
    if page.get_by_role("button", name="Update", exact=True).count():
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="Save as new").click()
    else:
        page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Save").or_(dialog.get_by_role("button", name="Replace")).last.click()
    dialog.wait_for(state="detached")


def wait_for_saved(page, names):
    page.bring_to_front()
    saved(page)
    page.wait_for_function(
        "names => [...document.querySelectorAll('.library-title')].map(one => one.innerText).join() === names.join()",
        arg=names,
    )


def keys(page, start=""):
    """What the browser keeps for all tabs, by name."""
    found = page.evaluate("({...localStorage})")
    return {name.removeprefix(PREFIX): text for name, text in found.items() if name.startswith(PREFIX + start)}


def test_requests_saved_in_two_tabs_are_all_there_in_both(page, other):
    for one, name in ((page, "a"), (other, "b"), (page, "c"), (other, "d")):
        one.bring_to_front()
        open_act(one, "echo")
        save_open(one, name)
    for one in (page, other):
        wait_for_saved(one, ["a", "b", "c", "d"])
    page.reload()
    wait_for_saved(page, ["a", "b", "c", "d"])


def test_what_one_tab_removes_does_not_come_back_from_the_other(page, other):
    page.bring_to_front()
    open_act(page, "echo")
    for name in ("a", "b"):
        save_open(page, name)
    wait_for_saved(other, ["a", "b"])
    other.get_by_role("button", name="Remove a").click()
    save_open(page, "c")
    for one in (page, other):
        wait_for_saved(one, ["b", "c"])
    assert sorted(keys(page, "saved")) == ["saved/b", "saved/c"]


def test_of_two_saved_under_one_name_the_later_stays(page, other):
    for one, act in ((page, "echo"), (other, "keep")):
        one.bring_to_front()
        open_act(one, act)
        save_open(one, "a")
    for one in (page, other):
        wait_for_saved(one, ["a"])
        facts = one.get_by_role("region", name="Saved requests").locator(".library-facts")
        facts.get_by_text("thing.keep").first.wait_for()


@pytest.fixture
def crossed(page, other):
    """Both tabs have a saved request open, and another one is saved over it: what is written here is not saved."""
    page.bring_to_front()
    open_act(page, "echo")
    save_open(page, "a")
    wait_for_saved(other, ["a"])
    other.get_by_role("button", name="Open a in a tab").click()
    for one, text in ((page, "mine"), (other, "theirs")):
        one.locator("[data-path='set.note']").fill(text)
    other.get_by_role("button", name="Update", exact=True).click()
    other.get_by_text("“a” updated.").wait_for()
    page.bring_to_front()
    page.wait_for_function("key => localStorage[key].includes('theirs')", arg=PREFIX + "saved/a")
    return page


@pytest.mark.parametrize(
    ("answer", "kept"), [("Show the saved one", "theirs"), ("Replace it", "mine"), ("Close", "theirs")]
)
def test_a_saved_request_is_not_replaced_unasked_where_another_tab_changed_it(crossed, answer, kept):
    crossed.reload()  # what was known of it outlives that
    crossed.get_by_role("button", name="Update", exact=True).click()
    dialog = crossed.get_by_role("dialog", name="Changed in another browser tab")
    dialog.get_by_role("button", name=answer, exact=True).click()
    dialog.wait_for(state="detached")
    assert kept in keys(crossed, "saved")["saved/a"]
    assert crossed.locator("[data-path='set.note']").input_value() == ("mine" if answer == "Close" else kept)
    update = crossed.get_by_role("button", name="Update", exact=True)
    assert update.is_enabled() is (answer == "Close")


def test_what_another_tab_changed_can_be_saved_beside(crossed):
    crossed.get_by_role("button", name="Update", exact=True).click()
    crossed.get_by_role("button", name="Save as new").click()
    dialog = crossed.get_by_role("dialog", name="Save as new")
    dialog.get_by_role("button", name="Save").click()
    dialog.wait_for(state="detached")
    assert {name: json.loads(text)["set"]["note"] for name, text in keys(crossed, "saved").items()} == {
        "saved/a": "theirs",
        "saved/a 2": "mine",
    }


def sequences_of(page):
    """Go to the sequences."""
    page.bring_to_front()
    page.get_by_role("link", name="Sequences", exact=True).click()
    page.get_by_role("heading", name="Sequences").wait_for(state="attached")
    return page


def add_step(page, act):
    add(sequences_of(page), act)


def steps(page, expected):
    """Wait until the steps of the current sequence are these."""
    page.bring_to_front()
    page.wait_for_function(
        "names => [...document.querySelectorAll('.sequences-step .library-title')]"
        ".map(one => one.innerText).join() === names.join()",
        arg=expected,
    )


def test_a_sequence_edited_in_two_tabs_has_what_both_did(page, other):
    add_step(page, "echo")
    steps(sequences_of(other), ["thing.echo"])
    add_step(other, "keep")
    steps(page, ["thing.echo", "thing.keep"])
    add_step(page, "remove")
    other.get_by_label("Name", exact=True).first.fill("Renamed")
    steps(other, ["thing.echo", "thing.keep", "thing.remove"])
    for one in (page, other):
        one.reload()
        steps(sequences_of(one), ["thing.echo", "thing.keep", "thing.remove"])
        assert one.get_by_label("Name", exact=True).first.input_value() == "Renamed"


def test_sequences_of_two_tabs_are_both_kept_and_a_removed_one_does_not_come_back(page, other):
    for one, name in ((page, "One"), (other, "Two")):
        import_text(sequences_of(one), json.dumps({**SEQUENCE, "name": name}))
        one.get_by_role("list", name="Steps").wait_for()
    for one in (page, other):
        names(one).nth(1).wait_for()
        assert names(one).all_inner_texts() == ["One", "Two"]
    names(other).first.click()
    other.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_text("“One” was removed in another tab.").wait_for()
    assert page.get_by_label("Name", exact=True).first.input_value() == "Two"
    page.get_by_label("Name", exact=True).first.fill("Two more")
    assert [json.loads(text)["name"] for text in keys(page, "sequence/").values()] == ["Two more"]


def test_a_secret_of_one_tab_outlives_what_the_other_changes(page, other):
    import_text(sequences_of(page), json.dumps(SEQUENCE))
    page.get_by_role("group", name="Variable password").get_by_label("Value").fill("demo-manager")
    sequences_of(other).get_by_label("Name", exact=True).first.fill("Renamed")
    page.wait_for_function("document.querySelector('.sequences-head input').value === 'Renamed'")
    assert page.get_by_role("group", name="Variable password").get_by_label("Value").input_value() == "demo-manager"
    assert other.get_by_role("group", name="Variable password").get_by_label("Value").input_value() == ""
    assert "demo-manager" not in "".join(keys(page).values())


def test_the_theme_is_that_of_all_tabs(page, other):
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    other.wait_for_function("document.documentElement.dataset.theme === 'dark'")


def test_what_an_earlier_version_kept_is_taken_over(page, service_url):  # noqa: F811
    portable = {key: SEQUENCE[key] for key in ("name", "variables", "steps")}
    page.evaluate(
        "given => Object.entries(given).forEach(([name, value]) => localStorage.setItem(name, JSON.stringify(value)))",
        {PREFIX + "saved": [{"name": "a", **THING}, {"name": "broken"}], PREFIX + "sequences": [portable, portable]},
    )
    opened(page, service_url)
    saved(page)
    page.get_by_text("cannot be read").wait_for()
    wait_for_saved(page, ["a"])
    sequences_of(page)
    assert names(page).all_inner_texts() == ["Add users"] * 2
    assert sorted(keys(page)) == ["saved/a", "saved:damaged", "sequence/before-0", "sequence/before-1"]


DAMAGED = {
    "theme": '"pink"',
    "saved": "{",
    "sequences": "5",
    "saved/x": "not JSON",
    "sequence/y": '{"name": 5}',
}


def test_damaged_values_break_nothing_and_are_not_lost(page, service_url):  # noqa: F811
    page.evaluate(
        "([prefix, given]) =>"
        " Object.entries(given).forEach(([name, text]) => localStorage.setItem(prefix + name, text))",
        [PREFIX, DAMAGED],
    )
    opened(page, service_url)
    page.get_by_text("cannot be read").first.wait_for()
    wait_for_saved(page, [])
    sequences_of(page).get_by_text("No steps yet").wait_for()
    found = keys(page)
    copies = {name.removesuffix(":damaged"): text for name, text in found.items() if name.endswith(":damaged")}
    assert copies == {name: DAMAGED[name] for name in ("theme", "saved", "sequences")}
    assert {name: found[name] for name in ("saved/x", "sequence/y")} == {
        name: DAMAGED[name] for name in ("saved/x", "sequence/y")
    }


BLOCKED = "Storage.prototype.setItem = () => { throw new DOMException('no', 'SecurityError') }"
FULL = "Storage.prototype.setItem = () => { throw new DOMException('no', 'QuotaExceededError') }"


@pytest.mark.parametrize(("script", "why"), [(BLOCKED, "its storage is blocked"), (FULL, "its storage is full")])
def test_what_the_browser_does_not_keep_is_told(page, service_url, script, why):  # noqa: F811
    page.add_init_script(script)
    opened(page, service_url)
    open_act(page, "echo")
    send(page)
    save_open(page, "a")
    page.get_by_text(f"Saved only until the page closes, because the browser cannot store it: {why}.").wait_for()
    wait_for_saved(page, ["a"])
    page.get_by_text(f"The browser cannot store all of this: {why}.").wait_for()
    page.get_by_role("tab", name="History").click()
    page.get_by_label("Keep after a reload").check()
    page.get_by_text(f"The browser cannot store the history: {why}.").wait_for()
    add_step(page, "echo")
    steps(page, ["thing.echo"])
    page.get_by_text(f"The browser cannot store all of this: {why}.").wait_for()


def test_a_playground_works_where_no_storage_is(page, service_url):  # noqa: F811
    page.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage'])"
        " Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError') } })"
    )
    opened(page, service_url)
    open_act(page, "echo")
    save_open(page, "a")
    page.get_by_text("because the browser cannot store it: its storage is blocked").wait_for()
    wait_for_saved(page, ["a"])


def test_what_did_not_fit_is_kept_when_there_is_room_again(page):
    open_act(page, "echo")
    page.evaluate(
        "() => { window.setItem = Storage.prototype.setItem;"
        " Storage.prototype.setItem = () => { throw new DOMException('no', 'QuotaExceededError') } }"
    )
    save_open(page, "a")
    assert keys(page, "saved/") == {}
    page.evaluate("() => { Storage.prototype.setItem = window.setItem }")
    save_open(page, "b")
    wait_for_saved(page, ["a", "b"])
    assert sorted(keys(page, "saved/")) == ["saved/a", "saved/b"]
    assert page.get_by_text("cannot store all of this").count() == 0
    page.reload()
    wait_for_saved(page, ["a", "b"])
