"""The playground without a mouse."""

from __future__ import annotations

from tests.playground.conftest import open_act, show_view


def focused(page) -> str:
    return page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.innerText")


def test_a_request_is_made_with_the_keyboard_alone(page):
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").wait_for()
    page.keyboard.type("login")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="user.login").wait_for()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.path") == "set.email":
            break
    page.keyboard.type("manager@example.com")
    page.keyboard.press("Tab")
    page.keyboard.type("demo-manager")
    page.keyboard.press("Control+Enter")
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    page.get_by_role("button", name="Use it").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="manager@example.com").wait_for()


def test_nothing_that_is_typed_after_ctrl_k_is_lost(page):
    """Not even if the network is slow: the palette is there with the page."""
    page.context.set_offline(True)
    page.keyboard.press("Control+k")
    page.keyboard.type("manager")
    searched = page.get_by_role("combobox").input_value()
    page.context.set_offline(False)
    assert searched == "manager"


def test_the_first_stop_skips_to_the_content(page):
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('main .acts-main')") is True


def test_the_skip_link_leads_past_the_list_of_acts(page):
    open_act(page, "addCity")
    page.get_by_role("link", name="Skip to content").press("Enter")
    page.keyboard.press("Tab")
    assert focused(page) == "city.addCity"


def test_an_act_that_is_searched_gets_the_focus(page):
    page.get_by_label("Filter acts").focus()
    page.keyboard.press("Control+k")
    page.keyboard.type("addCity")
    page.keyboard.press("Enter")
    page.locator("main .acts-main:focus").wait_for()
    page.keyboard.press("Tab")
    assert focused(page) == "city.addCity"


def test_a_dialog_gives_the_focus_back(page):
    button = page.get_by_role("button", name="Headers and token")
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name="Headers and token").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    assert button.evaluate("one => one === document.activeElement") is True


def test_the_focus_stays_where_it_was_when_what_has_it_is_taken_away(page):
    for act in ("addCity", "getCity", "getMe"):
        open_act(page, act)
    for closed, next_one in (("getCity", "user.getMe"), ("getMe", "city.addCity")):
        page.get_by_role("button", name=f"Close {closed}").focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name=f"Close {closed}").wait_for(state="detached")
        assert focused(page) == next_one
    page.get_by_role("button", name="Close addCity").focus()
    page.keyboard.press("Enter")
    page.locator("main .acts-main:focus").wait_for()
    page.get_by_role("banner").get_by_role("button", name="Log in").focus()
    page.keyboard.press("Enter")
    page.locator("dialog [data-path='set.email']").fill("manager@example.com")
    page.locator("dialog [data-path='set.password']").fill("demo-manager")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for(state="detached")
    assert focused(page) == "Manager, manager@example.com"
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Log out").press("Enter")
    page.get_by_role("banner").get_by_role("button", name="Log in").wait_for()
    assert focused(page) == "Headers and token"


RING = """one => { const { outlineOffset, outlineWidth } = getComputedStyle(one);
    return parseFloat(outlineOffset) + parseFloat(outlineWidth); }"""


def test_the_ring_around_the_content_is_within_it(page):
    for view in ("acts", "schema", "history"):
        show_view(page, view)
        page.get_by_role("link", name="Skip to content").press("Enter")
        assert page.locator("main:focus-visible, main [data-content]:focus-visible").evaluate(RING) == 0


def test_arrows_lead_through_menus_and_tabs(page):
    page.get_by_role("button", name="Theme").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    open_act(page, "getUser")
    page.get_by_role("tab", name="Form").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="About").get_attribute("aria-selected") == "true"


def test_arrows_lead_through_the_projection(page):
    open_act(page, "getCity")
    page.locator("[data-path='get._rev']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.dataset.path") == "get.country.name"
    assert page.locator("[data-path='get.country']").evaluate("box => box.indeterminate") is True


def test_arrows_lead_through_the_reply(page, login):
    login()
    open_act(page, "getUsers")
    page.keyboard.press("Control+Enter")
    tree = page.get_by_role("tree", name="Reply as a tree")
    tree.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    row = page.locator("[aria-level='2']").first
    assert (row.get_attribute("aria-selected"), row.get_attribute("aria-expanded")) == ("true", "false")
    page.keyboard.press("ArrowRight")
    assert row.get_attribute("aria-expanded") == "true"
    page.keyboard.press("End")  # The closing bracket there is no value.
    page.get_by_role("treeitem", selected=True).filter(has_text="next:").wait_for()
    assert page.get_by_role("treeitem").last.inner_text().split() == ["next:", "null"]


def test_tab_leaves_the_editor(page):
    open_act(page, "getUser")
    page.get_by_role("tab", name="JSON").click()
    page.locator(".cm-content").wait_for()
    page.get_by_role("textbox", name="Details as JSON").focus()
    page.keyboard.press("Tab")
    assert focused(page) == "Format"
