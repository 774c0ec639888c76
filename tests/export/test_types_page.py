"""What the page on types shows is what happens."""

from __future__ import annotations

import json
import re
from pathlib import Path

from flask import Flask

from tests.export.test_typescript_live import served

PATH = Path(__file__).parent.parent.parent / "docs" / "types.md"
PAGE = PATH.read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MAIN = """
declare const process: { argv: string[] };
console.log(JSON.stringify(await run(process.argv[2]!)));
"""


def test_the_page_runs(project, tmp_path, monkeypatch, capsys):
    assert PAGE.count("```") == 2 * len(BLOCKS)
    names = {"__name__": "library"}
    monkeypatch.chdir(tmp_path)
    exec(compile("".join(text for kind, text in BLOCKS if kind == "python"), str(PATH), "exec"), names)
    assert capsys.readouterr().out == "declarations/gateway.ts\n"
    app = Flask("library")
    names["gw"].init_app(app, "/api")
    console = "declare const console: { log(...values: unknown[]): void };\n"
    made = project(main="".join([*(text for kind, text in BLOCKS if kind == "ts"), console, MAIN]))
    made.compiles("typescript")
    with served(app) as url:
        printed = made.runs("main", f"{url}/api")
    assert json.loads(printed) == [
        "The Dispossessed by Ursula Le Guin",
        *("The Dispossessed", "Jane Austen", "The Dispossessed"),
        *("400 validation_error", "undefined"),
    ]
