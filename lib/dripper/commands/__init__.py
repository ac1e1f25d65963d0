"""Contains the subcommands of `dripper`, one module each. `add` declares a subcommand's flags, and
`run` runs it."""

import argparse
import sys
from typing import TypeAlias

from dripper.addresses import shown_as_text

Parsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def write(text: str) -> None:
    """Write text to standard output as UTF-8, whatever the terminal's encoding. Lone surrogates,
    which pages may contain, become U+FFFD, and control characters are escaped."""
    line = shown_as_text(text).rstrip("\n") + "\n"
    sys.stdout.buffer.write(line.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode())
    sys.stdout.flush()
