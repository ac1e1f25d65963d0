"""Formats counts and lists of names for messages."""

from collections.abc import Collection

_PLURALS = {"batch": "batches", "is": "are", "was": "were", "has": "have", "does": "do", "holds": "hold"}


def say_count(number: int, thing: str, verb: str = "") -> str:
    """Return a number, its noun and optionally a verb, in the singular or plural.

    >>> say_count(1, "file"), say_count(2, "error row"), say_count(0, "batch")
    ('1 file', '2 error rows', '0 batches')
    >>> say_count(1, "file", "is"), say_count(2, "file", "is")
    ('1 file is', '2 files are')
    """
    words = [str(number), *filter(None, (thing, verb))]
    if number != 1:
        words[1:] = [_PLURALS.get(word, f"{word}s") for word in words[1:]]
    return " ".join(words)


SHOWN = 5
"""Maximum number of names in a message."""


def list_names(names: Collection[str]) -> str:
    """Return the first few names in sorted order.

    >>> list_names(["b", "a"]), list_names("gfedcba")
    ('a, b', 'a, b, c, d, e, …')
    """
    return ", ".join(sorted(names)[:SHOWN]) + (", …" if len(names) > SHOWN else "")
