"""The page of all settings is that of today, and its example runs."""

from __future__ import annotations

import re
from dataclasses import fields

from gatewayfw.settings import Settings
from tests.settings_page import PAGE, comments, table


def test_the_page_has_the_settings_of_today():
    assert table() in PAGE.read_text("utf-8"), "run: python -m tests.settings_page"


def test_every_setting_is_explained():
    texts = comments()
    assert list(texts) == [one.name for one in fields(Settings)]
    assert [name for name, text in texts.items() if not re.fullmatch(r"[A-Z].{20,}\.", text)] == []


def test_the_examples_run():
    examples = "".join(re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
    exec(compile(examples, str(PAGE), "exec"), {"__name__": "example"})
