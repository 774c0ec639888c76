"""Where something was defined, in words."""

import _thread
import os
from inspect import currentframe
from queue import SimpleQueue

from gatewayfw.schemas import places
from gatewayfw.schemas.places import called_from, defined_at


def test_the_line_outside_the_package_is_found():
    line = currentframe().f_lineno + 1
    found = called_from()
    assert found == f"{os.path.relpath(__file__)}:{line}"


def test_callers_in_the_package_are_passed_by():
    inside = {"__name__": f"{places.__name__}.inside", "called_from": called_from}
    exec("def call(): return called_from()", inside)
    line = currentframe().f_lineno + 1
    found = inside["call"]()
    assert found == f"{os.path.relpath(__file__)}:{line}"


def test_code_of_no_module_is_outside():
    nameless = {"called_from": called_from, "__builtins__": {}}
    exec(compile("found = called_from()", "made.py", "exec"), nameless)
    assert nameless["found"] == "made.py:1"


def test_a_path_beyond_the_working_directory_is_whole(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert called_from().startswith(f"{__file__}:")


def test_no_working_directory_is_no_error(monkeypatch):
    def lost():
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", lost)
    assert called_from().startswith(f"{__file__}:")


def test_no_caller_outside_is_nothing():
    found = SimpleQueue()
    inside = {"__name__": f"{places.__name__}.inside", "found": found, "called_from": called_from}
    exec("def call(): found.put(called_from())", inside)
    _thread.start_new_thread(inside["call"], ())  # there is nothing below it
    assert found.get(timeout=30) == ""
    assert defined_at("") == ""
    assert defined_at("a.py:3") == ", at a.py:3"
