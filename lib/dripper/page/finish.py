"""Splits a decoded page, requests its labels, and writes the main blocks as main HTML and
Markdown."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from dripper.blocks.page import Page
from dripper.blocks.profiles.registry import find_profile
from dripper.errors import ErrorCode, PageError, SettingsError
from dripper.facts.language import SAMPLE_CHARACTERS, detect
from dripper.facts.metadata import Metadata, contains_title, find_own_address
from dripper.facts.metadata.dates import find_precision
from dripper.facts.posts import FoundPost
from dripper.keep.complete import Completed, complete
from dripper.keep.content import Content, cut_content
from dripper.keep.images import ShownImage
from dripper.keep.posts import NO_POSTS, THREAD, KeptPosts, PagePosts, Post, find_page_posts
from dripper.labels import Labels, load
from dripper.labels.fallback import Fallback, fall_back
from dripper.labels.registry import resolve_fallback
from dripper.page.declared import METHOD, is_declared
from dripper.page.notices import is_notice
from dripper.page.split import Decoded, split_into_blocks
from dripper.settings import ALL_OUTPUTS, OUTPUTS, Output, Settings
from dripper.tree.head import write_schema_org
from dripper.tree.parser import Reading
from dripper.tree.selectors import check_selector, find_kept_blocks
from dripper.tree.urls import Base
from dripper.write.markdown import load_html2text, write_markdown
from dripper.write.markdown.inert import write_inert_line
from dripper.write.markdown.output import Heads, Markdown
from dripper.write.text import to_text

DEFAULT_SETTINGS = Settings()
_OF_MAIN_HTML: tuple[Output, ...] = ("main_html", "markdown", "images")
"""The outputs that are derived from main HTML, and main HTML itself."""
KEPT, OF_THREAD = "html.keep", "post of a thread"
"""Two reasons for marking a block as main against its label. Another reason is either the
fallback's name or comes from `keep.complete`."""
_REPR_CHARACTERS = 100


