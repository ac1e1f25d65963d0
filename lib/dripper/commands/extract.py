"""Runs `dripper extract`, which prints the main content of one page, or writes many pages to a
file, a folder or standard output.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dripper.addresses import printable
from dripper.commands import Parsers, write
from dripper.errors import InputError, UsageError
from dripper.labels import config as flags
from dripper.local import RunResult, extract_files
from dripper.local.formats import FORMATS
from dripper.local.inputs import TABLE_NAME
from dripper.local.many import count_processors
from dripper.local.pages import PageOptions
from dripper.local.sinks import STANDARD_OUTPUT, Destination
from dripper.local.tables import Columns
from dripper.page.extraction import extract_apart
from dripper.page.rows import OF_OUTPUTS
from dripper.parse_place import archive_place, local_place
from dripper.settings import Settings
from dripper.warc.open.source import ARCHIVE_NAME, is_http

_USAGE = """One page is printed. Many pages become the rows of a file or of standard output, or a file each:
  dripper extract page.html
  dripper extract crawl/ 'saved/*.html' @list.txt x.warc.gz pages.csv --out pages.jsonl
  dripper extract crawl/ --out - --columns url,title,text
  dripper extract crawl/ --output-dir notes

If it is interrupted, the same command continues where it stopped.
Exit code 0: done; 1: the one page has no extraction; 2: wrong usage; 3: work is left, the last lines say what;
4: all is done, but some inputs are missing, not archives, or cut short: the last lines name them."""

_MAX_NAMED = 10
"""For each kind of problem, the summary at the end lists at most this number of files."""

_MARKDOWN = ("title", "links", "images")
"""Flags for settings in the `markdown` section."""


def add(commands: Parsers) -> None:
    """Declare the command."""
    extract = commands.add_parser(
        "extract",
        help="print the main content of one page, or write that of many",
        description=_USAGE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    extract.add_argument(
        "pages",
        nargs="+",
        metavar="PAGE",
        help="an HTML file, compressed or not, or MHTML; - for standard input; for many also folders, patterns, @lists, archives, "
        "and tables with a column of HTML (.jsonl, .csv, .tsv, .parquet)",
    )
    extract.add_argument(
        "--labeler", help="the labeler, which decides what is main content (setting labeler.name; default cpu)"
    )
    _add_inputs(extract)
    _add_outputs(extract)
    flags.add_settings(extract)
    extract.set_defaults(run=run)


def _add_inputs(extract: argparse.ArgumentParser) -> None:
    extract.add_argument("--url", help="the page's address (default: the one that the page itself gives)")
    extract.add_argument(
        "--url-prefix",
        metavar="PREFIX",
        help="put before the paths of files below a named folder, to make the addresses of their pages",
    )
    extract.add_argument(
        "--html-column", metavar="NAME", help="a table's column of HTML (default: html, content or the like)"
    )
    extract.add_argument(
        "--url-column", metavar="NAME", help="a table's column of addresses (default: url or the like, if there is one)"
    )


def _add_outputs(extract: argparse.ArgumentParser) -> None:
    extract.add_argument(
        "--format", choices=tuple(FORMATS), help="the form of a printed page, and of --output-dir (default: markdown)"
    )
    extract.add_argument(
        "--title", choices=("include", "exclude"), help="in Markdown, the page's title as its first heading"
    )
    extract.add_argument(
        "--links", choices=("keep", "text"), help="in Markdown, links with addresses, or only their text"
    )
    extract.add_argument("--images", choices=("keep", "drop"), help="in Markdown, keep or drop images")
    extract.add_argument(
        "--keep", action="append", metavar="SELECTOR", help="a CSS selector of main content, whatever the labeler says"
    )
    extract.add_argument(
        "--drop", action="append", metavar="SELECTOR", help="a CSS selector: what it finds is removed first"
    )
    extract.add_argument(
        "--out",
        metavar="FILE",
        help="write one row per page to pages.jsonl or pages.parquet; with -, lines of JSON to standard output",
    )
    extract.add_argument(
        "--output-dir", metavar="FOLDER", help="write one file per page: Markdown with front matter, or --format"
    )
    extract.add_argument(
        "--columns",
        metavar="A,B",
        help="write only these columns (default: all but text); parts that no column needs are not made",
    )
    extract.add_argument(
        "--jobs", type=flags.positive, metavar="N", help="pages that are processed at once (default: one per processor)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print or write the extractions, and return the exit code."""
    stand_for = {"labeler.name": arguments.labeler} | {
        f"markdown.{name}": getattr(arguments, name) for name in _MARKDOWN
    }
    for name in ("keep", "drop"):
        if getattr(arguments, name):
            stand_for[f"html.{name}"] = json.dumps(getattr(arguments, name))
    destination = _choose_destination(arguments)
    if destination is not None and destination.columns:
        stand_for["outputs"] = json.dumps([OF_OUTPUTS[name] for name in destination.columns if name in OF_OUTPUTS])
    settings = flags.settings(arguments, stand_for)
    if destination is None:
        return _print_page(arguments, settings)
    return _write_pages(arguments, settings, destination)


