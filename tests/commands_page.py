"""The page of all commands, made from their help: ``python -m tests.commands_page`` writes it."""

from __future__ import annotations

from pathlib import Path

import click

from gatewayfw.cli import gateway_group

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
START = "<!-- generated from the help of the commands by python -m tests.commands_page -->\n"


def commands(group=gateway_group, *before):
    """Each command with its words, those of groups in it, too."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *before, name)
        else:
            yield " ".join([*before, name]), command


def help_of(words, command):
    """The help of a command, as wide as the page."""
    context = click.Context(command, info_name=f"flask gateway {words}", terminal_width=100, max_content_width=100)
    return f"### {words}\n\n```text\n{command.get_help(context)}\n```\n"


def has_page(words):
    """Whether the page has the help of a command as it is today."""
    return help_of(words, dict(commands())[words]) in PAGE.read_text("utf-8")


def generated():
    """The generated part of the page."""
    return START + "\n" + "\n".join(help_of(words, command) for words, command in commands())


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text("utf-8").partition(START)[0] + generated(), "utf-8")
