"""What catches every error: only the seams that are listed here.

A handler that ends with a bare `raise` only tidies up, and is no such place.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "gatewayfw"
BROAD = {"Exception", "BaseException"}

#: The function that catches every error, and why it must.
SEAMS = {
    "acts/batch.py:Batches._answer": "the error of an item becomes the item's reply",
    "acts/batch.py:Batches._run_atomic": "the error of an item becomes the reply of the batch",
    "acts/hooks.py:run_error_hooks": "a hook may raise another error in place of the one it got",
    "acts/lifecycle.py:Lifecycle._translating": "every error of an act may become another one",
    "acts/lifecycle.py:Lifecycle.run": "every error of an act may become another one",
    "auth/tokens.py:Tokens.read": "PyJWT lets errors of all kinds through, and each means a wrong token",
    "auth/tokens.py:_checked_key": "cryptography has errors of its own, and their texts describe the key",
    "cli/call.py:_acts_of": "completion in a shell: an error would stand in the line that somebody types",
    "logs.py:_named": "an author's `__str__` may fail, and the log must not",
    "observe/calls.py:OpenCall.end": "an observer may fail, and the client gets the reply",
    "observe/calls.py:_begun": "an observer may fail, and the act runs",
    "observe/sentry.py:leave_to_signal": "an unknown version of the SDK: two reports are better than none",
    "odm/jobs/fan_out.py:_tried": "a job that fails is put back, and the next one is worked on",
    "odm/jobs/thread.py:_run": "a dead thread would leave copies stale until the process ends",
    "odm/upkeep/integrity.py:Place.last_id": "bson raises errors of all kinds for a file of state that somebody edited",
    "schemas/kinds/adopted.py:_with_own_default": "an author's default may fail, which the definition is told",
    "schemas/structs.py:FunctionStruct.check": "an author's validator may fail, which is a validation error",
    "storage/commits.py:_call": "what is committed must not look as if it had failed",
    "web/endpoint.py:Endpoint.answer_by": "every error of a request becomes an envelope",
    "web/endpoint.py:send_signal": "a receiver of Flask's signal may fail, and the client gets the envelope",
    "web/failure.py:_text": "an author's `__str__` may fail, and the reply must not",
    "web/failure.py:failure": "an author's error may be broken, and is answered as an internal one",
    "web/flask_bypass.py:FlaskBypass._changed": "errors after the act are Flask's to handle, as without the bypass",
    "web/guard.py:accepts": "a guard may fail, and its own error would reveal the page",
    "web/mount.py:_add_playground.view": "an error of the catalog becomes an envelope",
    "web/multipart.py:_read": "each server raises a class of its own when the client leaves",
    "web/reader.py:_read": "each server raises a class of its own when the client leaves",
}


def is_broad(handler):
    """Whether it catches every error and does not end with a bare `raise`."""
    caught = {"Exception"} if handler.type is None else {getattr(one, "id", "") for one in ast.walk(handler.type)}
    last = handler.body[-1]
    return bool(caught & BROAD) and not (isinstance(last, ast.Raise) and last.exc is None)


def broad_excepts(node, where=""):
    """Yield the name of the function around each broad handler."""
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, ast.FunctionDef | ast.ClassDef)
        if isinstance(child, ast.ExceptHandler) and is_broad(child):
            yield where
        yield from broad_excepts(child, f"{where}.{child.name}".lstrip(".") if named else where)


@pytest.mark.parametrize(
    ("handler", "found"),
    [
        ("except Exception: pass", ["f"]),
        ("except (ValueError, BaseException) as error: g(error)", ["f"]),
        ("except: pass", ["f"]),
        ("except ValueError: pass", []),
        ("except BaseException:\n  g()\n  raise", []),
        ("except Exception as error: raise ValueError from error", ["f"]),
    ],
)
def test_a_handler_is_broad_if_it_catches_everything_and_keeps_it(handler, found):
    source = "def f():\n try:\n  g()\n " + handler.replace("\n", "\n ")
    assert list(broad_excepts(ast.parse(source))) == found


def test_everything_is_caught_only_at_the_seams():
    found = Counter(
        f"{path.relative_to(ROOT).as_posix()}:{where}"
        for path in ROOT.rglob("*.py")
        for where in broad_excepts(ast.parse(path.read_text("utf-8")))
    )
    assert sorted(found.elements()) == sorted(SEAMS)
