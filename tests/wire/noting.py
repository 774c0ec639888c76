"""Connections that note what they are made with and what is posted over them."""

from __future__ import annotations


def noting(told, reply):
    """Return a class in place of `Posts`: it adds the arguments of each call to a list, and gives a reply."""

    class Posts:
        def __init__(self, *given, **named):
            told.append((given, named))

        def post(self, *given, **named):
            told.append((given, named))
            return reply

    return Posts