@dataclass(frozen=True, slots=True, repr=False)
class Extraction:
    """The main content of one page, or an `error_code` if there is none. With an error, `main_html`
    and `markdown` are empty.

    method: the labeler's name (`lm:windowed` if the labeler saw the page in parts), `fallback:cpu`,
    `fallback:trafilatura`, `fallback:body` or `fallback:empty`, or `declared` for text read from
    JSON-LD. confidence: the labeler's confidence in the page as a whole, 0 to 1; None if the
    labeler gives none. page_kind: the kind of page according to the labeler (article, forum,
    listing, product…); None if the labeler gives none.

    title: the title above the Markdown and in `metadata`. html_title: the text of `<title>`, as
    written. metadata: authors, dates, site and more, as the page declares them; None if there is no
    extraction. url: the page's URL as given; if none was given, the URL that the page states.
    Relative links are resolved against this URL. schema_org: the page's JSON-LD objects, unchanged,
    in a JSON array; only if `outputs` includes `schema_org`.

    images: the images in the main content, in order. posts: the posts of a thread, or readers'
    comments, that are at least partly in the main content, in order. comments: whether most posts
    that the page shows are in the main content (`in`, `out`); None if the page shows no posts.

    charset, charset_source, encoding_errors (characters that could not be decoded): set if the page
    was given as bytes. hidden_chars: the number of characters of hidden text that were left out.
    outputs: the `outputs` setting; parts that are not in it are empty.
    """

    main_html: str = ""
    markdown: str = ""
    title: str = ""
    language: str | None = None
    language_probability: float | None = None
    n_blocks: int = 0
    n_main: int = 0
    method: str | None = None
    confidence: float | None = None
    page_kind: str | None = None
    charset: str | None = None
    charset_source: str | None = None
    error_code: ErrorCode | None = None
    error_detail: str | None = None
    metadata: Metadata | None = None
    url: str | None = None
    images: tuple[ShownImage, ...] = ()
    html_title: str = ""
    encoding_errors: int | None = None
    posts: tuple[Post, ...] = ()
    comments: str | None = None
    hidden_chars: int = 0
    schema_org: str = ""
    outputs: tuple[Output, ...] = OUTPUTS

    @property
    def text(self) -> str:
        """The main content as plain text, derived from `main_html` on each call. The published
        scores compare this text. Captions are left out if they were kept only because of their
        images. Raises SettingsError if `outputs` leaves `main_html` out."""
        if "main_html" not in self.outputs:
            raise SettingsError("text is made of main_html, which the setting outputs leaves out: add it there")
        return to_text(self.main_html, with_captions=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields except `outputs`, as types that `json.dumps` can write. Parts that are
        not in `outputs` are None. `dripper extract --format json` prints this dict."""
        values = asdict(self)
        return values | dict.fromkeys(set(ALL_OUTPUTS).difference(values.pop("outputs")))

    def __repr__(self) -> str:
        """Return a one-line summary without the page's content.

        >>> Extraction(title="Rain", n_blocks=5, n_main=3, method="cpu", confidence=0.9)
        Extraction(title='Rain', n_main=3, n_blocks=5, method='cpu', confidence=0.9)
        """
        names: tuple[str, ...] = ("title", "n_main", "n_blocks", "method", "confidence")
        if self.error_code is not None:
            names = ("error_code", "error_detail")
        return f"Extraction({', '.join(f'{name}={_shorten(getattr(self, name))}' for name in names)})"

    def _repr_markdown_(self) -> str:
        """Return the Markdown for notebooks, or the error of a page without content."""
        return self.markdown or f"`{self!r}`"


def _shorten(value: object) -> str:
    text = repr(str(value) if isinstance(value, ErrorCode) else value)
    return text if len(text) <= _REPR_CHARACTERS else f"{text[:_REPR_CHARACTERS]}…"


@dataclass(frozen=True, slots=True)
class Examination:
    """An extraction with its page, labels and reasons, for debugging."""

    extraction: Extraction
    page: Page | None = None
    """The page with its blocks; None if the page could not be split."""
    labels: Labels | None = None
    """The labels that the labeler gave; None if there are no usable labels."""
    main: npt.NDArray[np.bool_] | None = None
    """Whether each block is in the extraction, shape (n_blocks,)."""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """Block index → reason, for each block that was decided against its label."""


AskLabels = Callable[[Page], tuple[Labels | None, str]]
"""Returns a page's labels, or None and the reason if no labels are usable. May raise PageError."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The result of choosing the blocks for a page's extraction."""

    main: npt.NDArray[np.bool_]
    """Whether each block is chosen, shape (n_blocks,)."""
    method: str
    """The labeler or the fallback that decided, as in `Extraction.method`."""
    n_main: int
    """Number of blocks that the labeler marked as main; 0 if a fallback decided."""
    confidence: float
    """The labeler's confidence; NaN if it gives none."""
    posts: PagePosts = NO_POSTS
    """The page's posts and kind. The kind comes from the labeler, unless the posts show that the
    page is a thread."""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """Reasons, as in `Examination`."""


class Finisher:
    """Extracts decoded pages according to the settings.

    >>> page, second = Decoded.of("<p>one<p>two"), Labels.certain(np.array([False, True]))
    >>> examined = Finisher().examine(page, None, "dripper", "rule", lambda _: (second, ""))
    >>> examined.extraction.main_html
    '<html><body><p>two</p></body></html>'
    """

    def __init__(self, settings: Settings = DEFAULT_SETTINGS) -> None:
        self._html, self._markdown = settings.html, settings.markdown
        self._outputs, self._asked = settings.outputs, frozenset(settings.outputs)
        for selector in (*self._html.keep, *self._html.drop):
            try:
                check_selector(selector)
            except ValueError as error:
                raise SettingsError(f"html.keep and html.drop: {error}") from None
        if self._markdown.converter == "html2text":
            load_html2text()  # Check this now, because every page would fail without html2text.
        self._fallback = Fallback(resolve_fallback(settings.labeler))
        self._second = load("cpu", **settings.labels.options("cpu")) if self._fallback is Fallback.CPU else None

    def examine(
        self, decoded: Decoded, url: str | None, profile: str, labeler: str, ask_labels: AskLabels
    ) -> Examination:
        """Return the extraction of a page, and the blocks and labels from which it was created.

        Args:
            url: The page's URL. If None, the URL that the page itself states (`find_own_address`).
            profile: The name of the rules for splitting the page.
            labeler: The name of the labeler, for the extraction's `method`.
            ask_labels: Called with the split page; returns its labels.

        Raises:
            PageError: EMPTY_PAGE if the page has no text, or if its main text is only a notice.
                LABELER_FAILED if there are no labels and the fallback is `empty`. Other codes if
                the page exceeds a limit of the parser or of the output. Errors from `ask_labels`
                propagate.
        """
        reading = Reading(
            url or None, keeps_hidden=self._html.hidden == "keep", only_title="metadata" not in self._asked
        )
        page = split_into_blocks(decoded, profile, reading)
        url = url or find_own_address(decoded.utf8, page.metadata)
        labels, detail = ask_labels(page)
        choice = self._choose(page, decoded, labels, labeler, detail)
        extraction = self._extract(page, choice, Base.of(url, page.hints.base))
        schema_org = write_schema_org(decoded.utf8) if "schema_org" in self._asked else ""
        return Examination(
            replace(extraction, url=url, schema_org=schema_org), page, labels, choice.main, choice.reasons
        )

    def _choose(self, page: Page, decoded: Decoded, labels: Labels | None, labeler: str, detail: str) -> Choice:
        """Choose the blocks for the extraction: the labeler's blocks, or the fallback's if the
        labeler marked none. If the page was created from its declared text, all blocks are
        chosen."""
        is_ours = find_profile(page.profile).keeps_units
        if is_ours and is_declared(page):
            n_blocks = len(page.blocks)
            return Choice(np.ones(n_blocks, bool), METHOD, 0, math.nan, reasons=dict.fromkeys(range(n_blocks), METHOD))
        choice = self._decide(page, decoded, labels, labeler, detail)
        if is_ours and not self._html.keep:
            said = [block.text for block in compress(page.blocks, choice.main.tolist()) if block.text]
            if is_notice(said, page.title):
                raise PageError(ErrorCode.EMPTY_PAGE, f"no more than a notice: {' '.join(' '.join(said).split())[:60]}")
        return choice

    def _decide(self, page: Page, decoded: Decoded, labels: Labels | None, labeler: str, detail: str) -> Choice:
        n_main, confidence, kind = 0, math.nan, None
        given = np.zeros(len(page.blocks), bool) if labels is None else labels.main
        if labels is not None:
            n_main, confidence, kind = int(np.count_nonzero(labels.main)), labels.confidence, labels.page_kind
        is_kept = self._keep(page)
        if labels is not None and (n_main or is_kept.any()):
            method = labels.method or labeler
            method = f"{method}:windowed" if labels.windows > 1 else method
        elif labels is None and self._fallback is Fallback.EMPTY:
            raise PageError(ErrorCode.LABELER_FAILED, detail)
        else:
            labels, method = fall_back(page, decoded.text, self._fallback, self._second)
        completed, posts = _complete(page, labels.main, kind, finds_posts="posts" in self._asked or kind == THREAD)
        main = np.array(completed.main, bool) | is_kept
        reasons = {
            index: completed.reasons.get(index) or (KEPT if is_kept[index] else method)
            for index in np.flatnonzero(main != given).tolist()
        }
        return Choice(main, method, n_main, confidence, posts, reasons)

    def _keep(self, page: Page) -> npt.NDArray[np.bool_]:
        """Return for each block whether the `html.keep` setting selects it, shape (n_blocks,)."""
        is_kept = np.zeros(len(page.blocks), bool)
        if self._html.keep:
            is_kept[[item - 1 for item in find_kept_blocks(page.mapping_html, self._html.keep)]] = True
        return is_kept

    def _extract(self, page: Page, choice: Choice, base: Base | None) -> Extraction:
        """Create the extraction from the chosen blocks."""
        main_ids = [i for i, is_main in enumerate(choice.main.tolist(), 1) if is_main]
        title = (page.metadata.title if page.metadata is not None else None) or " ".join(page.title.split())
        asked, is_found = self._asked, bool(choice.posts.found)
        kept = choice.posts.keep(page, main_ids, title) if is_found and "posts" in asked else KeptPosts()
        content = None
        if not asked.isdisjoint(_OF_MAIN_HTML):
            content = cut_content(page, main_ids, self._html, base, kept.posts, with_images="images" in asked)
        # Detect the language in the text of the blocks. Extracting the text from the main HTML
        # would take ten times as long as the detection.
        declared = page.metadata.language if page.metadata is not None else None
        sample = [page.blocks[i - 1].text for i in main_ids[:SAMPLE_CHARACTERS]]
        language, probability = detect("\n".join(sample), declared)
        markdown, images, posts = Markdown([]), tuple[ShownImage, ...](), tuple(kept.posts.values())
        if content is not None:
            if "markdown" in asked:
                markdown = self._write_markdown(page, main_ids, content, title)
            images, posts = _place(content, markdown)
        return Extraction(
            main_html=content.main_html if content is not None and "main_html" in asked else "",
            markdown=markdown.text if "markdown" in asked else "",
            title=title,
            html_title=page.title,
            language=language,
            language_probability=probability,
            n_blocks=len(page.blocks),
            n_main=choice.n_main,
            method=choice.method,
            confidence=None if math.isnan(choice.confidence) else round(choice.confidence, 4),
            page_kind=choice.posts.kind,
            metadata=_credit(page, base, choice.posts.found if choice.posts.kind == THREAD else ())
            if "metadata" in asked
            else None,
            images=images,
            posts=posts,
            comments=kept.comments,
            hidden_chars=page.hidden_characters,
            outputs=self._outputs,
        )

    def _write_markdown(self, page: Page, main_ids: list[int], content: Content, title: str) -> Markdown:
        """Write the Markdown, with the page's title on top unless the main content already contains
        the title."""
        is_added = self._markdown.title == "include" and bool(title)
        tops = map(content.tree.text, content.tree.find("h1")) if is_added else ()
        is_added = is_added and not any(contains_title([top], title) for top in tops)
        is_said = is_added and contains_title((page.blocks[item - 1].text for item in main_ids), title)
        heads = Heads(write_inert_line(title, "# ") if is_added else "", is_said, content.posts)
        return write_markdown(content.tree, self._markdown, heads)


def _place(content: Content, markdown: Markdown) -> tuple[tuple[ShownImage, ...], tuple[Post, ...]]:
    """Return the images and the posts with their positions in the Markdown."""
    offsets = markdown.find_offsets() if content.images or content.posts else []
    places = {each: offsets[n] + column for each, (n, column) in markdown.images.items() if each in content.images}
    starts = {rule: offsets[line] for rule, line in markdown.posts.items()}
    images = (replace(image, place=places.get(element)) for element, image in content.images.items())
    posts = (replace(post, offset=starts.get(rule)) for rule, post in content.posts.items())
    return tuple(images), tuple(posts)


def _credit(page: Page, base: Base | None, posts: Sequence[FoundPost]) -> Metadata | None:
    """Return a page's metadata. A thread gets the date and the author of its first post. If the
    metadata names an author who wrote none of the known posts, the authors in the metadata are
    kept."""
    if page.metadata is None:
        return None
    metadata = page.metadata.completed(base)
    if not posts:
        return metadata
    first, known = posts[0], {post.author for post in posts}
    is_other = any(name not in known and (first.author or "") not in name for name in metadata.authors)
    authors = (first.author,) if first.author and not is_other else metadata.authors
    published = first.published or metadata.published
    return replace(metadata, authors=authors, published=published, published_precision=find_precision(published))


def _complete(
    page: Page, main: npt.NDArray[np.bool_], kind: str | None, *, finds_posts: bool
) -> tuple[Completed, PagePosts]:
    """Return the main blocks together with the blocks that belong to them, and the page's posts.
    Profiles without `keeps_units` get only the main blocks."""
    if not find_profile(page.profile).keeps_units:
        return Completed(main.tolist(), {}), PagePosts(kind)
    posts = find_page_posts(page, kind) if finds_posts else PagePosts(kind)
    return complete(page, main.tolist(), {OF_THREAD: posts.complete}), posts
