"""Every `Source:` names something that is there, and docs/specification.md numbers its rules without a gap."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_contract_names import NAMES

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "specification.md").read_text("utf-8")
SECTIONS = re.findall(r"^## (\d+)\. ", PAGE, re.MULTILINE)
RULES = re.findall(r"^- \*\*(\d+\.\d+)\*\* ", PAGE, re.MULTILINE)
NUMBERS = {*SECTIONS, *RULES}
FILES = [path for part in ("gatewayfw", "tests", "sample_service") for path in sorted((ROOT / part).rglob("*.py"))]
SOURCE = re.compile(r"\bSource:\s+(.+?)\.(?=\s|$|\"\"\")", re.DOTALL)
OTHERS = re.compile(r"RFC \d+, (section \d+(\.\d+)*|erratum \d+)|https://\S+|(.+ (is|are) )?our choice")


def sources_in(text):
    """Return the items of every source that a file names, without line breaks and marks of comments."""
    return [re.sub(r"\s+(#: )?", " ", item) for found in SOURCE.findall(text) for item in re.split(r";\s+", found)]


def is_resolved(item):
    kind, _, rest = item.partition(" ")
    if kind == "specification":
        return set(rest.split(", ")) <= NUMBERS
    return OTHERS.fullmatch(item) is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Source: specification 5.2, 6.", True),
        ("Source: specification 5.99.", False),
        ("Source: specification, 5.", False),
        ("Source: RFC 6750, section 2.1; the rest is our choice.", True),
        ("Source: RFC 6750.", False),
        ("Source: https://example.org/a.html.", True),
        ("Source: a page.", False),
        ("Source: our choice.", True),
    ],
)
def test_what_counts_as_a_source(text, expected):
    assert all(map(is_resolved, sources_in(text))) is expected


def test_every_source_is_there():
    named = [(path, item) for path in FILES if path != Path(__file__) for item in sources_in(path.read_text("utf-8"))]
    wrong = [f"{path.relative_to(ROOT)}: {item}" for path, item in named if not is_resolved(item)]
    assert (wrong, len(named) > 40) == ([], True)


def test_every_source_ends_with_a_full_stop():
    texts = [path.read_text("utf-8") for path in FILES if path != Path(__file__)]
    assert [text for text in texts if text.count("Source:") != len(SOURCE.findall(text))] == []


def test_the_numbers_have_no_gap():
    assert [str(number) for number in range(1, len(SECTIONS) + 1)] == SECTIONS
    by_section = {number: [rule for rule in RULES if rule.partition(".")[0] == number] for number in SECTIONS}
    assert by_section == {
        number: [f"{number}.{place}" for place in range(1, len(rules) + 1)] for number, rules in by_section.items()
    }


def test_every_name_of_the_contract_is_on_the_page():
    ours = {"enums", "selectStruct", "updateMany", "deleteMany"}  # the specification gives these no name
    names = {name for listed in NAMES.values() for name in listed} - ours
    assert sorted(name for name in names if not re.search(rf"\b{name}\b", PAGE)) == []


def test_every_message_of_the_page_is_asserted_by_a_test():
    table = PAGE.partition("- **21.3**")[2].partition("- **21.4**")[0]
    messages = re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)
    tests = "".join(path.read_text("utf-8") for path in FILES if ROOT / "tests" in path.parents)
    assert (len(messages), [text for text in messages if f'"{text}"' not in tests]) == (9, [])
