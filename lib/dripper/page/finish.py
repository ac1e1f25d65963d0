"""Finishes a page whose blocks have labels: main HTML, Markdown and language. The step before
labelling is `dripper.page.prepare`."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import compress

import numpy as np
import numpy.typing as npt

from dripper import html as html_core
from dripper.errors import ErrorCode, PageError, SettingsError
from dripper.html import NO_LIMITS
from dripper.html.blocks.page import Page
from dripper.html.markdown import load_html2text, write_markdown
from dripper.html.markdown.images import ShownImage, list_images, place_images
from dripper.html.markdown.inert import write_inert_line
from dripper.html.markdown.posts import Post, cut_marks, place_posts
from dripper.html.media.roles import replace_icons
from dripper.html.metadata import Metadata, find_canonical_address, says_title
from dripper.html.metadata.dates import find_precision
from dripper.html.selectors import check_selector, find_kept_blocks
from dripper.html.tree.tree import Tree
from dripper.html.tree.urls import Base
from dripper.html.units.complete import complete
from dripper.html.units.posts import FoundPost
from dripper.labels import Labels, load
from dripper.labels.fallback import Fallback, fall_back
from dripper.labels.registry import resolve_fallback
from dripper.page.declared import METHOD, is_declared
from dripper.page.language import SAMPLE_CHARACTERS, detect
from dripper.page.notices import is_notice
from dripper.page.posts import NO_POSTS, THREAD, KeptPosts, PagePosts, find_page_posts
from dripper.page.prepare import Decoded, Prepared
from dripper.settings import Settings

DEFAULT_SETTINGS = Settings()


@dataclass(frozen=True, slots=True)
class Extraction:
    """The main content of one page, or why there is none (`error_code`; `main_html` and `markdown`
    are then "").

    method: who decided: the labeler's name (`lm:windowed` where it saw the page in parts), or
    `fallback:cpu`, `fallback:trafilatura`, `fallback:body`, `fallback:empty`; `declared` for a text
    read in JSON-LD.
    confidence: 0 to 1, how sure the labeler is of the page as a whole; None where it does not say.
    page_kind: article, forum, listing, product…, as the labeler sees it; None where it does not
    say.
    title: the one title that heads the Markdown and stands in `metadata`. html_title: of `<title>`,
    as written.
    charset, charset_source, encoding_errors (characters that could not be decoded): set where bytes
    came in.
    metadata: what the page declares about itself (authors, dates, site…); None where there is no
    extraction.
    url: the page's address, as given, else as the page says it; its relative links are completed by
    it.
    images: those of the main content, in its order.
    posts: those of a thread, or readers' comments, of which something is in the main content, in
    its order. comments: whether most posts that the page shows are there (`in`, `out`); None: it
    shows none.
    hidden_chars: characters of text on the page that a person does not see, and that are left out.
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

    @property
    def text(self) -> str:
        """The main content as plain text, made of `main_html` when asked for: what the published
        scores compare. Captions that only stand there with their images are left out."""
        return html_core.to_text(self.main_html, with_captions=False)


