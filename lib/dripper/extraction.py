"""One page's way, without Spark: bytes → text → blocks → labels → main HTML → Markdown."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dripper import html as html_core
from dripper.config import LabelerSettings
from dripper.errors import ErrorCode, PageError
from dripper.html.page import Page
from dripper.labels import Labeler, Labels, load
from dripper.labels.fallback import fall_back
from dripper.language import detect
from dripper.warc import decode


@dataclass(frozen=True, slots=True)
class Extraction:
    """The main content of one page, or why there is none (`error_code`; `main_html` and `markdown` are then "").

    method: who decided: the labeler's name, or `fallback-trafilatura`, `fallback-body`, `fallback-empty`.
    confidence: 0 to 1, how sure the labeler is of the page as a whole; None where it does not say.
    charset, charset_source: set where bytes came in.
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
    charset: str | None = None
    charset_source: str | None = None
    error_code: ErrorCode | None = None
    error_detail: str | None = None


class Extractor:
    """Turns one page after the other into its main content, with one loaded labeler.

    >>> Extractor().extract("<p>Hello").n_blocks
    1
    """

    def __init__(
        self, settings: LabelerSettings | None = None, profile: str = "dripper", labeler: Labeler | None = None
    ) -> None:
        self._settings = settings or LabelerSettings()
        self._profile = profile
        self.labeler = labeler or load(self._settings.name)

    def extract(self, html: str | bytes, url: str | None = None, content_type: str | None = None) -> Extraction:
        """Return the extraction of `html`. Bytes are decoded as browsers do, with the HTTP `content_type` if given.

        A page that cannot be extracted gives an Extraction with `error_code`. Raises only what is no page's fault.
        """
        charset = source = None
        if isinstance(html, bytes):
            decoded = decode(html, content_type)
            html, charset, source = decoded.text, decoded.encoding, decoded.source
        try:
            extraction = self._extract_text(html, url)
        except PageError as error:
            extraction = Extraction(error_code=error.code, error_detail=error.detail or None)
        return replace(extraction, charset=charset, charset_source=source)

    def _extract_text(self, text: str, url: str | None) -> Extraction:
        page = html_core.preprocess(text, profile=self._profile)
        if not page.blocks:
            raise PageError(ErrorCode.EMPTY_PAGE, "no visible text")
        labels = self.labeler.label([page])[0]
        n_main = int(np.count_nonzero(labels.main))
        if n_main:
            main_html, method = page.prune(_main_ids(page, labels)), self.labeler.name
        else:
            main_html, method = fall_back(self._settings.fallback, page, text, url)
        markdown = html_core.to_markdown(main_html)
        language, probability = detect(html_core.to_text(main_html) if main_html else "")
        return Extraction(
            main_html=main_html,
            markdown=markdown,
            title=page.title,
            language=language,
            language_probability=probability,
            n_blocks=len(page.blocks),
            n_main=n_main,
            method=method,
            confidence=_confidence(page, labels),
        )


def _main_ids(page: Page, labels: Labels) -> list[int]:
    return [item_id for item_id, is_main in zip(page.item_ids, labels.main.tolist(), strict=True) if is_main]


def _confidence(page: Page, labels: Labels) -> float | None:
    """The mean over the page's characters of the probability of the label that was given."""
    sure = np.where(labels.main, labels.probability, 1 - labels.probability)
    weights = np.array([len(block.text) for block in page.blocks], dtype=np.float64)
    mean = float(np.average(sure, weights=weights)) if weights.sum() else float("nan")
    return None if np.isnan(mean) else round(mean, 4)


@lru_cache(maxsize=4)
def shared_extractor(labeler: str) -> Extractor:
    """Return this process's extractor for a labeler's name, loaded on the first call."""
    return Extractor(LabelerSettings(name=labeler))
