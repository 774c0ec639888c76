"""The pages `docs/performance*.md`, whose tables are put there by the runs themselves."""

from __future__ import annotations

import re
from pathlib import Path

#: The page with three of the tables, and the one with all of them.
FRONT = Path(__file__).parent.parent / "docs" / "performance.md"
DETAILS = FRONT.with_name("performance-details.md")
_EXCERPT = r"(?<=<!-- begin {name}: )(?P<above>.+?) -->\n.*?(?=<!-- end {name} -->)"


def put(page: Path, name: str, text: str, chart: str) -> None:
    """Put a run's tables between its two marks on a page, and its chart, if any, into a file beside it.

    Raises:
        ValueError: the page has no such marks.
    """
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, mark, rest = page.read_text("utf-8").partition(begin)
    _old, last, after = rest.partition(end)
    if not mark or not last:
        raise ValueError(f"{page.name} has no marks for {name}")
    if chart:
        picture = page.with_name(f"{page.stem}-{name}.svg")
        picture.write_text(chart, "utf-8")
        text += f"\n![Chart of {name}, with the figures of the tables above]({picture.name})\n"
    page.write_text(f"{before}{begin}{text}{end}{after}", "utf-8")


def put_excerpts(page: Path, name: str, text: str) -> None:
    """Put the tables of a run that a page shows there: each by the beginning of the line above it.

    Raises:
        ValueError: the run has no such table.
    """

    def excerpt(mark: re.Match[str]) -> str:
        found = re.search(rf"^{re.escape(mark['above'])}.*\n\n((?:\|.*\n)+)", text, re.MULTILINE)
        if not found:
            raise ValueError(f"{name} has no table below {mark['above']!r}")
        return f"{mark['above']} -->\n{found[1]}"

    pattern = re.compile(_EXCERPT.format(name=re.escape(name)), re.DOTALL)
    page.write_text(pattern.sub(excerpt, page.read_text("utf-8")), "utf-8")


def parts(page: Path) -> list[str]:
    """Return the names of the runs that a page has marks for."""
    return re.findall(r"^<!-- begin ([\w-]+)(?:: .+)? -->$", page.read_text("utf-8"), re.MULTILINE)
