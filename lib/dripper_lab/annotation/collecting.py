"""Builds a data set from a recipe. Each row of a recipe names a page in a public repository and the
main blocks of the page.

The pages belong to their sites and are published in repositories with permissive licences. A recipe
(see `dripper_lab/recipes/README.md`) contains only this project's contribution: the choice of pages
and the labels.
"""

import gzip
import json
import logging
import re
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from dripper.blocks.page import Page
from dripper.errors import InputError
from dripper_lab import wrong_truths
from dripper_lab.annotation.answers import from_ranges
from dripper_lab.annotation.folders import new_folder
from dripper_lab.annotation.importing import describe_truth
from dripper_lab.datasets import LabelledPage
from dripper_lab.truth import split_pages

log = logging.getLogger(__name__)

_FORMS = {
    "id": re.compile(r"\w[\w-]*"),
    "repository": re.compile(r"github:\w[\w.-]*/\w[\w.-]*"),
    "commit": re.compile(r"[0-9a-f]{40}"),
    "path": re.compile(r"[^-].*"),
    "html_sha256": re.compile(r"[0-9a-f]{64}"),
}
"""The required format of each value that is used in file names and commands."""
_KEPT = ("id", "url", "html_sha256", "host", "licence", "commit", "sure")
"""The fields copied from a recipe's row to truth.jsonl."""


@dataclass(slots=True)
class Collection:
    """The counts of a recipe's pages by result."""

    written: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """The number of rows without a page, keyed by reason."""


def find_recipe(name: str) -> Path:
    """Return the path of a recipe: a file, or the name of a recipe in this package. Raises
    InputError if there is none."""
    packaged = Path(str(files("dripper_lab"))) / "recipes"
    for path in (Path(name), packaged / f"{name}.jsonl"):
        if path.is_file():
            return path
    recipes = sorted(each.stem for each in packaged.glob("*.jsonl") if each.name != wrong_truths.FILE)
    raise InputError(f"no recipe {name}: name a file, or one of {', '.join(recipes)}")


