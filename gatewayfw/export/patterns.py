"""Python's regular expressions in the notation of ECMA, for JSON Schema.

Only syntax with the same meaning in both is taken: no ``\\d``, ``\\w``, ``\\s`` and ``\\b`` (Python's know all of
Unicode), no assertions but ``^`` and a last ``$``, no flags, no back references and no needless backslashes. Only ``.``
and the names of groups are rewritten.
Source: https://tc39.es/ecma262/#sec-patterns; https://docs.python.org/3/library/re.html#regular-expression-syntax.
"""

import re

_ESCAPE = r"\\(?:[\^$\\.*+?()\[\]{}|/nrtfv]|x[0-9a-fA-F]{2}|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})"
# One that starts with a bracket to close it means something else in each.
_SET = rf"\[\^?(?!\])(?:{_ESCAPE}|\\-|[^\\\[\]])+\]"
_GROUP = r"\((?:\?:|\?P<\w+>|(?!\?))"
# A plus behind a repetition would make it possessive.
_REPEAT = r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??(?!\+)"
_PART = re.compile(rf"{_ESCAPE}|{_SET}|{_GROUP}|[^\\\[(\]{{}}*+?$]", re.DOTALL)
_SAME = re.compile(rf"(?:(?:{_PART.pattern})(?:{_REPEAT})?)*(\$?)", re.DOTALL)


def ecma(pattern: str) -> str | None:
    """Return a pattern in ECMA's notation, anchored at both ends.

    None where ECMA has no such pattern.
    """
    same = _SAME.fullmatch(pattern)
    if same is None:
        return None
    body = _PART.sub(_rewrite, pattern[: same.start(1)])
    return f"^(?:{body})$" if "|" in body else f"^{body.removeprefix('^')}$"


def _rewrite(part: re.Match[str]) -> str:
    text = part.group()
    return r"[^\n]" if text == "." else "(?:" if text.startswith("(?P<") else text
