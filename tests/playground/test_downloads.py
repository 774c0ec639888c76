"""The downloads: what the server makes of its catalog."""

from __future__ import annotations

import urllib.request

import pytest

FILES = ("gateway.ts", "gateway_types.py", "openapi.json", "schema.json")


@pytest.fixture
def downloads(page):
    """The view of downloads."""
    page.get_by_role("link", name="Downloads", exact=True).click()
    page.get_by_role("heading", name="Downloads").wait_for()
    return page


def test_a_download_is_what_the_server_gives(downloads, service_url, tmp_path):
    for name in FILES:
        expected = urllib.request.urlopen(f"{service_url}/playground/{name}").read()
        with downloads.expect_download() as download:
            downloads.get_by_role("button", name=f"Download {name}").click()
        assert download.value.suggested_filename == name
        download.value.save_as(tmp_path / name)
        assert (tmp_path / name).read_bytes() == expected


def test_types_are_shown_and_copied(downloads):
    downloads.get_by_role("button", name="Show gateway.ts").click()
    shown = downloads.get_by_role("region", name="gateway.ts")
    shown.locator(".code-word").get_by_text("export", exact=True).first.wait_for()
    assert "createClient" in shown.inner_text()
    downloads.get_by_role("button", name="Hide gateway.ts").click()
    assert downloads.get_by_role("region", name="gateway.ts").count() == 0


def test_what_the_server_does_not_have_is_told(downloads):
    downloads.evaluate("window.fetch = async () => new Response('it is gone', {status: 404})")
    downloads.get_by_role("button", name="Download openapi.json").click()
    alert = downloads.get_by_role("alert").filter(has_text="openapi.json")
    assert alert.inner_text() == "This server does not provide openapi.json: it is gone"