@dataclass(frozen=True, slots=True)
class Splits:
    """The parts of a page that the second half needs, wherever they come from.

    texts: of the blocks, in order. split: the page with its blocks. prune: from main item ids, and
    whether images are placed, and markup before blocks, to main HTML. whole: the page, and the text
    of which Trafilatura makes its choice; called only where no block is main. profile: that split
    it. base: of the page's relative addresses. metadata: of the page, with addresses as written.
    mapping: the page's mapping HTML. hidden_chars: see `Extraction`.
    """

    title: str
    texts: Sequence[str]
    split: Callable[[], Page]
    prune: Callable[[Collection[int], bool, Mapping[int, str]], str]
    whole: Callable[[], tuple[Page, Decoded]]
    profile: str
    base: Base | None = None
    metadata: Metadata | None = None
    mapping: Callable[[], str] = str
    hidden_chars: int = 0

    @classmethod
    def of_page(cls, page: Page, decoded: Decoded, url: str | None = None) -> "Splits":
        """Take them from the page in hand, what it was split from, and its address."""
        texts = [block.text for block in page.blocks]
        base = Base.of(url, page.hints.base)
        return cls(
            page.title,
            texts,
            lambda: page,
            page.prune,
            lambda: (page, decoded),
            page.profile,
            base,
            page.metadata,
            lambda: page.mapping_html,
            page.hidden_characters,
        )

    @classmethod
    def of_prepared(cls, prepared: Prepared, profile: str, url: str | None = None) -> "Splits":
        """Take them from the first half and the page's address; None: its canonical one.

        Its `whole` splits the source again, or restores the page without it (see `html.restore`):
        for all but Trafilatura, which also reads what is in no mapping HTML (the head, comments,
        hidden parts), that is as good.
        """

        @cache
        def split() -> Page:
            restored = html_core.restore(prepared.mapping_html, prepared.title, profile)
            return replace(restored, hints=prepared.hints, metadata=prepared.metadata)

        def whole() -> tuple[Page, Decoded]:
            text = prepared.source if prepared.source is not None else prepared.mapping_html
            decoded = Decoded(text.encode("utf-8", "ignore"))
            if prepared.source is not None:
                return html_core.preprocess_utf8(decoded.utf8, profile, NO_LIMITS), decoded
            return split(), decoded

        def prune(main_ids: Collection[int], with_media: bool, marks: Mapping[int, str]) -> str:
            if html_core.find_profile(profile).keeps_units:
                return split().prune(main_ids, with_media, marks)
            return html_core.prune(prepared.mapping_html, main_ids, profile, with_media=with_media)

        base = Base.of(url or find_canonical_address(prepared.metadata), prepared.hints.base)
        return cls(
            prepared.title,
            prepared.texts,
            split,
            prune,
            whole,
            profile,
            base,
            prepared.metadata,
            lambda: prepared.mapping_html,
            prepared.hidden_chars,
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice of blocks that become a page's extraction."""

    page: Splits
    """Whose blocks they are: where a fallback decided, the page as that one read it."""
    main: npt.NDArray[np.bool_]
    """Shape (n_blocks,)."""
    method: str
    """The decider, as in `Extraction.method`."""
    n_main: int
    """Number of blocks that the labeler marked; 0 where a fallback decided."""
    confidence: float
    """The labeler's; NaN where it has none."""
    posts: PagePosts = NO_POSTS
    """The page's, and its kind: the labeler's, unless they say better."""


class Finisher:
    """The second half: from labels to main HTML, Markdown and language.

    >>> page = html_core.preprocess("<p>one<p>two")
    >>> labels = Labels.certain(np.array([False, True]))
    >>> splits = Splits.of_page(page, Decoded.of(""))
    >>> Finisher().finish(splits, labels, "rule").main_html
    '<html><body><p>two</p></body></html>'
    """

    def __init__(self, settings: Settings = DEFAULT_SETTINGS) -> None:
        self._html, self._markdown = settings.html, settings.markdown
        for selector in (*self._html.keep, *self._html.drop):
            try:
                check_selector(selector)
            except ValueError as error:
                raise SettingsError(f"html.keep and html.drop: {error}") from None
        if self._markdown.converter == "html2text":
            load_html2text()  # Missing, it would fail every page.
        self._fallback = Fallback(resolve_fallback(settings.labeler))
        self._second = load("cpu", **settings.labels.options("cpu")) if self._fallback is Fallback.CPU else None

    def finish(self, page: Splits, labels: Labels | None, labeler: str, detail: str = "") -> Extraction:
        """Return the extraction of a page whose labeler gave `labels`; None: it gave no usable
        ones, `detail` says why.

        Raises PageError as `choose` does, else what a page can meet.
        """
        return self.extract_chosen(self.choose(page, labels, labeler, detail))

    def choose(self, page: Splits, labels: Labels | None, labeler: str, detail: str = "") -> Choice:
        """Return the blocks that become the extraction: the labeler's, or the fallback's where it
        marked none; all of a page that was read from what it declares.

        Raises PageError(LABELER_FAILED) where the fallback is `empty` and there are no labels,
        PageError(EMPTY_PAGE) if the main text is no more than a notice.
        """
        is_ours = html_core.find_profile(page.profile).keeps_units
        if is_ours and is_declared(page.split()):
            return Choice(page, np.ones(len(page.texts), bool), METHOD, 0, math.nan)
        choice = self._choose(page, labels, labeler, detail)
        if is_ours and not self._html.keep:
            said = [text for text in compress(choice.page.texts, choice.main.tolist()) if text]
            if is_notice(said, choice.page.title):
                raise PageError(ErrorCode.EMPTY_PAGE, f"no more than a notice: {' '.join(' '.join(said).split())[:60]}")
        return choice

    def _choose(self, page: Splits, labels: Labels | None, labeler: str, detail: str) -> Choice:
        n_main, confidence, kind = 0, math.nan, None
        if labels is not None:
            n_main, confidence, kind = int(np.count_nonzero(labels.main)), labels.confidence, labels.page_kind
        is_kept = self._keep(page)
        if labels is not None and (n_main or is_kept.any()):
            method = labels.method or labeler
            method = f"{method}:windowed" if labels.windows > 1 else method
            main, posts = _complete(page, labels.main, kind)
            return Choice(page, main | is_kept, method, n_main, confidence, posts)
        if labels is None and self._fallback is Fallback.EMPTY:
            raise PageError(ErrorCode.LABELER_FAILED, detail)
        whole, decoded = page.whole()
        decided, method = fall_back(whole, decoded.text, self._fallback, self._second)
        split_again = replace(Splits.of_page(replace(whole, metadata=page.metadata), decoded), base=page.base)
        main, posts = _complete(split_again, decided.main, kind)
        return Choice(split_again, main | self._keep(split_again), method, n_main, confidence, posts)

    def _keep(self, page: Splits) -> npt.NDArray[np.bool_]:
        """Return the blocks that the setting `html.keep` finds, shape (n_blocks,)."""
        is_kept = np.zeros(len(page.texts), bool)
        if self._html.keep:
            is_kept[[item - 1 for item in find_kept_blocks(page.mapping(), self._html.keep)]] = True
        return is_kept

    def extract_chosen(self, choice: Choice) -> Extraction:
        """Return the extraction made of the chosen blocks."""
        page = choice.page
        main_ids = [i for i, is_main in enumerate(choice.main.tolist(), 1) if is_main]
        title = (page.metadata.title if page.metadata is not None else None) or " ".join(page.title.split())
        kept = choice.posts.keep(page.split(), main_ids, title) if choice.posts.found else KeptPosts()
        if self._markdown.converter == "html2text":
            kept = kept._replace(marks={})  # It would write them as rules.
        main_html, tree = self._write_main_html(page, main_ids, kept.marks)
        images = list_images(tree, page.metadata.image if page.metadata is not None else None)
        # The blocks' own text: that of the main HTML would cost ten times the detector.
        declared = page.metadata.language if page.metadata is not None else None
        language, probability = detect("\n".join(page.texts[i - 1] for i in main_ids[:SAMPLE_CHARACTERS]), declared)
        markdown, posts = place_posts(self._write_markdown(page, main_ids, tree, title), kept.posts)
        return Extraction(
            main_html=main_html,
            markdown=markdown,
            title=title,
            html_title=page.title,
            language=language,
            language_probability=probability,
            n_blocks=len(page.texts),
            n_main=choice.n_main,
            method=choice.method,
            confidence=None if math.isnan(choice.confidence) else round(choice.confidence, 4),
            page_kind=choice.posts.kind,
            metadata=_credit(page, choice.posts.found if choice.posts.kind == THREAD else ()),
            images=place_images(images, markdown),
            posts=posts,
            comments=kept.comments,
            hidden_chars=page.hidden_chars,
        )

    def _write_main_html(self, page: Splits, main_ids: list[int], marks: Mapping[int, str]) -> tuple[str, Tree]:
        """Return the main HTML as it leaves, and the tree from which its Markdown is written, with
        these marks in it."""
        profile = html_core.find_profile(page.profile)
        pruned = page.prune(main_ids, profile.places_media, marks)
        is_ours = profile.main_html_scans
        tree = html_core.rewrite(pruned, self._html, page.base, is_pruned=is_ours)
        if profile.places_media:
            replace_icons(tree)
        # The main HTML of MinerU's profile is MinerU's, byte for byte.
        return "".join(cut_marks(tree)) if is_ours else pruned, tree

    def _write_markdown(self, page: Splits, main_ids: list[int], tree: Tree, title: str) -> str:
        """Return the Markdown, the page's title above it where the main content does not begin with
        it."""
        tops = tree.find("h1") if "h1" in tree.tags else ()
        is_added = self._markdown.title == "include" and bool(title)
        is_said = is_added and any(says_title([tree.text(top)], title) for top in tops)
        markdown = write_markdown(tree, self._markdown, is_below=is_added and not is_said) if tree.parts else ""
        if not is_added or is_said or not markdown.strip():
            return markdown
        line = write_inert_line(title, "# ")
        first, _, rest = markdown.partition("\n")
        if first.strip("*_ ") == line.removeprefix("# "):
            return f"{line}\n\n{rest.lstrip()}"
        is_said = says_title((page.texts[item - 1] for item in main_ids), title)
        return markdown if is_said else f"{line}\n\n{markdown}"


def _credit(page: Splits, posts: Sequence[FoundPost]) -> Metadata | None:
    """Return a page's metadata; those of a thread have the date of its first post, and its author
    unless they name somebody who wrote none that is known."""
    if page.metadata is None:
        return None
    metadata = page.metadata.completed(page.base)
    if not posts:
        return metadata
    first, known = posts[0], {post.author for post in posts}
    is_other = any(name not in known and (first.author or "") not in name for name in metadata.authors)
    authors = (first.author,) if first.author and not is_other else metadata.authors
    published = first.published or metadata.published
    return replace(metadata, authors=authors, published=published, published_precision=find_precision(published))


def _complete(page: Splits, main: npt.NDArray[np.bool_], kind: str | None) -> tuple[npt.NDArray[np.bool_], PagePosts]:
    """Return the main blocks with what belongs to them, and the page's posts, where its profile
    knows these."""
    if not html_core.find_profile(page.profile).keeps_units:
        return main, PagePosts(kind)
    split = page.split()
    posts = find_page_posts(split, kind)
    return np.array(posts.complete(split, complete(split, main.tolist())), bool), posts
