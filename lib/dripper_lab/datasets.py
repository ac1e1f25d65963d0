"""Reads labeled pages from the archives in a data folder, one page at a time, and determines the
site of each page.

A data set is an archive `<name>.tar.xz`, or an unpacked folder `<name>`. It contains `html/` with
the bytes as served, `truth.jsonl` with one row per page, and `META.json`. Rows marked as `bad` (the
ground truth does not fit the page) or `duplicate` (the same HTML occurs earlier) are never yielded;
:func:`count_pages` counts them. In data sets for training shipped models, rows listed in
`dripper_lab.wrong_truths` are also bad. The bytes of every page are checked against `html_sha256`
in its row, so pages cannot be scored with the ground truth of another version.

Pages of the same site share a template, so their scores are not independent. Some labeled pages
have no URL.
"""

import hashlib
import json
import re
import shutil
import tarfile
import tempfile
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from courlan import extract_domain

from dripper.errors import InputError
from dripper.facts.language import detect
from dripper_lab.wrong_truths import wrong_truths

# Sites that most pages link to. If these counted as a page's most frequent link, unrelated pages
# would be assigned to the same site.
LINKED_EVERYWHERE = frozenset({
    "addthis.com", "amazon.com", "cloudflare.com", "delicious.com", "digg.com", "doubleclick.net", "facebook.com",
    "feedburner.com", "google.com", "googleapis.com", "gravatar.com", "instagram.com", "linkedin.com", "pinterest.com",
    "qq.com", "reddit.com", "schema.org", "stumbleupon.com", "t.me", "twitter.com", "w3.org", "weibo.com",
    "whatsapp.com", "wordpress.org", "x.com", "youtube.com",
})  # fmt: skip
CANONICAL = re.compile(
    rb"""<(?:link[^>]{0,300}rel=["']?canonical|meta[^>]{0,300}og:url|base\s)[^>]{0,300}?(?:href|content)=["']?(https?://[^"'\s>]+)"""
    rb"""|<(?:link|meta)[^>]{0,300}?(?:href|content)=["']?(https?://[^"'\s>]+)[^>]{0,300}?(?:rel=["']?canonical|og:url)""",
    re.IGNORECASE,
)
LINK = re.compile(rb"""\s(?:href|src)=["']?(https?://[^"'\s>]{4,200})""", re.IGNORECASE)


def site_of(url: str | None, html: bytes = b"") -> str | None:
    """Return the registered domain of a page ("bbc.co.uk"), or None.

    The sources, in order of precedence, are `url`; the page's canonical link, og:url or base; and
    the most frequent registered domain among its absolute links. That domain must occur at least
    three times. Social and advertising sites are ignored.

    >>> site_of("https://www.bbc.co.uk/news/1")
    'bbc.co.uk'
    >>> site_of(None, b'<link rel="canonical" href="http://news.example.org/a">')
    'example.org'
    """
    if url and (domain := _domain(url)):
        return domain
    if match := CANONICAL.search(html):
        domain = _domain((match[1] or match[2]).decode("ascii", "ignore"))
        if domain and domain not in LINKED_EVERYWHERE:
            return domain
    counts = Counter(filter(None, (_domain(link.decode("ascii", "ignore")) for link in set(LINK.findall(html)))))
    for domain, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if domain not in LINKED_EVERYWHERE:
            return domain if count >= 3 else None
    return None


def _domain(url: str) -> str | None:
    """Return the registered domain. If there is none (an IP address, "localhost"), return the
    host."""
    if "://" not in url:
        url = f"http://{url}"
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    # fast=True would treat blogspot.com as one site; without it, each subdomain is a separate site.
    domain = extract_domain(url)
    return str(domain) if domain else host


REQUIRED_FIELDS = ("id", "file", "truth_text", "html_sha256")

# Language names in the rows of daniel-waddle. Other rows contain ISO 639-1 codes, some with a
# region ("en-US").
LANGUAGE_CODES = {"chinese": "zh", "english": "en", "greek": "el", "polish": "pl", "russian": "ru"}

# The labeled text of this set contains character references such as `&#8217;` (1,181 in 64 of 69
# pages). If they are not decoded, every extractor loses 0.03 ROUGE-LSum, and WCEB's published
# scores cannot be reproduced.
ESCAPED_TRUTHS = frozenset({"cleanportaleval"})

# The `bad` reason of a page without main content. This is an annotator's answer, not a fault.
NO_CONTENT = "no main content"


