"""The commands that a client sends."""

from __future__ import annotations

from pymongo.monitoring import CommandListener


class Commands(CommandListener):
    """Notes the commands a client sends, by name, in their order."""

    def __init__(self):
        self.names = []

    def started(self, event):
        self.names.append(event.command_name)

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass
