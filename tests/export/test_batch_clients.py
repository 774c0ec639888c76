"""What the generated TypeScript does with batches; for Python see `tests/export/python/test_module.py`."""

from __future__ import annotations

import re

import mongomock
import pytest

from gatewayfw.export.typescript.module import typescript
from tests.batches import Library
from tests.export.compiling import COMPILERS
from tests.export.test_typescript_live import run


@pytest.fixture
def library():
    return Library(mongomock.MongoClient().test)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_each_reply_has_the_type_of_its_request(project, library, compiler):
    library.gw.acts.set_service("far", "https://example.com")
    made = project("shape", "batch_ok", "batch_wrong", gateway=typescript(library.gw.catalog()))
    made.compiles(compiler, "--noEmit")


@pytest.mark.slow
def test_a_batch_is_answered_as_its_types_say(project, library):
    assert run(project, library.gw, "batch_live") == "ok\n"


def test_a_gateway_without_batches_has_no_word_of_them():
    source = typescript(Library(mongomock.MongoClient().test, max_batch=0).gw.catalog())
    marks = re.findall(r"/\* [a-z ]+ \*/", source)  # of the template
    assert [word for word in ("batch", "Batch", "ask(") if word in source] + marks == []
