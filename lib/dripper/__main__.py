"""The command `dripper`: one page from the shell, without Spark; the prompts of public models."""

import argparse
import dataclasses
import json
import sys
from pathlib import Path

import dripper
from dripper.errors import InputError, UsageError
from dripper.labels.lm.prompt import prompt_folder
from dripper.labels.lm.prompt_fetch import fetch_prompts


def main(argv: list[str] | None = None) -> int:
    """Run the command; return 0, 1 where the page has no extraction, 2 for wrong usage."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except UsageError as error:
        sys.stderr.write(f"dripper: {error}\n")
        return 2


def _extract(arguments: argparse.Namespace) -> int:
    extraction = dripper.extract(_read(arguments.page), arguments.url, arguments.labeler)
    if arguments.format == "json":
        _write(json.dumps(dataclasses.asdict(extraction), ensure_ascii=False, indent=2))
    elif extraction.error_code is None:
        _write(extraction.main_html if arguments.format == "html" else extraction.markdown)
    if extraction.error_code is not None:
        detail = f": {extraction.error_detail}" if extraction.error_detail else ""
        sys.stderr.write(f"dripper: {arguments.page} has no extraction ({extraction.error_code}{detail})\n")
        return 1
    return 0


def _fetch_prompts(arguments: argparse.Namespace) -> int:
    files = fetch_prompts(prompt_folder(arguments.folder))
    _write("\n".join(map(str, files)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dripper", description="Main content of web pages.")
    parser.add_argument("--version", action="version", version=f"dripper {dripper.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    extract = commands.add_parser("extract", help="print the main content of one page")
    extract.add_argument("page", help="an HTML file; - reads standard input")
    extract.add_argument("--url", help="address of the page")
    extract.add_argument("--labeler", default="cpu", help="who decides what is main content (default: cpu)")
    extract.add_argument("--format", choices=("markdown", "html", "json"), default="markdown")
    extract.set_defaults(run=_extract)
    prompts = commands.add_parser("prompts", help="the prompts that public models of the labeler lm were trained on")
    what = prompts.add_subparsers(required=True, metavar="WHAT")
    fetch = what.add_parser("fetch", help="take them from their authors' package (pip download) and check their hashes")
    fetch.add_argument("--folder", default="", help="where to put them (default: the user's cache folder)")
    fetch.set_defaults(run=_fetch_prompts)
    return parser


def _read(page: str) -> bytes:
    if page == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(page).read_bytes()
    except OSError as error:
        raise InputError(f"{page}: {error.strerror or error}") from None


def _write(text: str) -> None:
    """As UTF-8, whatever the terminal says; lone surrogates, which pages can hold, become U+FFFD."""
    sys.stdout.buffer.write(
        (text.rstrip("\n") + "\n").encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
