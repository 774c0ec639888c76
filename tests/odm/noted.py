"""Notes the commands that a storage is given."""

from __future__ import annotations

import copy

COMMANDS = ("touch", "touch_many", "insert", "find", "find_stored", "count")
COMMANDS += ("update_one", "update_many", "update_each", "delete_many")


def note_commands(storage):
    """Return a list of the commands that a storage gets from now on: names, what they are given, and keywords if any.

    Not noted is what one command calls to do its work.
    """
    noted, inside = [], []

    def noting(name, method):
        def call(*given, **keys):
            if not inside:
                noted.append((name, *copy.deepcopy(given), *([copy.deepcopy(keys)] if keys else [])))
            inside.append(name)
            try:
                return method(*given, **keys)
            finally:
                inside.pop()

        return call

    for name in COMMANDS:
        setattr(storage, name, noting(name, getattr(storage, name)))
    return noted
