"""Defines the extractors of an evaluation, and converts their outputs to the form of the truth.

The library html-text converts HTML to text, and html2text converts it to Markdown, for every
extractor. The Dripper paper does the same for its "Html+TEXT" and "Html+MD" (5.5 and 4.2.2).

A new extractor is one line in `peers.peers`: a name, the package that its version is read from, and
a function that loads it.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import dripper
from dripper.errors import MachineError, UsageError
from dripper.html.markdown.convert import convert_with_html2text
from dripper.settings import MarkdownSettings
from dripper_lab.datasets import LabelledPage
from dripper_lab.extra import import_extra


class Standing(StrEnum):
    """The standing of an extractor in a table."""

    OURS = "ours"
    PEER = "peer"
    TEXT = "whole page"
    """A converter that keeps everything: the floor of precision and the ceiling of recall."""
    BOUND = "bound"
    """An extractor that marks a limit of labelers over the same blocks, such as one that sees the
    truth."""
    ENSEMBLE = "ensemble"
    WCEB = "as WCEB calls it"
    """A peer with the settings of the SIGIR'23 study, only for comparison with its published
    scores."""


class Form(StrEnum):
    """The form in which an extractor returns the content."""

    TEXT = "text"
    HTML = "html"


@dataclass(frozen=True, slots=True)
class Task:
    """One page to extract."""

    page: LabelledPage
    """For its URL, and for bounds."""
    html: str
    """Decoded once, the same characters for every extractor."""


Extract = Callable[[Task], str]


def extract_or_nothing(extract: Extract, task: Task) -> str:
    """Return an extractor's output; "" if it fails. Peers may raise any error, and tables must have
    no gaps."""
    try:
        return extract(task)
    except Exception:
        return ""


@dataclass(frozen=True, slots=True)
class Contender:
    """An extractor under test."""

    name: str
    kind: Standing
    package: str
    """The distribution that the reported version belongs to."""
    load: Callable[[], Extract]
    """Imports and loads all it needs, and returns the function that extracts. Raises MachineError
    if its package is missing."""
    form: Form = Form.TEXT
    setting: str = "default"
    """Name of the setting, for the report's table."""
    variant: str = ""
    """Mark of outputs under changed settings, which separates them from outputs by default; "" for
    default settings."""

    @property
    def version(self) -> str:
        """The installed version of the package. Raises MachineError if there is none."""
        if self.package == "dripper":
            return f"{own_version()}-{self.variant}" if self.variant else own_version()
        try:
            return version(self.package)
        except PackageNotFoundError as error:
            raise MachineError(f"extractor {self.name} needs {self.package}: pip install {self.package}") from error


@cache
def own_version() -> str:
    """Return the version of this package and a digest of its code and weights: stored outputs of
    other code are not used."""
    folder = Path(dripper.__file__).parent
    state = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        part = path.relative_to(folder).parts[0]
        if path.suffix in (".py", ".npz", ".json") and part not in ("eval", "spark", "train"):
            state.update(path.name.encode() + path.read_bytes())
    return f"{dripper.__version__}+{state.hexdigest()[:8]}"


def choose(names: Iterable[str], by_name: Mapping[str, Contender]) -> list[Contender]:
    """Return the named extractors. Raises UsageError for a name that is not known."""
    names = list(names)
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise UsageError(f"unknown extractor {unknown[0]!r}; there are: {', '.join(by_name)}")
    return [by_name[name] for name in names]


def split_installed(extractors: Iterable[Contender]) -> tuple[list[Contender], list[str]]:
    """Return the extractors that can run here, and the names of the extractors that lack their
    package."""
    installed, missing = [], []
    for extractor in extractors:
        try:
            _ = extractor.version
        except MachineError:
            missing.append(extractor.name)
        else:
            installed.append(extractor)
    return installed, missing


_NO_LINKS = MarkdownSettings(links="text", images="drop")
MARKDOWN_TRUTHS = frozenset({"webmainbench", "webmainbench-samples"})


def converter(form: Form, data_set: str) -> Callable[[str], str]:
    """Return the function that turns an extractor's result into text to score on that data set."""
    if form is Form.TEXT:
        return str
    return markdown if data_set in MARKDOWN_TRUTHS else plain_text


def markdown(html: str) -> str:
    """Return HTML as Markdown, links and images left out, lines not wrapped."""
    return convert_with_html2text(html, _NO_LINKS)


def plain_text(html: str) -> str:
    """Return HTML as text in html-text's guessed layout."""
    return str(import_extra("html_text").extract_text(html)) if html.strip() else ""