def read_recipe(name: str) -> list[dict[str, Any]]:
    """Return the labeled rows of a recipe. Raises InputError if the recipe does not exist or has
    malformed rows."""
    return [row for row in read_rows(find_recipe(name)) if "main" in row]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return all rows of a recipe file. Raises InputError if a row is malformed."""
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except ValueError as error:
        raise InputError(f"{path.name} is not JSON, one object a line: {error}") from error
    for number, row in enumerate(rows, 1):
        if wrong := [field for field, form in _FORMS.items() if not form.fullmatch(str(row.get(field) or ""))]:
            raise InputError(f"{path.name}: row {number} has no usable {wrong[0]}")
    return rows


def collect(rows: Sequence[Mapping[str, Any]], clones: Path, out: Path, fetch: bool = False) -> Collection:
    """Write the pages of a recipe to `out`, as a data set.

    Args:
        clones: A folder of Git repositories named `OWNER+NAME` or `OWNER/NAME`, bare or not.
        fetch: Whether to clone missing repositories from github.com.

    Raises:
        InputError: `out` exists, or no page is available.
    """
    collection = Collection()
    with new_folder(out) as folder:
        (folder / "html").mkdir()
        by_id = {row["id"]: row for row in rows}
        with (folder / "truth.jsonl").open("w", encoding="utf-8", newline="\n") as truth:
            for labelled, page in split_pages(read_recipe_pages(rows, out.name, clones, fetch, collection.left_out)):
                row = by_id[labelled.id]
                if len(page.blocks) != row["n_blocks"]:
                    _leave_out(collection.left_out, row, "it has other blocks now than when it was labelled")
                    continue
                (folder / "html" / f"{labelled.id}.html").write_bytes(labelled.html)
                truth.write(json.dumps(_truth_row(row, page), ensure_ascii=False) + "\n")
                collection.written += 1
        if not collection.written:
            reasons = "; ".join(f"{count} pages: {reason}" for reason, count in collection.left_out.most_common(3))
            raise InputError(f"no page of the recipe can be had from {clones} ({reasons})")
        meta = {
            "source": "public repositories, named in each row",
            "n": collection.written,
            "left_out": dict(collection.left_out),
        }
        (folder / "META.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
    return collection


def _truth_row(row: Mapping[str, Any], page: Page) -> dict[str, Any]:
    truth = {name: row[name] for name in _KEPT if row.get(name) is not None}
    truth |= {"file": f"html/{row['id']}.html", "source": row["repository"], "page_type": row["kind"]}
    truth |= {"main_blocks": row["main"], "n_blocks": row["n_blocks"]}
    if second := row.get("second"):
        truth |= {"main_blocks_second": second["main"], "page_type_second": second["kind"]}
    return truth | describe_truth(page, from_ranges(row["main"], row["n_blocks"]))


def read_recipe_pages(
    rows: Sequence[Mapping[str, Any]], data_set: str, clones: Path, fetch: bool, left_out: Counter[str]
) -> Iterator[LabelledPage]:
    """Yield the available pages of a recipe, and count the unavailable ones by reason."""
    repositories: dict[str, Path | None] = {}
    for row in rows:
        name = row["repository"].removeprefix("github:")
        if name not in repositories:
            repositories[name] = _find_clone(clones, name) or (_clone(clones, name) if fetch else None)
        repository = repositories[name]
        if repository is None:
            _leave_out(left_out, row, f"no clone of {name}")
            continue
        stored = _show(repository, row["commit"], row["path"])
        if stored is None and fetch:
            _run_git(repository, "fetch", "--quiet", "--depth=1", "origin", row["commit"])
            stored = _show(repository, row["commit"], row["path"])
        html = None if stored is None else unpack_page(row["path"], stored)
        if html is None:
            _leave_out(left_out, row, f"{name} has no such file at that commit")
        elif sha256(html).hexdigest() != row["html_sha256"]:
            _leave_out(left_out, row, "the page is another one than was labelled")
        else:
            yield LabelledPage(row["id"], data_set, row["url"], html, None, "", more={"host": row["host"]})


def unpack_page(path: str, stored: bytes) -> bytes | None:
    """Extract the page from a repository file: `.gz` is decompressed, and from `.mhtml`, the first
    `text/html` part is decoded. Return None if there is no page.

    >>> unpack_page("a.html", b"<p>Hello")
    b'<p>Hello'
    """
    if path.endswith(".gz"):
        try:
            return gzip.decompress(stored)
        except (OSError, EOFError, zlib.error):
            return None
    if path.endswith(".mhtml"):
        for part in message_from_bytes(stored).walk():
            if part.get_content_type() == "text/html":
                payload = part.get_payload(decode=True)
                return payload if isinstance(payload, bytes) else None
        return None
    return stored


def _leave_out(left_out: Counter[str], row: Mapping[str, Any], reason: str) -> None:
    left_out[reason] += 1
    log.warning("%s left out: %s (%s)", row["id"], reason, row["path"])


def _find_clone(clones: Path, name: str) -> Path | None:
    for folder in (clones / name, clones / name.replace("/", "+")):
        for place in (folder, folder.with_name(f"{folder.name}.git"), folder / "repo"):
            if (place / "HEAD").is_file() or (place / ".git").exists():
                return place
    return None


def _clone(clones: Path, name: str) -> Path | None:
    into = clones / name.replace("/", "+")
    log.info("cloning %s", name)
    address = f"https://github.com/{name}"
    stdout = _run_git(clones, "clone", "--quiet", "--bare", "--filter=blob:none", address, str(into))
    return into if stdout is not None else None


def _show(repository: Path, commit: str, path: str) -> bytes | None:
    return _run_git(repository, "cat-file", "blob", f"{commit}:{path}")


def _run_git(folder: Path, *arguments: str) -> bytes | None:
    folder.mkdir(parents=True, exist_ok=True)
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *arguments]
    try:
        process = subprocess.run(command, check=False, capture_output=True)
    except FileNotFoundError:
        raise InputError("the command git is missing: install it to fetch pages") from None
    if process.returncode:
        log.debug("%s", process.stderr.decode("utf-8", "replace"))
        return None
    return process.stdout
