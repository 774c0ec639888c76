"""A text of a definition or of data may turn the direction of its characters, never of those that follow it."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import defaulted, described, enums, integer, optional, string
from tests.playground.conftest import open_act, send, show_view
from tests.playground.test_acts import at

#: From here on right to left, and it does not say until where.
TURN = "\u202e"
#: Texts of the page whose first letter does not stand before their second.
TURNED = f"""() => {{
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const turned = [];
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {{
        const own = node.parentElement.closest("bdi")?.textContent ?? node.data;
        if (!/[a-z]{{2}}/i.test(node.data) || own.includes("{TURN}") || !node.parentElement.checkVisibility()) continue;
        const first = node.data.search(/[a-z]{{2}}/i);
        const at = (index) => {{
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + 1);
            return range.getBoundingClientRect();
        }};
        const [one, two] = [at(first), at(first + 1)];
        if (one.width && one.top === two.top && one.left > two.left) turned.push(node.data);
    }}
    return turned;
}}"""


@pytest.fixture
def turning(page, stage):
    """A page of a service whose texts all turn what follows."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("book", {"title": described(string(), f"its {TURN}title"), "name": string()})
    sent = {
        "title": described(optional(string(pattern="[a-z]+")), f"the {TURN}title `code` of it"),
        "look": optional(enums([f"ha{TURN}rd", "soft"])),
        "size": defaulted(string(), f"la{TURN}rge"),
        f"pa{TURN}ges": described(optional(integer(minimum=1)), f"in {TURN}pages"),
    }
    rows = [{"_id": f"{1:024x}", "title": f"Em{TURN}ma", f"ke{TURN}y": "x", "page": 1}]

    @gw.acts.act("book", "getBooks", set=sent, get=gw.schemas.select_struct("book", 1), public=True)
    def get_books(body):
        """All \u202ebooks, `by` title."""
        return rows

    page.goto(f"{stage(gw.create_app(playground=True))}/playground")
    open_act(page, "getBooks")
    return page


def test_no_text_turns_what_follows_it(turning):
    found = {"form": turning.evaluate(TURNED)}
    at(turning, "set.title").fill(f"Em{TURN}ma")
    send(turning)
    found["reply"] = turning.evaluate(TURNED)
    for name in ("Table", "Raw", "Headers"):
        turning.get_by_role("tab", name=name).click()
        found[name] = turning.evaluate(TURNED)
    turning.get_by_role("tab", name="About").click()
    turning.locator(".act-docs").wait_for()
    found["about"] = turning.evaluate(TURNED)
    for view in ("schema", "sequences", "history"):
        show_view(turning, view)
        found[view] = turning.evaluate(TURNED)
    assert found == dict.fromkeys(found, [])


def test_a_reply_shows_the_character_that_would_turn_it(turning):
    send(turning)
    assert "Em\\u202ema" in turning.get_by_role("tree", name="Reply as a tree").inner_text()
