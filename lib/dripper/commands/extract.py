"""Runs `dripper extract`: prints the main content of one page, or writes that of many pages to a
file.
"""

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from dripper import config as flags
from dripper.addresses import printable
from dripper.commands import Parsers, write
from dripper.config import Settings
from dripper.errors import InputError, UsageError
from dripper.html.metadata import Metadata
from dripper.html.tei import TeiSource, to_tei
from dripper.labels.registry import runs_staged
from dripper.local import RunResult, extract_files
from dripper.page.extraction import Extraction, extract_guarded, shared_extractor
from dripper.places import local_place
from dripper.warc.read.record import ArchiveFault


def _format_json(extraction: Extraction, url: str | None, indent: int | None = 2) -> str:
    return json.dumps(dataclasses.asdict(extraction) | {"url": extraction.url or url}, ensure_ascii=False, indent=indent)


def _format_tei(extraction: Extraction, url: str | None) -> str:
    metadata = extraction.metadata or Metadata()
    source = TeiSource(
        title=metadata.title or extraction.title,
        url=url or extraction.url or "",
        author=", ".join(metadata.authors),
        date=metadata.published or "",
        language=extraction.language or "",
    )
    return to_tei(extraction.main_html, source)


FORMATS: Mapping[str, Callable[[Extraction, str | None], str]] = {
    "markdown": lambda extraction, _: extraction.markdown,
    "text": lambda extraction, _: extraction.text,
    "html": lambda extraction, _: extraction.main_html,
    "json": _format_json,
    "xml-tei": _format_tei,
    "jsonl": lambda extraction, url: _format_json(extraction, url, None),
}
FORMATS_WITH_ERRORS = frozenset({"json", "jsonl"})
"""The formats that can hold an error code."""

_USAGE = """One page is printed. Many pages become the rows of a file:
  dripper extract page.html
  dripper extract crawl/ 'saved/*.html' @list.txt x.warc.gz --out pages.jsonl

Run again, the same command goes on where it stopped, and does only what is missing.
Exit code 0: done; 1: the one page has no extraction; 2: wrong usage; 3: work is left, the last lines say what;
4: all is done, but some archives are none, or are cut short: the last lines name them."""

_BAD_INPUTS = {
    ArchiveFault.NO_ARCHIVE: "no WARC or ARC record is in it",
    ArchiveFault.CUT_SHORT: "it is cut short; the pages before the cut are rows",
}
_MAX_NAMED = 10
"""Most files of each kind that the last lines name."""

_MARKDOWN = ("title", "links", "images")
"""Flags that stand for settings of the section `markdown`."""


