"""A copy of the sample service under another name works without a change."""

import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "sample_service"
TRY = """
import runpy, sys
import shop
app = shop.create_app(token_key="k" * 32)
body = {"model": "country", "act": "getCountry", "details": {"set": {"countryId": "f" * 24}, "get": {"_id": 1}}}
print(app.test_client().post("/gateway", json=body).get_json())
print(runpy.run_path("shop/gunicorn.conf.py")["wsgi_app"])
print(sorted(name for name in sys.modules if name.startswith("sample_service")))
"""


def test_a_renamed_copy_answers_and_imports_nothing_of_the_original(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "shop", ignore=shutil.ignore_patterns("__pycache__"))
    told = subprocess.run([sys.executable, "-c", TRY], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert told.stdout.splitlines() == [
        "{'body': {'message': 'country not found'}, 'success': False}",
        "shop:create_app()",
        "[]",
    ], told.stderr


def test_no_file_but_its_own_page_names_the_folder():
    naming = [
        path.name
        for path in FOLDER.rglob("*")
        if path.suffix in {".py", ".conf"} and "sample_service" in path.read_text()
    ]
    assert naming == ["__init__.py"]
