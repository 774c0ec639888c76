"""The commands that a client sends."""

from __future__ import annotations

from bson import encode
from pymongo.monitoring import CommandListener


class Commands(CommandListener):
    """Notes the commands a client sends, by name, in their order, and the bytes of them and of the replies."""

    def __init__(self):
        self.names, self.bytes = [], 0

    def started(self, event):
        self.names.append(event.command_name)
        self.bytes += len(encode(event.command))

    def succeeded(self, event):
        self.bytes += len(encode(event.reply))

    def failed(self, event):
        pass