def add(commands: Parsers) -> None:
    """Declare the command."""
    extract = commands.add_parser(
        "extract",
        help="print the main content of one page, or write that of many into a file",
        description=_USAGE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    extract.add_argument(
        "pages",
        nargs="+",
        metavar="PAGE",
        help="an HTML file, gzipped or not; - for standard input; with --out also folders, patterns, @lists and archives",
    )
    extract.add_argument("--url", help="address of the page")
    extract.add_argument("--labeler", help="who decides what is main content (setting labeler.name; default cpu)")
    extract.add_argument("--format", choices=tuple(FORMATS), help="of a page that is printed (default: markdown)")
    extract.add_argument(
        "--title", choices=("include", "exclude"), help="Markdown: the page's title as its first heading"
    )
    extract.add_argument(
        "--links", choices=("keep", "text"), help="Markdown: links with addresses, or their text alone"
    )
    extract.add_argument("--images", choices=("keep", "drop"), help="Markdown: images")
    extract.add_argument("--out", metavar="FILE", help="pages.jsonl or pages.parquet: one row per page")
    extract.add_argument(
        "--jobs", type=flags.positive, metavar="N", help="with --out: pages at once (default: one per processor)"
    )
    flags.add_settings(extract)
    extract.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print or write the extractions; return the exit code."""
    stand_for = {"labeler.name": arguments.labeler} | {
        f"markdown.{name}": getattr(arguments, name) for name in _MARKDOWN
    }
    settings = flags.settings(arguments, stand_for)
    if arguments.out is None:
        return _print_page(arguments, settings)
    for flag in ("url", "format"):
        if getattr(arguments, flag) is not None:
            raise UsageError(f"--{flag} is for one page that is printed, not for --out")
    arguments.out = local_place("--out", arguments.out, writes=True)
    return _write_rows(arguments, settings)


def _print_page(arguments: argparse.Namespace, settings: Settings) -> int:
    page = _check_one_page(arguments.pages)
    data = _read_page(page)
    if runs_staged(settings.labeler):
        # A model's engine has threads and devices, which a fork does not inherit.
        extraction = shared_extractor(settings).extract(data, arguments.url)
    else:
        extraction = extract_guarded(settings, data, arguments.url)
    form = arguments.format or "markdown"
    if extraction.error_code is None or form in FORMATS_WITH_ERRORS:
        write(FORMATS[form](extraction, arguments.url))
    if extraction.error_code is not None:
        detail = f": {extraction.error_detail}" if extraction.error_detail else ""
        sys.stderr.write(f"dripper: {printable(page)} has no extraction ({extraction.error_code}{printable(detail)})\n")
        return 1
    return 0


def _check_one_page(pages: list[str]) -> str:
    if len(pages) > 1 or (not Path(pages[0]).exists() and pages[0] != "-" and set("*?[@") & set(pages[0])):
        raise UsageError("these are many pages: say where their rows go, --out pages.jsonl or --out pages.parquet")
    if Path(pages[0]).is_dir():
        raise UsageError(f"{pages[0]} is a folder: say where the rows of its pages go, --out pages.jsonl")
    return pages[0]


def _read_page(page: str) -> bytes:
    if page == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(page).read_bytes()
    except OSError as error:
        raise InputError(f"{page}: {error.strerror or error}") from None


def _write_rows(arguments: argparse.Namespace, settings: Settings) -> int:
    if "-" in arguments.pages:
        raise UsageError("- (standard input) is one page: leave --out away")
    try:
        outcome = extract_files(
            arguments.pages, arguments.out, settings, arguments.jobs or _count_processors(), sys.stderr.isatty()
        )
    except KeyboardInterrupt:
        sys.stderr.write("dripper: interrupted; the same command goes on where it stopped\n")
        return 3
    sys.stderr.write(_format_summary(outcome, arguments.out))
    return 3 if not outcome.is_complete else 4 if outcome.inputs.bad else 0


def _count_processors() -> int:
    """Return how many processors this process may use, or how many there are where that is
    unknown."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _format_summary(outcome: RunResult, out: Path) -> str:
    inputs = outcome.inputs
    rate = f" ({outcome.seconds:.1f} s, {outcome.pages / max(outcome.seconds, 0.001):.0f} a second)"
    lines = [f"pages written to {out}: {outcome.pages:,}{rate if outcome.pages else ''}"]
    if inputs.already_written:
        lines.append(f"pages that were there already: {inputs.already_written:,}")
    if outcome.errors:
        lines.append(f"without extraction: {_format_counts(outcome.errors)}")
    if inputs.skipped:
        lines.append(f"records of archives that are no pages: {_format_counts(inputs.skipped)}")
    if inputs.faults:
        # The worst first: a run over many archives needs a short list.
        worst = sorted(inputs.faults, key=lambda name: (-inputs.faults[name], name))
        named = ", ".join(f"{name} ({inputs.faults[name]:,})" for name in worst[:_MAX_NAMED])
        more = ", …" if len(worst) > _MAX_NAMED else ""
        lines.append(
            f"faults found in archives: {sum(inputs.faults.values()):,} in {len(worst):,} files: {named}{more}"
        )
    lines += [f"BAD INPUT: {name}: {_BAD_INPUTS[fault]}" for name, fault in sorted(inputs.bad.items())[:_MAX_NAMED]]
    if len(inputs.bad) > _MAX_NAMED:
        lines.append(f"BAD INPUT: {len(inputs.bad) - _MAX_NAMED:,} more files like these")
    lines += [f"not read: {sentence}" for sentence in inputs.unread[:10]]
    if inputs.unread:
        lines.append(
            f"files that could not be read to their end: {len(inputs.unread):,}; the same command tries them again"
        )
    return "".join(f"{printable(line)}\n" for line in lines)


def _format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))
