"""Where the system chooses the colours, what is chosen can be told from what is not."""

from __future__ import annotations

import pytest

from tests.playground.conftest import open_act, send, show_view

#: Chosen things that look like one beside them that is not chosen.
ALIKE = """() => {
    const look = one => {
        const {backgroundColor, color, borderBottomColor} = getComputedStyle(one);
        return [backgroundColor, color, borderBottomColor].join(' ');
    };
    return [['aria-selected', 'true'], ['aria-current', null], ['aria-pressed', 'true']].flatMap(([name, value]) => {
        const isChosen = one => value === null ? one.hasAttribute(name) : one.getAttribute(name) === value;
        return [...document.querySelectorAll(`[${name}]:not(svg *)`)]
            .filter(one => isChosen(one) && one.checkVisibility())
            .filter(one => [...(one.closest('ul, [role=tablist], [role=tree], .views, .strip, .roles, .sides') ?? one
                .parentElement).querySelectorAll(one.tagName)].some(other => !isChosen(other)
                && other.className === one.className.replace(/ (now|chosen)/, '') && look(other) === look(one)))
            .map(one => `${name} ${one.textContent.slice(0, 20)}`);
    });
}"""


#: The system's ground of what is chosen.
MARK = """() => {
    const one = document.body.appendChild(document.createElement('b'));
    one.style.cssText = 'forced-color-adjust: none; background: Highlight';
    const found = getComputedStyle(one).backgroundColor;
    one.remove();
    return found;
}"""


@pytest.fixture(params=[1280, 390])
def forced(page, login, request):
    """A page in forced colours with two open requests and a reply, at a width."""
    login()
    open_act(page, "updateUser")
    open_act(page, "getUsers")
    send(page)
    page.set_viewport_size({"width": request.param, "height": 800})
    page.emulate_media(forced_colors="active")
    yield page
    page.emulate_media(forced_colors="none")


def test_what_is_chosen_is_seen_in_forced_colours(forced):
    found = {"acts": forced.evaluate(ALIKE)}
    for view in ("schema", "sequences", "history", "downloads"):
        show_view(forced, view)
        found[view] = forced.evaluate(ALIKE)
    assert found == dict.fromkeys(found, [])


def test_the_chosen_tab_has_the_mark_of_the_system(forced):
    show_view(forced, "history")
    forced.locator(".library").wait_for()
    tabs = forced.get_by_role("tablist").first.get_by_role("tab")
    grounds = [tab.evaluate("one => getComputedStyle(one).backgroundColor") for tab in tabs.all()]
    mark = forced.evaluate(MARK)
    assert grounds.count(mark) == 1


def test_a_ticked_box_differs_from_another_in_forced_colours(forced):
    boxes = forced.get_by_role("checkbox")
    looks = {
        (box.is_checked(), box.screenshot(animations="disabled"))
        for box in boxes.all()
        if box.is_visible() and box.is_enabled()
    }
    assert {is_checked for is_checked, _ in looks} == {True, False}
    grounds = {is_checked: {look for checked, look in looks if checked == is_checked} for is_checked in (True, False)}
    assert grounds[True].isdisjoint(grounds[False])