class Role(StrEnum):
    """The permitted use of a data set according to its licence."""

    TRAIN_SHIPS = "train, ships"
    """Shipped models are allowed to be trained on it."""
    TRAIN_RESEARCH = "train, research"
    """Only for experiments and models that are not shipped. Reports mention it."""
    EVALUATION = "evaluation"
    """Only for scores. Nothing is trained or tuned on it."""
    FORMAT_SAMPLE = "format sample"
    """A few pages for testing that a format can be read."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A known data set."""

    name: str
    role: Role
    licence: str
    """The licence as stated by its source."""
    language: str | None = None
    """ISO 639-1 code if all pages have the same language, otherwise None."""
    split: str | None = None
    """Use only rows with this `split`; None means all rows."""
    part_of: str | None = None
    """The set with which this set shares an archive; None means that this set has its own
    archive."""


DATA_SETS: Mapping[str, DataSet] = {
    data_set.name: data_set
    for data_set in (
        DataSet("wcxb-dev", Role.TRAIN_SHIPS, "CC-BY-4.0"),
        DataSet("fundus", Role.TRAIN_SHIPS, "MIT"),
        DataSet("article-extraction-dataset", Role.TRAIN_SHIPS, "Apache-2.0", "en"),
        DataSet("magic-html-article", Role.TRAIN_SHIPS, "Apache-2.0"),
        DataSet("zh-immortal-autumn", Role.TRAIN_SHIPS, "MIT", "zh"),
        DataSet("readability", Role.TRAIN_SHIPS, "Apache-2.0"),
        DataSet("web-forum-52", Role.TRAIN_SHIPS, "MIT"),
        DataSet("web-kinds", Role.TRAIN_SHIPS, "permissive, named by row", split="train"),
        DataSet("web-kinds-more", Role.TRAIN_SHIPS, "permissive, named by row"),
        DataSet("web-kinds-2", Role.TRAIN_SHIPS, "permissive, named by row"),
        DataSet("web-kinds-3", Role.TRAIN_SHIPS, "permissive, named by row"),
        DataSet("unlabelled-web-training", Role.TRAIN_SHIPS, "permissive, named by row"),
        DataSet("canola", Role.TRAIN_RESEARCH, "CC-BY-SA-4.0", "en"),
        DataSet("xmu-zh-finance-news", Role.TRAIN_RESEARCH, "none stated", "zh"),
        DataSet("daniel-waddle", Role.TRAIN_RESEARCH, "GPL-3.0 (repository)"),
        DataSet("cleaneval-en", Role.EVALUATION, "none stated", "en"),
        DataSet("cleanportaleval", Role.EVALUATION, "none stated", "en"),
        DataSet("dragnet", Role.EVALUATION, "AGPL-3.0 (repository)", "en"),
        DataSet("l3s-gn1", Role.EVALUATION, "research only", "en"),
        DataSet("web-kinds-evaluation", Role.EVALUATION, "permissive, named by row", None, "evaluation", "web-kinds"),
        DataSet("web-kinds-2-evaluation", Role.EVALUATION, "permissive, named by row"),
        DataSet("llm-webkit-bench", Role.EVALUATION, "none stated"),
        DataSet("webmainbench-samples", Role.FORMAT_SAMPLE, "Apache-2.0"),
    )
}


