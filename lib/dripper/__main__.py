"""The command `dripper`: pages from the shell, without Spark."""

import argparse
import sys

import dripper
from dripper.addresses import printable
from dripper.commands import extract, inspect, lm, prompts
from dripper.errors import UsageError

COMMANDS = (extract, inspect, lm, prompts)


def main(argv: list[str] | None = None) -> int:
    """Run the command; return its exit code, 2 for wrong usage."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except UsageError as error:
        sys.stderr.write("dripper: " + printable(str(error), keeps="\n") + "\n")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dripper", description="Main content of web pages.")
    parser.add_argument("--version", action="version", version=f"dripper {dripper.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
