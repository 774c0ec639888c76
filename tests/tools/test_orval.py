"""The functions of orval, which take the service's address from the document."""

from __future__ import annotations

import json


def test_calls_with_them_succeed(live):
    made, url = live("orval", "sample", virtual_paths=True)
    document = json.loads((made.folder / "openapi.json").read_text())
    made.write("openapi.json", {**document, "servers": [{"url": url}]})  # what --server writes
    made.run("orval")
    made.typescript("sample")
