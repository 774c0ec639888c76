"""Saved requests in folders: the side list, moving, renaming, removing, files, and two browser tabs."""

from __future__ import annotations

import json

import pytest

from tests.playground.conftest import open_act
from tests.playground.test_acts import at
from tests.playground.test_library import saved
from tests.playground.test_numbers import bodies, service_url  # noqa: F401  # fixtures
from tests.playground.test_two_tabs import THING, keys, opened, other  # noqa: F401  # other is a fixture

FILE = {
    "format": "gatewayfw-requests",
    "version": 1,
    "requests": [
        {"name": "alone", **THING},
        {"name": "first", "folder": "Tests", **THING, "set": {"whole": 1}},
        {"name": "second", "folder": "Tests", **THING, "set": {"whole": 2}},
    ],
}


def lists(page):
    """What the side list shows of the saved requests, line by line."""
    group = page.get_by_role("navigation", name="Acts").get_by_role("group", name="Saved requests")
    return [text.replace("\n", " ") for text in group.locator(".acts-saved").all_inner_texts()]


def wait_for_lists(page, expected):
    page.bring_to_front()
    page.wait_for_function(
        "names => [...document.querySelectorAll('.acts-saved')]"
        ".map(one => one.innerText.replace('\\n', ' ')).join() === names.join()",
        arg=expected,
    )


def import_file(page, content):
    page.bring_to_front()
    saved(page)
    page.locator("input[type=file]").set_input_files(
        {"name": "requests.json", "mimeType": "application/json", "buffer": json.dumps(content).encode()}
    )


@pytest.fixture
def folders(page):
    """One saved request in no folder and two in the folder Tests; the view of acts."""
    import_file(page, FILE)
    page.get_by_role("link", name="Acts", exact=True).click()
    wait_for_lists(page, ["Saved 1", "alone", "Tests 2", "first", "second"])
    return page


def edit(page, which, **fields):
    """Open the dialog of a request or folder, write into its fields and save."""
    page.get_by_role("button", name=f"Edit {which}", exact=True).click()
    dialog = page.get_by_role("dialog")
    for label, text in fields.items():
        dialog.get_by_label(label.title()).fill(text)
    dialog.get_by_role("button", name="Save", exact=True).click()
    dialog.wait_for(state="detached")


def kept_set(page, name):
    """The ``set`` of a request as the browser keeps it."""
    return json.loads(keys(page, f"saved/{name}")[f"saved/{name}"])["set"]


def undo(page):
    page.get_by_role("button", name="Undo").last.click()


def test_a_request_is_saved_in_a_folder_and_opened_from_the_side_list(page):
    open_act(page, "echo")
    at(page, "set.whole").fill("7")
    page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("seven")
    dialog.get_by_label("Folder").fill("Numbers")
    dialog.get_by_role("button", name="Save").click()
    wait_for_lists(page, ["Numbers 1", "seven"])
    line = page.get_by_role("navigation", name="Acts").get_by_role("button", name="seven", exact=True)
    at(page, "set.whole").fill("8")
    open_act(page, "keep")
    line.click()  # it is open: no other tab
    assert at(page, "set.whole").input_value() == "8"
    assert strip(page) == ["seven, changed", "thing.keep"]
    page.get_by_role("button", name="Numbers 1").click()
    assert lists(page) == ["Numbers 1"]
    page.get_by_role("searchbox", name="Filter acts").fill("seve")
    assert lists(page) == ["Numbers 1", "seven"]


def test_a_saved_request_is_updated_or_saved_as_new_and_its_tab_has_its_name(folders):
    folders.get_by_role("navigation", name="Acts").get_by_role("button", name="first", exact=True).click()
    region = folders.get_by_role("region", name="Request")
    said, update = region.locator(".request-saved"), region.get_by_role("button", name="Update", exact=True)
    assert said.inner_text().split("\n")[-1] == "Tests / first"
    assert update.is_disabled()
    at(folders, "set.whole").fill("5")
    assert said.inner_text().endswith("Tests / first · changed")
    update.click()
    folders.get_by_text("“first” updated.").wait_for()
    assert kept_set(folders, "first") == {"whole": 5}
    undo(folders)
    assert kept_set(folders, "first") == {"whole": 1}
    assert said.inner_text().endswith("· changed")
    region.get_by_role("button", name="More", exact=True).click()
    folders.get_by_role("menuitem", name="Save as new").click()
    dialog = folders.get_by_role("dialog", name="Save as new")
    assert [dialog.get_by_label(name).input_value() for name in ("Name", "Folder")] == ["first 2", "Tests"]
    dialog.get_by_role("button", name="Save").click()
    folders.reload()
    wait_for_lists(folders, ["Saved 1", "alone", "Tests 3", "first", "first 2", "second"])
    edit(folders, "first 2", name="third")
    assert folders.locator(".strip-tab.now .strip-open").inner_text() == "third"
    assert [kept_set(folders, name) for name in ("first", "third")] == [{"whole": 1}, {"whole": 5}]


