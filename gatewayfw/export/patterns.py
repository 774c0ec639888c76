"""Python's regular expressions in the notation of ECMA, for JSON Schema.

Only syntax with the same meaning in both is translated: no ``\\d``, ``\\w``, ``\\s`` and ``\\b`` (Python's know all
of Unicode), no assertions but ``^`` and a last ``$``, no flags and no back references. Syntax that only looks different
is rewritten: ``.`` becomes ``[^\\n]``, ``{,3}`` becomes ``{0,3}``, ``\\-`` becomes ``-``.
Source: https://tc39.es/ecma262/#sec-patterns; https://docs.python.org/3/library/re.html#regular-expression-syntax.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    (?P<escape>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.))
    # One that starts with a bracket to close it means something else in each.
    |(?P<set>\[(?:\^(?=[^\]])|(?=[^\]^]))(?:\\.|[^\]\\])+\])
    |(?P<group>\((?:\?:|\?P<\w+>)?(?!\?))
    |(?P<count>\{(?P<least>[0-9]*)(?P<comma>,?)(?P<most>[0-9]*)\})
    |(?P<repeat>[*+?])
    |(?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_SET = re.compile(r"(?P<escape>\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.))|(?P<other>.)", re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
#: The characters that both need escaped; a set needs the hyphen, too.
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_CONTROLS = frozenset("nrtfv")


class _Differs(Exception):
    """Raised where the two notations mean different things, or may."""


def ecma(pattern: str) -> str | None:
    """Return a pattern in ECMA's notation, anchored at both ends.

    None where ECMA has no such pattern.
    """
    try:
        body = _translate(pattern)
    except _Differs:
        return None
    if "|" in body:
        return f"^(?:{body})$"
    return f"^{body.removeprefix('^')}$"


def _translate(pattern: str) -> str:
    parts: list[str] = []
    repeated = False
    for match in _TOKEN.finditer(pattern):
        kind, text = match.lastgroup, match.group()
        if repeated and text == "+":  # It would make the repetition possessive.
            raise _Differs
        is_last = match.end() == len(pattern)
        if text == "$" and is_last:  # The anchor that is added means the same.
            break
        if match["count"] is not None:
            kind, text = _count(match)
        parts.append(_set(text) if kind == "set" else _part(kind, text))
        repeated = kind in ("count", "repeat")
    return "".join(parts)


def _count(match: re.Match[str]) -> tuple[str, str]:
    if match.group() == "{}":  # Python takes it as text.
        return "text", "\\{\\}"
    return "count", f"{{{match['least'] or '0'}{match['comma']}{match['most']}}}"


def _part(kind: str | None, text: str) -> str:
    if kind == "escape":
        return _escape(text, _SYNTAX)
    if kind == "group":
        return "(" if text == "(" else "(?:"
    if kind != "other":
        return text
    if text in "[($":
        raise _Differs
    if text == ".":
        return r"[^\n]"
    return f"\\{text}" if text in "]{}" else text


def _set(text: str) -> str:
    start = "[^" if text.startswith("[^") else "["
    inner: list[str] = []
    for match in _IN_SET.finditer(text[len(start) : -1]):
        if match["escape"] is not None:
            inner.append(_escape(match["escape"], _SYNTAX | {"-"}))
        else:
            inner.append("\\[" if match["other"] == "[" else match["other"])
    return f"{start}{''.join(inner)}]"


def _escape(text: str, kept: frozenset[str]) -> str:
    char = text[1]
    if len(text) > 2:
        if _SURROGATE.match(text):
            raise _Differs
        return text
    if char in kept or char in _CONTROLS:
        return text
    if char.isalnum() or not char.isascii():
        raise _Differs
    return char
