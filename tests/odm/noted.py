"""Notes the commands that a storage is given."""

from __future__ import annotations

import copy
import inspect

COMMANDS = ("touch", "touch_many", "insert", "find", "count")
COMMANDS += ("update_one", "update_many", "update_each", "delete_many")


def note_commands(storage):
    """Return a list of the commands that a storage gets from now on: names, what they are given, and keywords if any.

    Not noted is what one command calls to do its work.
    """
    noted, inside = [], []

    def noting(name, method):
        signature = inspect.signature(method)

        def call(*given, **keys):
            if not inside:
                said, named = copy.deepcopy(without_defaults(signature, given, keys))
                noted.append((name, *said, *([named] if named else [])))
            inside.append(name)
            try:
                return method(*given, **keys)
            finally:
                inside.pop()

        return call

    for name in COMMANDS:
        setattr(storage, name, noting(name, getattr(storage, name)))
    return noted


def without_defaults(signature, given, keys):
    """Return arguments by position and by name, without those at the end that are what they are if left out."""
    defaults = {name: one.default for name, one in signature.parameters.items()}
    said, names = list(given), list(defaults)
    while said and said[-1] == defaults[names[len(said) - 1]]:
        said.pop()
    return said, {name: value for name, value in keys.items() if value != defaults[name]}