def _choose_destination(arguments: argparse.Namespace) -> Destination | None:
    """Return the destination for many pages, or None for a single page, which is printed."""
    columns = [name.strip() for name in (arguments.columns or "").split(",") if name.strip()]
    if arguments.out is not None and arguments.output_dir is not None:
        raise UsageError("--out is one file of rows, --output-dir a file per page: choose one")
    if arguments.output_dir is not None:
        if columns:
            raise UsageError("--columns is for rows: with --output-dir, --format says what the files hold")
        folder = local_place("--output-dir", arguments.output_dir, writes=True)
        return _check_many(arguments, Destination(folder, is_folder=True, form=arguments.format or "markdown"))
    is_printed = arguments.out == "-" or (
        arguments.out is None and (bool(columns) or (arguments.format == "jsonl" and not _is_one_page(arguments.pages)))
    )
    if arguments.out is None and not is_printed:
        return None
    if arguments.format not in (None, "jsonl"):
        raise UsageError("--format is for one page that is printed and for --output-dir, not for rows")
    out = STANDARD_OUTPUT if is_printed else local_place("--out", arguments.out, writes=True)
    return _check_many(arguments, Destination(out, columns=columns))


def _check_many(arguments: argparse.Namespace, destination: Destination) -> Destination:
    if arguments.url is not None:
        raise UsageError("--url is for one page that is printed; the addresses of many begin with --url-prefix")
    if "-" in arguments.pages:
        raise UsageError("- (standard input) is one page: leave --out, --output-dir and --columns away")
    return destination


def _is_one_page(pages: Sequence[str]) -> bool:
    first = pages[0]
    if len(pages) > 1 or Path(first).is_dir() or ARCHIVE_NAME.search(first) or TABLE_NAME.search(first):
        return False
    return first == "-" or is_http(first) or Path(first).exists() or not set("*?[@") & set(first)


def _print_page(arguments: argparse.Namespace, settings: Settings) -> int:
    for flag in ("url_prefix", "html_column", "url_column"):
        if getattr(arguments, flag) is not None:
            raise UsageError(f"--{flag.replace('_', '-')} is for many pages: with --out or --output-dir")
    if arguments.url and not is_http(arguments.url):
        bare = arguments.url.partition(":/")[2].lstrip("/") or arguments.url
        raise UsageError(f"--url {arguments.url}: write the whole address, such as https://{bare}")
    page = _check_one_page(arguments.pages)
    extraction = extract_apart(settings, _read_page(page), arguments.url)
    form = arguments.format or "markdown"
    if extraction.error_code is None or FORMATS[form].holds_errors:
        write(FORMATS[form].write(extraction, arguments.url))
    if extraction.error_code is not None:
        detail = f": {extraction.error_detail}" if extraction.error_detail else ""
        sys.stderr.write(f"dripper: {printable(page)} has no extraction ({extraction.error_code}{printable(detail)})\n")
        return 1
    return 0


