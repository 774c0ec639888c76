"""Where something was defined, in words."""

import os
from inspect import currentframe

from gatewayfw.schemas import places
from gatewayfw.schemas.places import called_from, defined_at


def test_the_line_outside_the_package_is_found():
    line = currentframe().f_lineno + 1
    found = called_from()
    assert found == f"{os.path.relpath(__file__)}:{line}"


def test_a_path_beyond_the_working_directory_is_whole(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert called_from().startswith(f"{__file__}:")


def test_no_working_directory_is_no_error(monkeypatch):
    def lost(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(os.path, "relpath", lost)
    assert called_from().startswith(f"{__file__}:")


def test_no_caller_outside_is_nothing(monkeypatch):
    monkeypatch.setattr(places, "_PACKAGE", "")
    frames = []

    class Frame:
        f_globals = {"__name__": ".x"}
        f_back = None

    monkeypatch.setattr(places.sys, "_getframe", lambda depth: frames.append(depth) or Frame)
    assert (called_from(), defined_at(""), defined_at("a.py:3"), frames) == ("", "", ", at a.py:3", [1])