def test_requests_are_moved_renamed_and_removed_and_each_can_be_had_back(folders):
    before = ["Saved 1", "alone", "Tests 2", "first", "second"]
    edit(folders, "alone", folder="Tests")
    assert lists(folders) == ["Tests 3", "alone", "first", "second"]
    undo(folders)
    assert lists(folders) == before
    edit(folders, "second", name="a second", folder="More")
    assert lists(folders) == ["Saved 1", "alone", "More 1", "a second", "Tests 1", "first"]
    undo(folders)
    assert lists(folders) == before
    folders.get_by_role("button", name="Edit first").click()
    folders.get_by_role("dialog").get_by_role("button", name="Remove").click()
    assert lists(folders) == ["Saved 1", "alone", "Tests 1", "second"]
    undo(folders)
    assert lists(folders) == before
    folders.get_by_role("button", name="Edit first").click()
    folders.get_by_role("dialog").get_by_label("Name").fill("alone")
    folders.get_by_text("This name is taken.").wait_for()
    assert folders.get_by_role("dialog").get_by_role("button", name="Save").is_disabled()


def test_a_folder_is_renamed_and_removed_with_all_in_it(folders):
    edit(folders, "the folder Tests", name="Checks")
    assert lists(folders) == ["Saved 1", "alone", "Checks 2", "first", "second"]
    undo(folders)
    folders.get_by_role("button", name="Edit the folder Tests").click()
    folders.get_by_role("dialog").get_by_role("button", name="Remove").click()
    assert lists(folders) == ["Saved 1", "alone"]
    undo(folders)
    assert lists(folders) == ["Saved 1", "alone", "Tests 2", "first", "second"]


def test_a_file_keeps_the_folders(folders, tmp_path):
    saved(folders)
    with folders.expect_download() as download:
        folders.get_by_role("button", name="Export").click()
    path = tmp_path / "requests.json"
    download.value.save_as(path)
    assert json.loads(path.read_text()) == FILE


def test_folders_of_two_tabs_are_both_there(folders, other):  # noqa: F811
    edit(folders, "alone", folder="One")
    other.bring_to_front()
    edit(other, "first", folder="Two")
    for one in (folders, other):
        wait_for_lists(one, ["One 1", "alone", "Tests 1", "second", "Two 1", "first"])
    other.get_by_role("button", name="Edit alone").click()
    other.get_by_role("dialog").get_by_role("button", name="Remove").click()
    wait_for_lists(folders, ["Tests 1", "second", "Two 1", "first"])
    kept = {name: json.loads(text)["folder"] for name, text in keys(folders, "saved/").items()}
    assert kept == {"saved/first": "Two", "saved/second": "Tests"}


def test_a_request_that_was_saved_before_there_were_folders_is_in_none(page, service_url):  # noqa: F811
    text = json.dumps({"name": "old", **THING})
    page.evaluate("text => localStorage.setItem('gatewayfw:/playground/:saved/old', text)", text)
    wait_for_lists(opened(page, service_url), ["Saved 1", "old"])


def strip(page):
    return (
        page.get_by_role("group", name="Open requests")
        .locator(".strip-open")
        .evaluate_all("all => all.map((one) => one.textContent)")
    )


def open_saved(page, name):
    page.get_by_role("group", name="Saved requests").get_by_role("button", name=name, exact=True).click()


def test_a_saved_request_has_one_tab_that_says_whether_it_is_changed(folders):
    open_saved(folders, "first")
    at(folders, "set.whole").fill("7")
    assert strip(folders) == ["first, changed"]
    folders.get_by_role("button", name="Close first").click()
    open_saved(folders, "first")
    assert strip(folders) == ["first"]
    folders.get_by_text("Closed “first”.").get_by_role("button", name="Undo").click()
    assert (strip(folders), at(folders, "set.whole").input_value()) == (["first, changed"], "7")


def test_a_tab_that_is_had_back_takes_no_saved_request_from_one_that_was_changed(folders):
    open_saved(folders, "first")
    for number in ("7", "8"):
        at(folders, "set.whole").fill(number)
        if number == "7":
            folders.get_by_role("button", name="Close first").click()
            open_saved(folders, "first")
    folders.get_by_text("Closed “first”.").get_by_role("button", name="Undo").click()
    assert sorted(strip(folders)) == ["first, changed", "thing.echo"]
