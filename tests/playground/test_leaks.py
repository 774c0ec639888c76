"""Views that are left are forgotten: nodes and listeners do not grow."""

from __future__ import annotations

import json

from tests.playground.conftest import open_act, show_view
from tests.playground.test_sequences import SEQUENCE, imported

VIEWS = ("schema", "sequences", "history", "downloads", "acts")


def test_forty_switches_of_views_leave_nothing_behind(page):
    page.get_by_role("link", name="Sequences", exact=True).click()
    imported(page, json.loads(json.dumps(SEQUENCE)))
    show_view(page, "acts")
    open_act(page, "getUsers")
    page.get_by_role("tab", name="JSON").click()
    page.locator(".editor-host:not([hidden])").wait_for()
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")

    def switch(times):
        for _ in range(times):
            for view in VIEWS:
                show_view(page, view)
        page.locator(".editor-host:not([hidden])").wait_for()

    def counted():
        """Count when nothing more is let go: on a busy machine some of it is still waited for."""
        before = None
        while True:
            client.send("HeapProfiler.collectGarbage")
            found = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}
            if before == (before := (found["Nodes"], found["JSEventListeners"])):
                return before
            page.wait_for_timeout(500)

    switch(2)
    nodes, listeners = counted()
    switch(8)
    after = counted()
    assert after[0] <= nodes * 1.02
    assert after[1] <= listeners + 2
