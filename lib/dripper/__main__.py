"""Runs the `dripper` command, which extracts pages from the shell without Spark."""

import importlib
import os
import sys
from collections.abc import Sequence

from dripper.addresses import printable
from dripper.errors import UsageError
from dripper.flags import Parser
from dripper.release import describe_release

COMMANDS = ("extract", "inspect", "lm", "prompts", "serve", "settings")
"""The subcommands. Each is a module in `dripper.commands`."""
_CLOSED_PIPE = 141
"""The exit code that shells report for a program killed by SIGPIPE."""


def main(argv: list[str] | None = None) -> int:
    """Run the command and return the exit code: 2 for a usage error, 141 if the program that reads
    the output closes the pipe."""
    argv = sys.argv[1:] if argv is None else argv
    # Import only the module of the given command.
    arguments = _parser(argv[:1] if argv[:1] and argv[0] in COMMANDS else COMMANDS).parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except BrokenPipeError:
        # The program that reads the output, such as `head`, has closed the pipe. Discard the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _CLOSED_PIPE
    except UsageError as error:
        sys.stderr.write("dripper: " + printable(str(error), keeps="\n") + "\n")
        return 2


def _parser(names: Sequence[str]) -> Parser:
    parser = Parser(prog="dripper", description="Main content of web pages.")
    parser.add_argument("--version", action="version", version=describe_release())
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in names:
        importlib.import_module(f"dripper.commands.{name}").add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
