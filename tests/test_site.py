"""The site: it builds without a warning, no link inside it is broken, and the reference has every public name."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import gatewayfw
from gatewayfw.files import FileStore
from gatewayfw.storage import Storage

ROOT = Path(__file__).parent.parent
PACKAGES = ["", ".acts", ".auth", ".client", ".files", ".observe", ".odm", ".storage"]
MODULES = ["errors", "testing.kit", "testing.mongod", "testing.plugin"]
#: Their methods are described with them, not with each of their subclasses.
ABSTRACT = (FileStore, Storage)
pytestmark = pytest.mark.slow
#: Sphinx keeps what it makes until its end: the search for garbage among it would be a third of the time.
SPHINX = "import gc, sys; gc.set_threshold(1_000_000); from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site."""
    folder = tmp_path_factory.mktemp("site")
    words = ["--fail-on-warning", "--keep-going", "-q", "-b", "html", "-d", str(folder / "doctrees")]
    told = subprocess.run(
        [sys.executable, "-c", SPHINX, *words, "docs", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (told.returncode, told.stderr) == (0, "")
    return folder / "html"


def public_names():
    """Yield all names that users may import, and the methods of classes as ``Class.method``."""
    for package in PACKAGES:
        module = importlib.import_module(f"gatewayfw{package}")
        yield from named((name, getattr(module, name)) for name in module.__all__ if name != "__version__")
    for part in MODULES:
        module = importlib.import_module(f"gatewayfw.{part}")
        own = ((name, one) for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__)
        yield from named((name, one) for name, one in own if not name.startswith("_"))


def named(things):
    for name, thing in things:
        yield name
        for base in inspect.getmro(thing) if inspect.isclass(thing) else ():
            if base.__module__.startswith("gatewayfw.") and (base is thing or base not in ABSTRACT):
                yield from (f"{thing.__name__}.{one}" for one, value in vars(base).items() if is_method(one, value))


def is_method(name, value):
    """Tell whether a member of a class is for users: described methods and properties."""
    return not name.startswith("_") and bool(inspect.isroutine(value) or isinstance(value, property))


def test_every_public_name_is_in_the_reference(site):
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda *parts: "/".join(parts))
    found = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    ends = {".".join(name.split(".")[-length:]) for name in found for length in (1, 2)}
    assert sorted(set(public_names()) - ends) == []


class Page(HTMLParser):
    """What a page links to, and what links may point at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.anchors = [], {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        self.links += [given[name] for name in ("href", "src") if given.get(name)]


def test_no_link_inside_the_site_is_broken(site):
    pages = {path: Page(path) for path in site.rglob("*.html")}
    broken, count = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else {""}
            if not target.is_file() or (unquote(parts.fragment) not in anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []
    assert count > 1000


def test_links_to_other_sites_are_listed(site):
    listed = [line.split(" ") for line in (site / "links-outside.txt").read_text("utf-8").splitlines()]
    assert ["https://semver.org", "changelog"] in listed
    assert [(url, name) for url, name in listed if url not in Page(site / f"{name}.html").links] == []


def test_no_page_asks_another_host_for_anything(site):
    asked = [
        (page.name, url)
        for page in site.rglob("*.html")
        for url in re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=\"(https?:[^\"]+)", page.read_text("utf-8"))
    ]
    assert asked == []


def test_a_list_for_language_models_names_every_page(site):
    found = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text("utf-8"))
    pages = {str(page.relative_to(site / "_sources").with_suffix("")) for page in (site / "_sources").rglob("*.md")}
    assert {link.partition("/")[2].rpartition(".")[0] for link in found} == pages - {"index"}
    assert len(found) == len(pages) - 1 > 50
    assert (site / "llms.txt").read_text("utf-8").startswith(f"# gatewayfw\n\n> {gatewayfw.__doc__}")


def test_what_language_models_read_has_the_texts_of_other_files(site):
    found = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text("utf-8"))
    texts = {link: (site / link).read_text("utf-8") for link in found}
    assert [
        link for link, text in texts.items() if re.search(r"^```\{(eval-rst|include|literalinclude)", text, re.M)
    ] == []
    assert "act(model, act, **options)" in texts["text/reference/testing.txt"]
    assert "   FROM python:" in texts["text/howto/containers.txt"]
