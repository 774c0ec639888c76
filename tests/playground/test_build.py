"""The committed build is what the source gives, and as small as promised."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from tests.playground.conftest import open_act
from tests.playground.front_end import BUILT, NOTICES, SOURCE, copied, install, require_node, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with a copy of the source in ``playground`` and what it builds."""
    require_node()
    folder = tmp_path_factory.mktemp("front end")
    source = copied(folder)
    install(source)
    run(source, "npm", "run", "--silent", "check")
    run(source, "npm", "run", "--silent", "build")
    return folder / "gatewayfw" / "playground" / "static"


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_committed_build_is_what_the_source_gives(built):
    committed, made = contents(BUILT), contents(built)
    assert sorted(committed) == sorted(made), "run ./dev playground and commit what it builds"
    assert [name for name in made if made[name] != committed[name]] == []


def packed(name: str) -> int:
    return len(gzip.compress((BUILT / name).read_bytes(), 9, mtime=0))


def reached(*names: str) -> set[str]:
    """The scripts that are loaded with these, not counting what they load later."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        text = (BUILT / "assets" / name).read_text("utf-8")
        waiting += re.findall(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""", text)
    return found


def one(start: str) -> str:
    """The script of a view; what it shares with another one may be called the same, and is smaller."""
    return max((BUILT / "assets").glob(f"{start}-*.js"), key=lambda path: path.stat().st_size).name


def first_load() -> set[str]:
    """The scripts of the page, of the view of acts, which it opens at once, and of a request that was open."""
    page = (BUILT / "index.html").read_text("utf-8")
    return reached(*re.findall(r"assets/([\w.-]+\.js)", page), one("request"), one("sides"))


def loaded_by(page) -> set[str]:
    """The scripts and styles that the page loads when it is opened."""
    names: set[str] = set()
    page.on("request", lambda request: names.add(f"assets/{request.url.rpartition('/')[2]}"))
    page.reload()
    page.locator(".loading").wait_for(state="detached")
    page.wait_for_load_state("networkidle")
    return {name for name in names if name.endswith((".js", ".css"))}


def test_the_first_load_is_small(page):
    assert sum(map(packed, loaded_by(page))) <= 75_000
    open_act(page, "getUsers")
    page.get_by_role("button", name="Send", exact=True).wait_for()
    names = loaded_by(page)
    assert {f"assets/{name}" for name in first_load()} <= names
    assert sum(map(packed, names)) <= 75_000


def test_the_fonts_are_small():
    sizes = {path.name.split("-")[0]: path.stat().st_size for path in BUILT.glob("assets/*.woff2")}
    assert sorted(sizes) == ["inter", "jetbrains"]
    assert max(sizes.values()) <= 50_000


def test_with_the_editor_it_is_not_large():
    size = sum(packed(f"assets/{name}") for name in first_load() | reached(one("codemirror")))
    assert size <= 200_000


def test_all_of_it_adds_little_to_the_package():
    assert sum(packed(name) for name in contents(BUILT)) <= 700_000


def test_the_notices_are_those_of_the_packages(built):
    made = (built.parents[2] / NOTICES.name).read_text("utf-8")
    assert made == NOTICES.read_text("utf-8"), "run ./dev playground and commit what it builds"


def test_packages_are_pinned_and_their_lock_names_no_place():
    package = json.loads((SOURCE / "package.json").read_text("utf-8"))
    wanted = package["dependencies"] | package["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    lock = json.loads((SOURCE / "package-lock.json").read_text("utf-8"))
    assert not any("resolved" in entry for entry in lock["packages"].values())
    assert all("integrity" in entry for name, entry in lock["packages"].items() if name)
