"""Runs `dripper inspect`, which shows pages and rows block by block in one HTML file."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import islice

from dripper.commands import Parsers, write
from dripper.errors import UsageError
from dripper.inspect.document import build_document
from dripper.inspect.looking import view_pages, view_rows
from dripper.inspect.sources import find_pages, read_rows
from dripper.inspect.views import PageInput, PageView
from dripper.labels import config as flags

EXAMPLE = """examples:
  dripper inspect page.html > page.inspect.html
  dripper inspect crawl.warc.gz --limit 20 > crawl.inspect.html
  dripper inspect --table out --where "confidence < 0.5" --limit 50 > doubtful.inspect.html"""


def add(commands: Parsers) -> None:
    """Declare the command."""
    inspect = commands.add_parser(
        "inspect",
        help="show how pages were labelled, and correct it, in one HTML file",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    inspect.add_argument("pages", nargs="*", help="HTML files, folders, archives; - reads a page from standard input")
    inspect.add_argument("--table", metavar="OUTPUT", help="rows of a run instead: its --output, or a table's folder")
    inspect.add_argument("--where", metavar="SQL", help="choose rows by a condition on the columns of extractions")
    inspect.add_argument(
        "--limit", type=flags.positive, default=100, metavar="N", help="show at most N pages or rows (default: 100)"
    )
    inspect.add_argument("--url", help="address of a page that does not come with one")
    inspect.add_argument("--labeler", help="the labeler (default: setting labeler.name, or the one that wrote the row)")
    flags.add_settings(inspect)
    inspect.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the document. Returns 0 even if pages have errors, because the document shows them."""
    if bool(arguments.pages) == bool(arguments.table):
        raise UsageError("give pages (files, folders, archives, or -), or --table, and not both")
    if arguments.where and not arguments.table:
        raise UsageError("--where chooses rows of a table: it needs --table")
    settings = flags.settings(arguments, {"labeler.name": arguments.labeler})
    if arguments.table:
        rows = read_rows(arguments.table, arguments.where, arguments.limit, settings.reading.s3)
        views = list(view_rows(rows, settings, arguments.labeler))
        about = f"{arguments.table} where {arguments.where or 'true'}"
    else:
        pages = find_pages(arguments.pages, settings.reading, arguments.url)
        views = list(view_pages(_take_first(pages, arguments.limit), settings))
        about = ", ".join(arguments.pages)
    write(build_document(views, about))
    _print_counts(views)
    return 0


def _take_first(items: Iterable[PageInput], limit: int) -> Iterator[PageInput]:
    """Yield the first `limit` items. If any items remain, print a message to stderr."""
    rest = iter(items)
    yield from islice(rest, limit)
    if next(rest, None) is not None:
        sys.stderr.write(f"dripper: only the first {limit} pages are shown; --limit shows more\n")


def _print_counts(views: list[PageView]) -> None:
    errors = sum(view.error_code is not None for view in views)
    pages = "1 page" if len(views) == 1 else f"{len(views)} pages"
    sys.stderr.write(f"dripper: {pages}, {errors or 'no'} error{'' if errors == 1 else 's'}\n")
