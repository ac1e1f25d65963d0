"""One page's way, without Spark: bytes → text → blocks → labels → main HTML → Markdown."""

from dataclasses import replace
from functools import lru_cache

from dripper.config import LabelerSettings, LabelsSettings
from dripper.errors import ErrorCode, PageError
from dripper.html import DEFAULT_LIMITS, Page, ParserLimits
from dripper.labels import Labeler, Labels, load
from dripper.stages import DEFAULT_LABELS, Decoded, Extraction, Finisher, Splits, split

__all__ = ["Extraction", "Extractor", "shared_extractor"]


class Extractor:
    """Turns one page after the other into its main content, with one loaded labeler.

    >>> Extractor().extract("<p>Hello").n_blocks
    1
    """

    def __init__(
        self,
        settings: LabelerSettings | None = None,
        profile: str = "dripper",
        labeler: Labeler | None = None,
        limits: ParserLimits = DEFAULT_LIMITS,
        labels: LabelsSettings = DEFAULT_LABELS,
    ) -> None:
        settings = settings or LabelerSettings()
        self._profile = profile
        self._limits = limits
        self._finisher = Finisher(settings, labels)
        self.labeler = labeler or load(settings.name, **labels.options(settings.name))

    def extract(self, html: str | bytes, url: str | None = None, content_type: str | None = None) -> Extraction:
        """Return the extraction of `html`. Bytes are decoded as browsers do, with the HTTP `content_type` if given.

        A page that cannot be extracted gives an Extraction with `error_code`. Raises only what is no page's fault.
        """
        decoded = Decoded.of(html, content_type)
        try:
            extraction = self._extract(decoded)
        except PageError as error:
            extraction = Extraction(error_code=error.code, error_detail=error.detail or None)
        return replace(extraction, charset=decoded.charset, charset_source=decoded.source)

    def _extract(self, decoded: Decoded) -> Extraction:
        page = split(decoded, self._profile, self._limits)
        labels, detail = self._label(page)
        return self._finisher.finish(Splits.of_page(page, decoded), labels, self.labeler.name, detail)

    def _label(self, page: Page) -> tuple[Labels | None, str]:
        try:
            return self.labeler.label([page])[0], ""
        except PageError as error:
            if error.code is not ErrorCode.LABELER_FAILED:
                raise
            return None, error.detail


@lru_cache(maxsize=4)
def shared_extractor(labeler: str) -> Extractor:
    """Return this process's extractor for a labeler's name, loaded on the first call."""
    return Extractor(LabelerSettings(name=labeler))
