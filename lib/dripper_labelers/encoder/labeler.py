"""Implements the `encoder` labeler: splits pages into chunks, batches the chunks, runs the model,
and converts its output to labels."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from dripper.blocks.page import Page
from dripper.errors import ErrorCode, PageError
from dripper.labels.arrays import FloatArray
from dripper.labels.base import Labels, SimplifiedPage
from dripper.labels.lm.windows import merge_windows
from dripper.labels.streams import ahead, pack
from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
from dripper_labelers.encoder.network import EncoderNetwork
from dripper_labelers.encoder.sequence import Chunk, Sequencer
from dripper_labelers.encoder.settings import EncoderSettings

AHEAD = 256
"""The number of chunks to tokenize ahead while the model processes earlier chunks."""


class Network(Protocol):
    """A loaded model, run by any engine."""

    precision: str
    batch_tokens: int
    """The maximum number of tokens in a forward pass; 0 means one chunk per pass."""

    def margins(self, chunks: Sequence[Chunk]) -> list[FloatArray]:
        """Return the margins of the blocks in each chunk: for each chunk, an array of shape (end -
        start,). A margin is the logit of `main` minus the logit of `other`, so it is above 0 for
        `main`. Raises RuntimeError if a pass fails."""
        ...

    def close(self) -> None:
        """Release the model and its memory."""
        ...


def read_margins(network: Network, chunks: Iterator[Chunk]) -> Iterator[FloatArray]:
    """Yield the model's margins for each chunk; see `Network.margins`. A thread prepares chunks in
    advance, and several chunks share a forward pass.

    Raises PageError (labeler_failed) if a pass fails.
    """
    for packed in pack(ahead(chunks, AHEAD), lambda chunk: len(chunk.ids), network.batch_tokens):
        try:
            yield from network.margins(packed)
        except RuntimeError as error:  # A pass can fail for several reasons, such as a lack of memory.
            raise PageError(ErrorCode.LABELER_FAILED, f"{type(error).__name__}: {error}") from error


class EncoderLabeler:
    """The `encoder` labeler. Not picklable: create it in the process that uses it."""

    name = "encoder"

    def __init__(self, network: Network, sequencer: Sequencer, version: str, settings: EncoderSettings) -> None:
        reading = sequencer.reading
        self._network, self._sequencer = network, sequencer
        self._overlap = reading.overlap_blocks
        self._cut = float(np.log(reading.threshold / (1 - reading.threshold)))
        by = "" if settings.engine == "transformers" else f"/{settings.engine}"
        self.version = f"{version}/{network.precision}/{sequencer.context}+{self._overlap}/{reading.threshold:g}{by}"

    @classmethod
    def load(cls, settings: EncoderSettings) -> "EncoderLabeler":
        """Load the model and return the labeler. Raises SettingsError or MachineError with a
        message that explains how to fix the problem."""
        checkpoint = EncoderCheckpoint.find(settings)
        sequencer = checkpoint.sequencer()
        network: Network
        if settings.engine == "vllm":
            from dripper_labelers.encoder.pooling import PoolingNetwork

            network = PoolingNetwork.load(checkpoint, settings)
        else:
            network = EncoderNetwork.load(checkpoint, settings)
        return cls(network, sequencer, checkpoint.version, settings)

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` per page, in order. Raises the same errors as `label_simplified`."""
        return self.label_simplified([SimplifiedPage.of(page) for page in pages])

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return one `Labels` per page, in order. Chunks of different pages share forward passes.

        Raises PageError (labeler_failed) if any page cannot be labeled. To find the page, label
        fewer pages per call.
        """
        chunks: list[list[Chunk]] = []
        margins = list(read_margins(self._network, self._read(pages, chunks)))
        ends = np.cumsum([0, *map(len, chunks)])
        return [self._labels(cut, margins[a:b]) for cut, (a, b) in zip(chunks, pairwise(ends), strict=True)]

    def count_tokens(self, simplified_html: str) -> int:
        """Return the number of tokens that the model reads from a page."""
        return self._sequencer.count_tokens(simplified_html)

    def close(self) -> None:
        """Release the model's memory."""
        self._network.close()

    def _read(self, pages: Sequence[SimplifiedPage], chunks: list[list[Chunk]]) -> Iterator[Chunk]:
        """Yield the chunks of all pages, and append one list of chunks per page to `chunks`."""
        for page in pages:
            chunks.append(self._sequencer.chunks(page, self._overlap))
            yield from chunks[-1]

    def _labels(self, chunks: Sequence[Chunk], chunk_margins: Sequence[FloatArray]) -> Labels:
        if not chunks:
            return Labels(np.zeros(0, bool), np.zeros(0, np.float32))
        margins = merge_windows(chunks, chunk_margins)
        if not np.isfinite(margins).all():
            raise PageError(ErrorCode.LABELER_FAILED, "the model gave no numbers: try labels.encoder.precision=float32")
        probability = 1 / (1 + np.exp(-np.clip(margins, -30, 30)))
        return Labels(margins > self._cut, probability.astype(np.float32), passes=len(chunks), windows=len(chunks))
