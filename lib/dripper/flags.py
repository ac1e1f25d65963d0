"""Suggests the nearest known word for a mistyped flag, value or setting."""

import argparse
import difflib
import re
from collections.abc import Iterable
from typing import NoReturn

_TYPED = re.compile(r"(?:unrecognized arguments: |invalid choice: ')([^\s'=]+)")


def find_nearest(typed: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the known word that is closest to a mistyped word, or "" if none is close. `cutoff` is
    the minimum similarity, from 0 to 1."""
    return next(iter(difflib.get_close_matches(typed, known, n=1, cutoff=cutoff)), "")


def suggest(typed: str, known: Iterable[str]) -> str:
    """Return a suggestion to append to a message about an unknown word, or "" if no known word is
    close.

    >>> suggest("markdwn", ["text", "markdown"]), suggest("x", ["text"])
    ('; did you mean markdown?', '')
    """
    near = find_nearest(typed, known)
    return f"; did you mean {near}?" if near else ""


class Parser(argparse.ArgumentParser):
    """An argument parser that adds suggestions to its error messages."""

    def error(self, message: str) -> NoReturn:
        """Print the message with the nearest flag or value, and exit with code 2."""
        if typed := _TYPED.search(message):
            values = re.findall(r"[\w-]+", message.partition("choose from ")[2])
            message += suggest(typed[1], values or self._list_flags())
        super().error(message)

    def _list_flags(self) -> list[str]:
        # Only the main parser handles unrecognized arguments, so list the commands' flags too.
        commands = [each.choices for each in self._actions if isinstance(each, argparse._SubParsersAction)]
        parsers = [self, *(parser for choices in commands for parser in choices.values())]
        return [flag for parser in parsers for flag in parser._option_string_actions]
