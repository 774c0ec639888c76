"""What the page on security names exists: tests, parts of the corpus, settings with their defaults, options."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from gatewayfw import Gateway, auth, schemas
from gatewayfw.acts import Acts
from gatewayfw.odm import Model, Odm
from gatewayfw.settings import Settings

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
POLICY = (ROOT / "SECURITY.md").read_text("utf-8")
QUOTED = re.findall(r"`([^`\n]+)`", PAGE + POLICY)
SETTINGS = asdict(Settings())


def source(*names: str) -> str:
    return "\n".join((ROOT / name).read_text("utf-8") for name in names)


def parameters() -> set[str]:
    """The names of what a gateway, its mounts, acts, models, kinds and tokens take."""
    takers = [
        Gateway,
        Gateway.blueprint,
        Gateway.run_server,
        Acts.act,
        Acts.set_act,
        Model.find,
        Odm.set_db,
        auth.Auth,
        auth.Tokens,
        auth.Pbkdf2Hasher,
    ]
    return {name for taker in [*takers, schemas.string, schemas.file] for name in inspect.signature(taker).parameters}


def test_every_file_exists():
    paths = {text for text in QUOTED if re.fullmatch(r"(tests|sample_service|docs)(/[\w.]+)+", text)}
    assert len(paths) > 40
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_every_part_of_the_corpus_is_named_as_it_is_called():
    topics = set(json.loads(source("tests/hostile/corpus.json"))["cases"])
    cells = re.findall(r"corpus (.+?) \|$", PAGE, re.MULTILINE)
    assert {text for cell in cells for text in re.findall('"(.+?)"', cell)} == topics


def test_every_default_is_that_of_the_setting():
    shown = {name: float(value) for name, value in re.findall(r"`(\w+)=(\d+)`", PAGE) if name in SETTINGS}
    assert len(shown) > 10
    assert shown == {name: SETTINGS[name] for name in shown}


def test_every_option_exists():
    shipped = source(
        "sample_service/__init__.py",
        "sample_service/gunicorn.conf.py",
        "sample_service/nginx.conf",
        "gatewayfw/web/mount.py",
    )
    known = {
        *SETTINGS,
        *parameters(),
        *vars(Gateway),
        *vars(Odm),
        *dir(Model),
        *vars(Acts),
        *vars(auth),
        *vars(schemas),
        *re.findall(r"\w+", shipped),
    }
    names = {name for text in QUOTED if "/" not in text for name in re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)}
    names |= {name for text in QUOTED for name in re.findall(r"\b([a-z_]+)=", text)}
    assert sorted(names - known) == []


@pytest.mark.parametrize("name", sorted(set(re.findall(r"GATEWAYFW_\w+", PAGE + POLICY))))
def test_every_variable_is_read(name):
    read = source(
        "sample_service/app.py", "gatewayfw/environment.py", "gatewayfw/auth/tokens.py", "tests/hostile/conftest.py"
    )
    assert name in read or name.removeprefix("GATEWAYFW_").lower() in SETTINGS