def names_with(*roles: Role, folder: Path | None = None) -> list[str]:
    """Return the names of the known sets with one of `roles`, in the order of `DATA_SETS`.

    Args:
        folder: Return only sets with pages in this folder.

    >>> names_with(Role.FORMAT_SAMPLE)
    ['webmainbench-samples']
    """
    names = DATA_SETS if folder is None else available(folder)
    return [each.name for each in DATA_SETS.values() if each.role in roles and each.name in names]


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page with its ground truth."""

    id: str
    """Unique within `data_set`."""
    data_set: str
    url: str | None
    html: bytes
    """The bytes as served."""
    encoding: str | None
    """The encoding stated in the row, not verified; None if unknown."""
    truth_text: str
    """The main content as plain text."""
    truth_html: str | None = None
    """The labeled main content as HTML, if available. Its meaning differs between sets; see
    META.json."""
    page_type: str | None = None
    """The kind of page (article, forum, product, …), if stated."""
    language: str | None = None
    """ISO 639-1 code stated by the row or the set, otherwise None. :func:`detect_language` guesses
    it."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """All other fields of the row."""

    @property
    def content_type(self) -> str | None:
        """The Content-Type header for decoding `html`. It is set only if the source stored
        characters instead of bytes."""
        is_utf8 = self.encoding is not None and self.encoding.startswith("utf-8 (stored")
        return "text/html; charset=utf-8" if is_utf8 else None

    @property
    def host(self) -> str:
        """The site, which is the unit of bootstraps and splits. A page without a known site is its
        own unit."""
        site = self.more.get("site")
        if site and "." not in site:  # xmu-zh-finance-news names its ten sites, without URLs
            return f"{self.data_set}/{site}"
        return site_of(self.url or self.more.get("host") or site, self.html) or f"{self.data_set}/{self.id}"


@dataclass(frozen=True, slots=True)
class PageCounts:
    """Row counts of a data set: `rows == usable + sum(bad.values()) + duplicate`. A row that is
    both bad and a duplicate counts as bad."""

    rows: int
    usable: int
    duplicate: int
    bad: Mapping[str, int]


def available(folder: Path) -> list[str]:
    """Return the sorted names of the sets in `folder`: archives of known sets, and folders with a
    truth.jsonl file."""
    names = {path.name.removesuffix(".tar.xz") for path in folder.glob("*.tar.xz")} & set(DATA_SETS)
    names |= {path.parent.name for path in folder.glob("*/truth.jsonl")}
    return sorted(names | {each.name for each in DATA_SETS.values() if each.part_of in names})


def count_pages(folder: Path, data_set: str, *, cache: Path | None = None) -> PageCounts:
    """Count the rows of a set by usability. Raises InputError like :func:`read_pages`."""
    rows = _rows_of(data_set, _source(folder, data_set, cache))
    bad = Counter(str(row["bad"]).partition("(")[0] for row in rows if row.get("bad"))
    duplicate = sum(1 for row in rows if row.get("duplicate") and not row.get("bad"))
    return PageCounts(len(rows), len(rows) - duplicate - bad.total(), duplicate, dict(sorted(bad.items())))


def read_pages(
    folder: Path, data_set: str, *, sample: int | None = None, cache: Path | None = None, empty: bool = False
) -> Iterator[LabelledPage]:
    """Yield the usable pages of a set in the order of the archive, which never changes.

    Args:
        sample: Yield only this number of pages, those with the smallest hashes of their ids. The
            sample is spread over the set and is the same on every machine.
        cache: A folder for the unpacked archive. It saves a decompression per call (seconds for
            large sets).
        empty: Include pages without main content (error pages, pages with only menus), which cannot
            be scored.

    Raises:
        InputError: The set is missing, or its truth.jsonl is invalid or does not match the pages.
    """
    source = _source(folder, data_set, cache)
    fine = (None, "", NO_CONTENT) if empty else (None, "")
    rows = [row for row in _rows_of(data_set, source) if row.get("bad") in fine and not row.get("duplicate")]
    if sample is not None:
        rows = _sample_rows(rows, sample)
    row_of = {row["file"]: row for row in rows}
    for file, html in _read_html(source, row_of):
        yield _page(data_set, row_of.pop(file), html, source)
    if row_of:
        raise InputError(f"{source}: {len(row_of)} pages of truth.jsonl have no HTML, first {min(row_of)}")


def detect_language(page: LabelledPage) -> str:
    """Return the stated language, otherwise the detected language of the labeled text (ISO 639-1).
    Return "?" if the text is too short."""
    return page.language or detect(page.truth_text)[0] or "?"


def _source(folder: Path, data_set: str, cache: Path | None) -> Path:
    """Return the folder or archive that contains a set."""
    entry = DATA_SETS.get(data_set)
    name = (entry and entry.part_of) or data_set
    if (folder / name / "truth.jsonl").is_file():
        return folder / name
    archive = folder / f"{name}.tar.xz"
    if not archive.is_file():
        names = ", ".join(available(folder)) or "none"
        raise InputError(f"no data set {data_set!r} in {folder}: no {archive.name} there. Sets there: {names}")
    return archive if cache is None else _unpack(archive, name, cache)


def _unpack(archive: Path, name: str, cache: Path) -> Path:
    """Unpack an archive to the cache, unless it is already there. A killed run leaves no incomplete
    folder under the final name."""
    with archive.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()[:16]
    target = cache / f"{name}-{digest}"
    if not target.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache))
        try:
            with _open_archive(archive) as tar:
                tar.extractall(fresh, filter="data")
            (fresh / name).rename(target)
        except (tarfile.TarError, EOFError, OSError) as error:
            if not target.is_dir():  # otherwise another process was faster, and its folder is as good
                raise InputError(f"{archive} cannot be unpacked: {error}") from error
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return target


def _open_archive(archive: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(archive, "r:xz")
    except (tarfile.TarError, EOFError, OSError) as error:
        raise InputError(f"{archive} is not a .tar.xz archive: {error}") from error


def _members(archive: Path, names: Container[str]) -> Iterator[tuple[str, bytes]]:
    """Yield (path without the top folder, content) of the regular files in `names`, in archive
    order."""
    with _open_archive(archive) as tar:
        try:
            for member in tar:
                name = member.name.partition("/")[2]
                stream = tar.extractfile(member) if name in names else None
                if stream is not None:
                    yield name, stream.read()
        except (tarfile.TarError, EOFError, OSError) as error:
            raise InputError(f"{archive} is damaged: {error}") from error


def _rows_of(data_set: str, source: Path) -> list[dict[str, Any]]:
    entry = DATA_SETS.get(data_set)
    if entry is None:
        return _read_rows(source)
    rows = [row for row in _read_rows(source) if entry.split in (None, row.get("split"))]
    return [_judge(data_set, row) for row in rows] if entry.role is Role.TRAIN_SHIPS else rows


def _judge(data_set: str, row: dict[str, Any]) -> dict[str, Any]:
    """Mark a row as bad if it is in the list of wrong ground truths and the set itself does not
    already mark it."""
    wrong = wrong_truths().get((data_set, row["id"]))
    return row | {"bad": wrong.bad} if wrong and row.get("bad") in (None, "", NO_CONTENT) else row


def _read_rows(source: Path) -> list[dict[str, Any]]:
    if source.is_dir():
        return _parse_rows((source / "truth.jsonl").read_bytes(), source)
    for _, raw in _members(source, {"truth.jsonl"}):
        return _parse_rows(raw, source)
    raise InputError(f"{source} has no truth.jsonl")


def _parse_rows(raw: bytes, source: Path) -> list[dict[str, Any]]:
    rows = []
    # Not splitlines(): the strings contain U+2028 and other characters that it treats as line ends.
    for number, line in enumerate(raw.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{source}: truth.jsonl line {number} is not JSON: {error}") from error
        missing = [name for name in REQUIRED_FIELDS if not isinstance(row, dict) or not isinstance(row.get(name), str)]
        if missing:
            raise InputError(f"{source}: truth.jsonl line {number} lacks the text field {missing[0]!r}")
        rows.append(row)
    return rows


def _sample_rows(rows: list[dict[str, Any]], size: int) -> list[dict[str, Any]]:
    chosen = {row["id"] for row in sorted(rows, key=lambda row: hashlib.sha256(row["id"].encode()).digest())[:size]}
    return [row for row in rows if row["id"] in chosen]


def _read_html(source: Path, files: Collection[str]) -> Iterator[tuple[str, bytes]]:
    if not source.is_dir():
        yield from _members(source, files)
        return
    for file in list(files):
        path = source / file
        if not path.resolve().is_relative_to(source.resolve()) or not path.is_file():
            raise InputError(f"{source}: truth.jsonl names {file!r}, which is not a file of the set")
        yield file, path.read_bytes()


def _page(data_set: str, row: dict[str, Any], html: bytes, source: Path) -> LabelledPage:
    if hashlib.sha256(html).hexdigest() != row["html_sha256"]:
        raise InputError(f"{source}: {row['file']} is not the page that truth.jsonl describes (html_sha256 differs)")
    entry = DATA_SETS.get(data_set)
    stated = str(row.get("lang") or "").lower().partition("-")[0]
    language = LANGUAGE_CODES.get(stated, stated) or (entry.language if entry else None)
    own = {"id", "url", "file", "truth_text", "truth_html", "encoding", "page_type", "html_sha256"}
    more = {name: value for name, value in row.items() if name not in own}
    truth = unescape(row["truth_text"]) if data_set in ESCAPED_TRUTHS else row["truth_text"]
    return LabelledPage(
        row["id"], data_set, row.get("url"), html, row.get("encoding"), truth, row.get("truth_html"),
        row.get("page_type"), language, more,
    )  # fmt: skip
