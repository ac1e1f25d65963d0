"""Runs `dripper prompts fetch`, which downloads the prompts that public models were trained on."""

import argparse

from dripper.commands import Parsers, write
from dripper.extras import needed
from dripper.parse_place import local_place


def add(commands: Parsers) -> None:
    """Declare the command."""
    prompts = commands.add_parser("prompts", help="the prompts that public models of the labeler lm were trained on")
    what = prompts.add_subparsers(required=True, metavar="WHAT")
    fetch = what.add_parser(
        "fetch", help="download them in their authors' package (pip download) and check their hashes"
    )
    fetch.add_argument("--folder", default="", help="where to put them (default: the user's cache folder)")
    fetch.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Download the prompts, and print the paths to their files."""
    with needed("dripper prompts", "lm"):
        from dripper.labels.lm.prompt import fetch_prompts, prompt_folder

    folder = local_place("--folder", arguments.folder, writes=True) if arguments.folder else prompt_folder("")
    write("\n".join(map(str, fetch_prompts(folder))))
    return 0
