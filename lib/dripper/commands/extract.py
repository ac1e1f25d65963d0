"""`dripper extract`: the main content of one page."""

import argparse
import dataclasses
import json
import sys
from pathlib import Path

from dripper import flags
from dripper.commands.terminal import Parsers, write
from dripper.errors import InputError
from dripper.extraction import shared_extractor


def add(commands: Parsers) -> None:
    """Declare the command."""
    extract = commands.add_parser("extract", help="print the main content of one page")
    extract.add_argument("page", help="an HTML file, gzipped or not; - reads standard input")
    extract.add_argument("--url", help="address of the page")
    extract.add_argument("--labeler", help="who decides what is main content (setting labeler.name; default cpu)")
    extract.add_argument("--format", choices=("markdown", "html", "json"), default="markdown")
    flags.add_settings(extract)
    extract.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the extraction; return 0, or 1 where there is none."""
    settings = flags.settings(arguments, {"labeler.name": arguments.labeler})
    page = _read(arguments.page)
    extraction = shared_extractor(settings).extract(page, arguments.url)
    if arguments.format == "json":
        write(json.dumps(dataclasses.asdict(extraction), ensure_ascii=False, indent=2))
    elif extraction.error_code is None:
        write(extraction.main_html if arguments.format == "html" else extraction.markdown)
    if extraction.error_code is not None:
        detail = f": {extraction.error_detail}" if extraction.error_detail else ""
        sys.stderr.write(f"dripper: {arguments.page} has no extraction ({extraction.error_code}{detail})\n")
        return 1
    return 0


def _read(page: str) -> bytes:
    if page == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(page).read_bytes()
    except OSError as error:
        raise InputError(f"{page}: {error.strerror or error}") from None
