"""The pages: what those for developers name is there, the specification is complete, lists and drawings are sound."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from gatewayfw.settings import Settings
from tests.test_contract_names import NAMES
from tests.test_style_of_code import MAY_SEE

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TEXTS = {path: path.read_text("utf-8") for path in sorted(DOCS.rglob("*.md"))}
PAGES = {name: (ROOT / name).read_text("utf-8") for name in ("docs/architecture.md", "CONTRIBUTING.md")}
#: Quoted words that are no name of ours.
FOREIGN = {"main", "single", "multiple", "preValidation", "preAct", "postAct", "create", "duration", "timedelta"}
FOREIGN |= {"GATEWAYFW_MONGOD", "View", "onError"}


def quoted(page):
    """Return what a page has between backticks, its code blocks apart."""
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", PAGES[page], flags=re.MULTILINE | re.DOTALL)))


def defined():
    """Return every name that package and tests define, those in classes without the class."""
    texts = (path.read_text("utf-8") for part in ("gatewayfw", "tests") for path in (ROOT / part).rglob("*.py"))
    pattern = re.compile(r"^ *(?:class |def |(?=\w+(?:: .+)? = ))(\w+)", re.MULTILINE)
    return {name for text in texts for name in pattern.findall(text)}


@pytest.mark.parametrize("page", PAGES)
def test_the_files_a_page_names_are_there(page):
    paths = {text for text in quoted(page) if re.fullmatch(r"\.?/?[\w./-]+(\.(py|tsx?|md|cfg|html)|/)", text)}
    found = {path for path in paths if (ROOT / path).exists() or (ROOT / "gatewayfw" / path).exists()}
    assert sorted(paths - found) == []
    assert len(paths) > 10


@pytest.mark.parametrize("page", PAGES)
def test_the_functions_and_classes_a_page_names_are_there(page):
    words = {text for text in quoted(page) if re.fullmatch(r"[A-Za-z_]\w*(\.[a-z_]+)?", text)}
    folders = {path.stem for path in (ROOT / "gatewayfw").iterdir()}
    known = defined() | folders | FOREIGN | set(Settings.__dataclass_fields__)
    assert {word for word in words if word.rpartition(".")[2] not in known and not word.startswith("_")} == set()


def test_the_drawing_shows_every_part_and_only_imports_that_are_allowed():
    drawing = PAGES["docs/architecture.md"].partition("```mermaid")[2].partition("```")[0]
    labels = {node: re.sub(r": .*", "", label).split(" · ") for node, label in re.findall(r'(\w+)\["(.+?)"\]', drawing)}
    chains = [re.findall(r"\w+", re.sub(r"\[.+?\]", "", line)) for line in drawing.splitlines() if "-->" in line]
    arrows = {pair for chain in chains for pair in zip(chain, chain[1:], strict=False)}
    wrong = [(a, b) for above, below in arrows for a in labels[above] for b in labels[below] if b not in MAY_SEE[a]]
    drawn = {part for label in labels.values() for part in label}
    assert (wrong, {part for part in MAY_SEE if "." not in part} - drawn) == ([], {"__init__", "playground"})


def test_a_number_beside_the_name_of_a_setting_is_its_default():
    settings, pattern = Settings(), re.compile(r"`(\w+)`\s\(([\d,]+)( MiB)?\)")
    found = [(path.name, *match) for path, text in TEXTS.items() for match in pattern.findall(text)]
    shown = [
        (page, name, int(number.replace(",", "")) * (2**20 if unit else 1))
        for page, name, number, unit in found
        if hasattr(settings, name)
    ]
    assert shown == [(page, name, getattr(settings, name)) for page, name, _ in shown]
    assert len(shown) > 5


def test_the_specification_has_every_name_of_the_contract():
    ours = {"enums", "selectStruct", "updateMany", "deleteMany"}  # the specification gives these no name
    names = {name for listed in NAMES.values() for name in listed} - ours
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", TEXTS[DOCS / "specification.md"])) == []


def test_every_message_of_the_specification_is_asserted_by_a_test():
    table = TEXTS[DOCS / "specification.md"].partition("- **21.3**")[2].partition("- **21.4**")[0]
    messages = re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert (len(messages), [text for text in messages if f'"{text}"' not in tests]) == (9, [])


def test_drawings_have_a_text_for_those_who_do_not_see_them():
    shown = {
        (path.parent / target).resolve(): text
        for path, page in TEXTS.items()
        for text, target in re.findall(r"!\[([^\]]*)\]\((\S+\.svg)\)", page)
    }
    assert [path for path in DOCS.rglob("*.svg") if len(shown.get(path.resolve(), "")) <= 40] == []


def wrapped_items(page):
    """Return the lines that begin a list, though they continue a sentence."""
    lines = re.sub(r"^ *```.*?^ *```$", "", page, flags=re.MULTILINE | re.DOTALL).splitlines()
    pairs = [(above, line) for above, line in pairwise(lines) if re.match(r" *[-+*] ", line)]
    # A list follows an empty line, another item, or the words that announce it.
    return [line for above, line in pairs if re.match(r"(?! *[-+*] |  ).*[^:*]$", above)]


def test_no_wrapped_line_begins_a_list():
    assert {path.name: found for path, page in TEXTS.items() if (found := wrapped_items(page))} == {}