def _check_one_page(pages: list[str]) -> str:
    if Path(pages[0]).is_dir() and len(pages) == 1:
        raise UsageError(f"{pages[0]} is a folder: say where the rows of its pages go, --out pages.jsonl")
    if not _is_one_page(pages):
        raise UsageError(
            "these are many pages: say where their rows go, --out pages.jsonl or pages.parquet, --out - for standard output; "
            "or where their files go, --output-dir FOLDER"
        )
    return pages[0]


def _read_page(page: str) -> bytes:
    if page == "-":
        return sys.stdin.buffer.read()
    if "://" in (page := archive_place("the page", page)):
        address = shlex.quote(page)
        command = f"curl -sL {address} | dripper extract - --url {address}"
        raise InputError(f"{page} is an address, not a page: fetch it first, as in {command}")
    try:
        return Path(page).read_bytes()
    except OSError as error:
        raise InputError(f"{page}: {error.strerror or error}") from None


def _write_pages(arguments: argparse.Namespace, settings: Settings, destination: Destination) -> int:
    options = PageOptions(arguments.url_prefix or "", Columns(arguments.html_column, arguments.url_column))
    try:
        outcome = extract_files(
            arguments.pages,
            destination,
            settings,
            arguments.jobs or count_processors(),
            sys.stderr.isatty(),
            options,
        )
    except KeyboardInterrupt:
        goes_on = "" if destination.path == STANDARD_OUTPUT else "; the same command continues where it stopped"
        sys.stderr.write(f"dripper: interrupted{goes_on}\n")
        return 3
    sys.stderr.write("".join(f"{printable(line)}\n" for line in _summarize(outcome, destination)))
    return 3 if not outcome.is_complete else 4 if outcome.inputs.bad else 0


def _summarize(outcome: RunResult, destination: Destination) -> Iterator[str]:
    inputs = outcome.inputs
    place = "standard output" if destination.path == STANDARD_OUTPUT else str(destination.path)
    rate = f" ({outcome.seconds:.1f} s, {outcome.pages / max(outcome.seconds, 0.001):.0f} a second)"
    yield f"pages written to {place}: {outcome.pages:,}{rate if outcome.pages else ''}"
    if inputs.already_written:
        yield f"pages that were there already: {inputs.already_written:,}"
    if outcome.errors:
        yield f"without extraction: {_format_counts(outcome.errors)}"
        yield from (f"NO CONTENT: {sentence}" for sentence in outcome.failed)
        yield from _count_rest("NO CONTENT", sum(outcome.errors.values()))
    if inputs.skipped:
        yield f"records of archives that are not pages: {_format_counts(inputs.skipped)}"
    if outcome.ignored_files:
        names = _list_first(outcome.ignored_files)
        yield f"files in folders that are not pages by their names: {len(outcome.ignored_files):,}: {names}"
    if inputs.faults:
        # Only the first files are printed, so the files with the most faults come first.
        worst = sorted(inputs.faults, key=lambda name: (-inputs.faults[name], name))
        names = _list_first([f"{name} ({inputs.faults[name]:,})" for name in worst])
        yield f"faults found in archives: {sum(inputs.faults.values()):,} in {len(worst):,} files: {names}"
    yield from (f"BAD INPUT: {name}: {words}" for name, words in sorted(inputs.bad.items())[:_MAX_NAMED])
    yield from _count_rest("BAD INPUT", len(inputs.bad))
    yield from (f"not read: {sentence}" for sentence in inputs.unread[:_MAX_NAMED])
    if inputs.unread:
        yield f"files that could not be read to their end: {len(inputs.unread):,}; the same command tries them again"


def _list_first(names: Sequence[str]) -> str:
    return ", ".join([*names[:_MAX_NAMED], *(["…"] if len(names) > _MAX_NAMED else [])])


def _count_rest(kind: str, count: int) -> Iterator[str]:
    if count > _MAX_NAMED:
        yield f"{kind}: {count - _MAX_NAMED:,} more like these"


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))
