"""One page's way, without Spark: bytes → text → blocks → labels → main HTML → Markdown."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from dripper import html as html_core
from dripper.config import LabelerSettings
from dripper.errors import ErrorCode, PageError
from dripper.html.page import Page
from dripper.labels import Labeler, Labels, load
from dripper.labels.fallback import Fallback, fall_back
from dripper.language import SAMPLE_CHARACTERS, detect
from dripper.warc import decode


@dataclass(frozen=True, slots=True)
class Extraction:
    """The main content of one page, or why there is none (`error_code`; `main_html` and `markdown` are then "").

    method: who decided: the labeler's name, or `fallback:trafilatura`, `fallback:body`, `fallback:empty`.
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
        labels, method = self.labeler.label([page])[0], self.labeler.name
        n_main = int(np.count_nonzero(labels.main))
        kept = labels
        if not n_main:
            kept, method = fall_back(page, text, Fallback(self._settings.fallback))
        main_ids = _main_ids(page, kept)
        main_html = page.prune(main_ids)
        # The blocks' own text, as a second html2text run would cost ten times the detector.
        language, probability = detect(
            "\n".join(page.blocks[item_id - 1].text for item_id in main_ids[:SAMPLE_CHARACTERS])
        )
        return Extraction(
            main_html=main_html,
            markdown=html_core.to_markdown(main_html),
            title=page.title,
            language=language,
            language_probability=probability,
            n_blocks=len(page.blocks),
            n_main=n_main,
            method=method,
            confidence=None if math.isnan(labels.confidence) else round(labels.confidence, 4),
        )


def _main_ids(page: Page, labels: Labels) -> list[int]:
    return [item_id for item_id, is_main in zip(page.item_ids, labels.main.tolist(), strict=True) if is_main]


@lru_cache(maxsize=4)
def shared_extractor(labeler: str) -> Extractor:
    """Return this process's extractor for a labeler's name, loaded on the first call."""
    return Extractor(LabelerSettings(name=labeler))
