"""From labelled pages to examples for the labeler `neuscraper`: nodes, their labels, their
vectors."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dripper.datasets import LabelledPage
from dripper.errors import PageError
from dripper.html import preprocess
from dripper.labels.align import matched_shares
from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.neuscraper.checkpoint import Shape
from dripper.labels.neuscraper.labeler import node_tokens
from dripper.labels.neuscraper.nodes import Node, nodes_of
from dripper.labels.words import words_of
from dripper.train.web2text.examples import between
from dripper.warc import decode

log = logging.getLogger(__name__)

EMBEDDED_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class Example:
    """One page."""

    key: tuple[str, str]
    """Data set and id."""
    host: str
    kind: str
    """The page's type: `nothing` where it has no main content; sets that name none are of
    articles."""
    nodes: Sequence[Node]
    words: IntArray
    """(n_blocks,)."""
    matched: FloatArray
    """(n_blocks,) how many words of each block belong to the truth."""
    truth_words: int
    main: npt.NDArray[np.bool_]
    """(n_blocks,)."""

    @property
    def node_main(self) -> npt.NDArray[np.bool_]:
        """(n_nodes,) whether a node's block is main."""
        return self.main[[node.block for node in self.nodes]]

    def f1(self, main: npt.NDArray[np.bool_]) -> float:
        """F1 over words of a choice of blocks against the truth."""
        return float(2 * self.matched[main].sum() / max(1, int(self.words[main].sum()) + self.truth_words))


def read_examples(pages: Iterable[LabelledPage]) -> Iterator[Example]:
    """Yield one example a page; pages that cannot teach are left out, logged. A page without a
    truth teaches that nothing of it is main."""
    for labelled in pages:
        try:
            page = preprocess(decode(labelled.html, labelled.content_type).text)
        except PageError as error:
            log.warning("%s/%s left out: %s", labelled.data_set, labelled.id, error)
            continue
        own, truth = [words_of(block.text) for block in page.blocks], words_of(labelled.truth_text)
        words = np.array([len(each) for each in own], np.int64)
        matched = matched_shares(own, truth).astype(np.float64) * words
        main = between((matched >= 0.5 * words) & (words > 0), words)
        nodes = nodes_of(SimplifiedPage(page.simplified_html, len(page.blocks)))
        if not nodes or (truth and not main.any()):
            log.warning("%s/%s left out: no block holds its truth", labelled.data_set, labelled.id)
            continue
        kind = (labelled.page_type or "article") if truth else "nothing"
        key = (labelled.data_set, labelled.id)
        yield Example(key, labelled.host, kind, nodes, words, matched, len(truth), main)


class Vectors:
    """The vectors of nodes by a frozen first layer: computed once for each different text."""

    def __init__(self, model: Any, tokenizer: Any, shape: Shape, texts: Iterable[str]) -> None:
        import torch

        self._rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        listed, parts = list(self._rows), []
        with torch.inference_mode():
            for start in range(0, len(listed), EMBEDDED_AT_ONCE):
                tokens = node_tokens(tokenizer, listed[start : start + EMBEDDED_AT_ONCE], shape.node_tokens)
                made = model.nodes(torch.from_numpy(tokens.ids), torch.from_numpy(tokens.inside))
                parts.append(made.numpy().astype(np.float16))
        self._vectors = np.concatenate(parts)

    def of(self, nodes: Sequence[Node]) -> npt.NDArray[np.float32]:
        """Return the vectors of nodes, shape (n_nodes, hidden)."""
        return self._vectors[[self._rows[node.text] for node in nodes]].astype(np.float32)
