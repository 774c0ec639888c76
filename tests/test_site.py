"""The site: it builds without a warning, and the reference has every public name."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gatewayfw

ROOT = Path(__file__).parent.parent
PACKAGES = ["", ".acts", ".auth", ".client", ".files", ".observe", ".odm", ".storage"]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site."""
    folder = tmp_path_factory.mktemp("site")
    words = ["--fail-on-warning", "--keep-going", "-q", "-b", "html", "-d", str(folder / "doctrees")]
    told = subprocess.run(
        [sys.executable, "-m", "sphinx", *words, "docs", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (told.returncode, told.stderr) == (0, "")
    return folder / "html"


def test_every_public_name_is_in_the_reference(site):
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda *parts: "/".join(parts))
    found = {name.rpartition(".")[2] for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    public = {name for one in PACKAGES for name in importlib.import_module(f"gatewayfw{one}").__all__}
    assert sorted(public - found - {"__version__"}) == []


def test_no_page_asks_another_host_for_anything(site):
    asked = [
        (page.name, url)
        for page in site.rglob("*.html")
        for url in re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=\"(https?:[^\"]+)", page.read_text("utf-8"))
    ]
    assert asked == []


def test_a_list_for_language_models_names_every_page(site):
    listed = set(re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text("utf-8")))
    own = {str(page.relative_to(site)) for page in site.rglob("*.html")} - {
        *("index.html", "genindex.html", "search.html", "py-modindex.html"),
    }
    assert listed == own
    assert (site / "llms.txt").read_text("utf-8").startswith(f"# gatewayfw\n\n> {gatewayfw.__doc__}")
