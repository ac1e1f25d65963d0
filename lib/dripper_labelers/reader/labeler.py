"""Implements the labeler `reader`: reads the windows of a page of which the labeler before it is
unsure, and weighs what it finds against that labeler's probabilities."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dripper.errors import ErrorCode, PageError, UsageError
from dripper.extras import needed
from dripper.html.blocks.page import Page
from dripper.labels.arrays import FloatArray
from dripper.labels.base import Labels, SimplifiedPage
from dripper.labels.cpu.decide import decide
from dripper.labels.torch_device import choose_device
from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
from dripper_labelers.encoder.labeler import Network, read_margins
from dripper_labelers.encoder.network import EncoderNetwork
from dripper_labelers.encoder.reading import Reading
from dripper_labelers.encoder.sequence import Chunk
from dripper_labelers.reader.adapters import Adapters, merge
from dripper_labelers.reader.base import BaseModel, find_base, read_base
from dripper_labelers.reader.settings import ReaderSettings
from dripper_labelers.reader.windows import UNSURE, ReadPage, WindowMaker, find_unsure

# Log odds of the labeler before, those of the reader, 1: fitted on 939 pages of sites that neither
# had seen, and rounded. Weights from 0.4 to 0.5 and constants from 0.2 to 0.5 give the same F1
# within 0.003.
WEIGHTS = (0.5, 0.45, 0.35)


class ReaderLabeler:
    """See the module. Not picklable: make it where it is used."""

    name = "reader"

    def __init__(self, network: Network, maker: WindowMaker, version: str) -> None:
        self._network, self._maker = network, maker
        self.version = f"{version}/{network.precision}"

    @classmethod
    def load(cls, settings: ReaderSettings) -> "ReaderLabeler":
        """Return the labeler with its model loaded. Raises SettingsError or MachineError, each
        saying what to do."""
        with needed("the labeler reader", "reader"):
            import tokenizers  # noqa: F401
            import torch  # noqa: F401
            import transformers  # noqa: F401
        device = choose_device(settings.device, "labels.reader.device")
        path = find_base()
        base, adapters = read_base(path), Adapters.load()
        checkpoint = EncoderCheckpoint(
            path.parent, adapters.version, Reading(), base.shape.positions, outcomes=1, main=0
        )
        network = EncoderNetwork.prepare(make_model(base, adapters), checkpoint, device, settings, "reader")
        return cls(network, WindowMaker(base), f"reader@{adapters.version}")

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Raises UsageError: the reader labels what another labeler has drafted."""
        return self.label_simplified([SimplifiedPage.of(page) for page in pages])

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return one `Labels` a page, in order; windows of all pages share forward passes.

        Raises PageError (labeler_failed) where one page's labels cannot be had, whichever it is:
        label the pages in smaller calls to find it. Raises UsageError for pages without a draft.
        """
        pages_read: list[ReadPage] = []
        margins = list(read_margins(self._network, self._read(pages, pages_read)))
        ends = np.cumsum([0, *(len(read.windows) for read in pages_read)])
        return [
            self._labels(_draft_of(page), read, margins[a:b])
            for page, read, (a, b) in zip(pages, pages_read, pairwise(ends), strict=True)
        ]

    def close(self) -> None:
        """Give back the model's memory."""
        self._network.close()

    def _read(self, pages: Sequence[SimplifiedPage], pages_read: list[ReadPage]) -> Iterator[Chunk]:
        """Yield the windows of all pages, and note what was read of each."""
        for page in pages:
            pages_read.append(self._maker.read(page, find_unsure(_draft_of(page).probability.astype(np.float64))))
            yield from (window.chunk for window in pages_read[-1].windows)

    def _labels(self, draft: Labels, read: ReadPage, margins: Sequence[FloatArray]) -> Labels:
        probability = draft.probability.astype(np.float64)
        for window, of_tokens in zip(read.windows, margins, strict=True):
            probability[window.blocks] = weigh(probability[window.blocks], window.average(of_tokens))
        if not np.isfinite(probability).all():
            raise PageError(ErrorCode.LABELER_FAILED, "the model gave no numbers: try labels.reader.precision=float32")
        decision = decide(probability, read.words)
        return Labels(
            decision.main,
            probability.astype(np.float32),
            decision.expected_f1,
            len(margins),
            page_kind=draft.page_kind,
        )


def weigh(probability: FloatArray, margins: FloatArray) -> FloatArray:
    """Return the probability of blocks to be main, shape (n,), by both; a block that was sure keeps
    its own.

    Args:
        probability: (n,), by the labeler before.
        margins: (n,), log odds by the reader.

    >>> weigh(np.array([0.5, 0.99]), np.array([-3.0, -3.0])).round(3).tolist()
    [0.269, 0.99]
    """
    bounded = np.clip(probability, UNSURE, 1 - UNSURE)
    before, own, constant = WEIGHTS
    odds = before * np.log(bounded / (1 - bounded)) + own * margins + constant
    return np.where(find_unsure(probability), 1 / (1 + np.exp(-odds)), probability)


def _draft_of(page: SimplifiedPage) -> Labels:
    draft = page.draft
    if draft is None or len(draft.probability) != page.n_blocks or np.isnan(draft.probability).any():
        raise UsageError(
            "the labeler reader weighs the probabilities of a labeler before it: name it in a chain, cpu,reader"
        )
    return draft


def make_model(base: BaseModel, adapters: Adapters) -> Any:
    """Return the model in float32, a `BertForTokenClassification` of one outcome."""
    import torch
    from transformers import BertConfig as Typed
    from transformers import BertForTokenClassification

    configuration: Any = Typed  # Its arguments are typed only in part.
    shape = base.shape
    config = configuration(
        vocab_size=shape.vocabulary, hidden_size=shape.width, num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads, intermediate_size=shape.inner_width, layer_norm_eps=base.epsilon,
        max_position_embeddings=shape.positions, type_vocab_size=shape.types, num_labels=1,
        attn_implementation="sdpa",
    )  # fmt: skip
    model: Any = BertForTokenClassification(config)  # type: ignore[no-untyped-call]
    state = {name: torch.from_numpy(value) for name, value in merge(base, adapters).items()}
    model.load_state_dict(state, assign=True)
    return model
