"""Defines extractors for evaluations, and converts their outputs to the form of the ground truth.

For every extractor, html-text converts HTML to text, and html2text converts HTML to Markdown, as in
the Dripper paper's "Html+TEXT" and "Html+MD" (5.5 and 4.2.2).

To add an extractor, add a line to `peers.peers` with a name, the package that determines its
version, and a function that loads it.
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
from dripper.settings import MarkdownSettings
from dripper.write.markdown.convert import convert_with_html2text
from dripper_lab.datasets import LabelledPage
from dripper_lab.extra import import_extra


class Standing(StrEnum):
    """The role of an extractor in tables."""

    OURS = "ours"
    PEER = "peer"
    TEXT = "whole page"
    """A converter that keeps everything: a lower bound of precision and an upper bound of
    recall."""
    BOUND = "bound"
    """An extractor that shows a limit for labelers on the same blocks, for example by using the
    ground truth."""
    ENSEMBLE = "ensemble"
    WCEB = "as WCEB calls it"
    """Another project's extractor with the settings of the SIGIR'23 study. It is only compared with
    the study's published scores."""


class Form(StrEnum):
    """The format of an extractor's output."""

    TEXT = "text"
    HTML = "html"


@dataclass(frozen=True, slots=True)
class Task:
    """A page to extract."""

    page: LabelledPage
    """Provides the URL. Extractors of kind `bound` also read its ground truth."""
    html: str
    """Decoded once, so that every extractor gets the same characters."""


Extract = Callable[[Task], str]


def extract_or_nothing(extract: Extract, task: Task) -> str:
    """Return an extractor's output, or "" if it fails. Other projects' extractors may raise any
    error, and tables must not have gaps."""
    try:
        return extract(task)
    except Exception:
        return ""


@dataclass(frozen=True, slots=True)
class Contender:
    """An extractor in an evaluation."""

    name: str
    kind: Standing
    package: str
    """The distribution that determines the reported version."""
    load: Callable[[], Extract]
    """Imports and loads everything needed, and returns the extraction function. Raises MachineError
    if a package is missing."""
    form: Form = Form.TEXT
    setting: str = "default"
    """A description of the settings for the report."""
    variant: str = ""
    """Distinguishes outputs with changed settings from outputs with default settings; "" for the
    defaults."""

    @property
    def version(self) -> str:
        """The installed version of the package. Raises MachineError if it is not installed."""
        if self.package == "dripper":
            return f"{own_version()}-{self.variant}" if self.variant else own_version()
        try:
            return version(self.package)
        except PackageNotFoundError as error:
            raise MachineError(f"extractor {self.name} needs {self.package}: pip install {self.package}") from error


@cache
def own_version() -> str:
    """Return this package's version and a digest of its code and weights, so that outputs of other
    code are not reused."""
    folder = Path(dripper.__file__).parent
    state = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        part = path.relative_to(folder).parts[0]
        if path.suffix in (".py", ".npz", ".json") and part not in ("eval", "spark", "train"):
            state.update(path.name.encode() + path.read_bytes())
    return f"{dripper.__version__}+{state.hexdigest()[:8]}"


def choose(names: Iterable[str], by_name: Mapping[str, Contender]) -> list[Contender]:
    """Return the named extractors. Raises UsageError for an unknown name."""
    names = list(names)
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise UsageError(f"unknown extractor {unknown[0]!r}; there are: {', '.join(by_name)}")
    return [by_name[name] for name in names]


def split_installed(extractors: Iterable[Contender]) -> tuple[list[Contender], list[str]]:
    """Return the extractors that can run here, and the names of the extractors with a missing
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
    """Return the function that converts an extractor's output to the text scored on a data set."""
    if form is Form.TEXT:
        return str
    return markdown if data_set in MARKDOWN_TRUTHS else plain_text


def markdown(html: str) -> str:
    """Convert HTML to Markdown without links, images and line wrapping."""
    return convert_with_html2text(html, _NO_LINKS)


def plain_text(html: str) -> str:
    """Convert HTML to text with html-text, which guesses the layout."""
    return str(import_extra("html_text").extract_text(html)) if html.strip() else ""
