"""The regular expressions that mean the same on all adapters. Pure.

MongoDB takes those of PCRE, memory Python's. What is named here they agree on: letters and other
characters, ``. ^ $ |``, groups ``( )`` and ``(?: )``, classes ``[a-z]`` and ``[^a-z]``, the
repetitions ``* + ? {2} {2,} {2,5}`` with ``?`` after them, ``\\d \\w \\s \\D \\W \\S \\b``
(of ASCII), ``\\n \\r \\t``, and any sign after a backslash. ``$`` is also before a newline at the end.

``i`` ignores the case of letters. Of a few it is open: Turkish dotted and dotless i, and letters
whose pair came with Unicode 8 or later, such as Georgian and Cherokee ones.
Compared on MongoDB 6 for all characters.
Source: https://www.pcre.org/current/doc/html/pcre2pattern.html.
"""

import re
from functools import lru_cache

#: Most characters of an expression. MongoDB 6 refuses them from 32 kB on, or when they are too intricate.
MOST_CHARACTERS = 4_000
#: The highest number in braces: the server refuses a higher one.
_MOST_REPEATED = 65_535

_ESCAPED = r"\\(?:[nrt]|[^0-9A-Za-z])"
_TOKEN = re.compile(
    rf"(?P<set>\[\^?(?:\\[dws]|{_ESCAPED}|[^\\\[\]])+\])"
    r"|(?P<ascii>\\[dDwWsSb])"
    rf"|{_ESCAPED}"
    r"|\((?:\?:|(?![?*]))"
    r"|(?:[*+?]|(?P<repeated>\{\d+(?:,\d*)?\}))\??(?!\+)"
    r"|[^\\(\[{*+?]"
)
#: Doubled signs in a class, for which Python plans a meaning of its own.
_DOUBLED = re.compile(r"--|&&|\|\||~~")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_IN_CLASS = {r"\d": "0-9", r"\w": "A-Za-z0-9_", r"\s": r" \t\n\r\f\v"}


def check_expression(expression: str) -> None:
    """Check that a regular expression is one that all adapters understand alike.

    Raises:
        ValueError: it is not; the message says why, in a few words.
    """
    if len(expression) > MOST_CHARACTERS:
        raise ValueError(f"is longer than {MOST_CHARACTERS} characters")
    if "\0" in expression or any("\ud800" <= letter <= "\udfff" for letter in expression):
        raise ValueError("holds a character that MongoDB does not take")
    tokens = list(_tokens(expression))
    if any(token["set"] and _DOUBLED.search(token["set"]) for token in tokens):
        raise ValueError("has a doubled sign in a class; write it once, or behind a backslash")
    numbers = [int(number) for token in tokens for number in re.findall(r"\d+", token["repeated"] or "")]
    if max(numbers, default=0) > _MOST_REPEATED:
        raise ValueError("repeats too often")
    try:
        re.compile(expression)
    except (re.error, OverflowError, RecursionError):
        raise ValueError("is malformed") from None


@lru_cache(maxsize=256)
def compile_expression(expression: str, options: str) -> re.Pattern[str]:
    r"""Compile a regular expression that finds in Python what MongoDB finds.

    ``\d \w \s \b`` are of ASCII there.
    """
    parts = []
    for token in _tokens(expression):
        text = token[0]
        if token["ascii"]:
            text = _of_ascii(text)
        elif token["set"]:
            text = _of_set(text, options)
        parts.append(text)
    return re.compile("".join(parts), re.IGNORECASE if options else 0)


def _of_set(text: str, options: str) -> str:
    r"""Return a class of characters as Python has to be told.

    Ignoring case, Python takes the signs of Kelvin and of a long s for letters of ``\w`` there.
    """
    if options and r"\w" in _ESCAPE.findall(text):
        words = _of_ascii(r"\w")
        rest = _ESCAPE.sub(lambda found: {**_IN_CLASS, r"\w": "_"}.get(found[0], found[0]), text)
        return f"(?:(?!{words}){rest})" if text.startswith("[^") else f"(?:{words}|{rest})"
    return _ESCAPE.sub(lambda found: _IN_CLASS.get(found[0], found[0]), text)


def _of_ascii(token: str) -> str:
    r"""Return ``\w`` or the like as Python has to be told.

    Python 3.11 begins its search for ``(?a:\W)`` where Unicode knows no word, and so finds no é.
    """
    letters = _IN_CLASS.get(token.lower())
    return f"(?a:[{'^' if token.isupper() else ''}{letters}])" if letters else f"(?a:{token})"


def _tokens(expression: str) -> list[re.Match[str]]:
    tokens, place = [], 0
    while place < len(expression):
        token = _TOKEN.match(expression, place)
        if token is None:
            raise ValueError(f"has at character {place + 1} what databases understand differently, or not at all")
        tokens.append(token)
        place = token.end()
    return tokens
