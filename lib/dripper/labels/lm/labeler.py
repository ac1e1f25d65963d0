"""The `lm` labeler: combines windows, decoder and probabilities to turn pages into labels."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise

import numpy as np

from dripper.blocks.page import Page
from dripper.errors import ErrorCode, PageError, UsageError
from dripper.labels.base import Labeler, Labels, SimplifiedPage
from dripper.labels.lm.decoder import DecodedLabels, Decoder, probability_of
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.generating import FsmDecoder
from dripper.labels.lm.in_torch import TorchDecoder
from dripper.labels.lm.parallel import ParallelDecoder
from dripper.labels.lm.server import ServerDecoder
from dripper.labels.lm.settings import LmSettings, check_engine
from dripper.labels.lm.windows import PageWindow, merge_windows
from dripper.labels.registry import load

DECODERS: Mapping[str, Callable[[PageEncoder, LmSettings], Decoder]] = {
    "parallel": ParallelDecoder.start,
    "fsm": FsmDecoder.start,
}
IN_TORCH: Mapping[str, Callable[[PageEncoder, LmSettings], Decoder]] = {"parallel": TorchDecoder.start}


class LmLabeler:
    """A labeler with one engine for its lifetime. It is not picklable: create it in the process
    that uses it."""

    name = "lm"

    def __init__(self, encoder: PageEncoder, decoder: Decoder, drafter: Labeler | None = None) -> None:
        """drafter: a labeler that labels whole pages first, to save passes. If None, there are no
        drafts."""
        self.version = encoder.version
        self._drafter = drafter
        self.encoder = encoder
        self._decoder = decoder
        self._stats = {"pages": 0, "windows": 0, "blocks": 0, "passes": 0, "tokens": 0, "seconds": 0.0}

    @classmethod
    def load(cls, settings: LmSettings) -> "LmLabeler":
        """Return the labeler, after starting its engine or checking its server. Raises
        SettingsError or MachineError."""
        check_engine(settings)
        encoder = PageEncoder.load(settings)
        decoders = DECODERS if settings.engine == "vllm" else IN_TORCH
        start = ServerDecoder.start if settings.endpoint else decoders[settings.decoder]
        drafts = settings.decoder == "parallel" and not settings.endpoint
        return cls(encoder, start(encoder, settings), load("cpu") if drafts else None)

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` per page, in order. Raises the same errors as `label_simplified`."""
        drafts: Sequence[Labels | None] = [None] * len(pages)
        if self._drafter is not None:
            drafts = self._drafter.label(pages)
        return self.label_simplified(
            [SimplifiedPage.of(page, draft) for page, draft in zip(pages, drafts, strict=True)]
        )

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return one `Labels` per page, in order; all pages share each forward pass.

        Raises PageError (labeler_failed) if the labels of any page are not available. The error
        does not name the page: label the pages in smaller calls to find it. The engine keeps
        running. Raises MachineError if the server no longer answers.
        """
        started = time.monotonic()
        windows = list[Sequence[PageWindow]]()

        def read() -> Iterator[Job]:
            for page in pages:
                cut = self.encoder.read(page)
                windows.append([window for window, _ in cut])
                yield from (job for _, job in cut)

        decoded = self._decode(read())
        ends = np.cumsum([0, *(len(cut) for cut in windows)])
        labels = [self._labels(cut, decoded[a:b]) for cut, (a, b) in zip(windows, pairwise(ends), strict=True)]
        self._count(labels, decoded, time.monotonic() - started)
        return labels

    @property
    def warnings(self) -> Mapping[str, str]:
        """Return the warning about a wrong answer form, if there is one. The key is the setting."""
        check = self._decoder.form_check
        return {"labels.lm.answer": check.warning} if check is not None and check.warning else {}

    def stats(self) -> dict[str, float]:
        """Return totals since loading: pages, windows, blocks, passes, tokens, and seconds of
        labelling. Passes and tokens are summed over windows, so a pass that 32 windows share counts
        32 times.
        """
        return dict(self._stats)

    def close(self) -> None:
        """Stop the engine; the labeler cannot be used afterwards."""
        self._decoder.close()

    def _decode(self, jobs: Iterator[Job]) -> list[DecodedLabels]:
        first = next(jobs, None)
        if first is None:
            return []
        every: Iterable[Job] = chain([first], jobs)
        try:
            return self._decoder.decode(every)
        except (PageError, UsageError):
            raise
        except Exception as error:  # Engines raise many exceptions; a page's row must contain the reason.
            raise PageError(ErrorCode.LABELER_FAILED, f"{type(error).__name__}: {error}") from error

    def _labels(self, windows: Sequence[PageWindow], decoded: Sequence[DecodedLabels]) -> Labels:
        if not windows:
            return Labels(np.zeros(0, bool), np.zeros(0, np.float32))
        main = merge_windows(windows, [one.main for one in decoded])
        margins = merge_windows(windows, [one.margins for one in decoded])
        passes = sum(one.passes for one in decoded)
        return Labels(main, probability_of(margins), passes=passes, windows=len(windows))

    def _count(self, labels: Sequence[Labels], decoded: Sequence[DecodedLabels], seconds: float) -> None:
        counts = {
            "pages": len(labels),
            "windows": len(decoded),
            "blocks": sum(len(one.main) for one in labels),
            "passes": sum(one.passes for one in decoded),
            "tokens": sum(one.tokens for one in decoded),
            "seconds": seconds,
        }
        for name, value in counts.items():
            self._stats[name] += value
