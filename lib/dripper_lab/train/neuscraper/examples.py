"""From labelled pages to examples for the labeler `neuscraper`: nodes, their labels, their
vectors."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.labels.base import SimplifiedPage
from dripper_lab.datasets import LabelledPage
from dripper_lab.train.truth import Truth, read_truths
from dripper_labelers.neuscraper.checkpoint import Shape
from dripper_labelers.neuscraper.labeler import tokenize_nodes
from dripper_labelers.neuscraper.nodes import Node, find_nodes

log = logging.getLogger(__name__)

EMBEDDED_AT_ONCE = 1024


class Example(NamedTuple):
    """One page."""

    truth: Truth
    nodes: Sequence[Node]

    @property
    def node_main(self) -> npt.NDArray[np.bool_]:
        """(n_nodes,) whether a node's block is main."""
        return self.truth.main[[node.block for node in self.nodes]]


def read_examples(pages: Iterable[LabelledPage]) -> Iterator[Example]:
    """Yield one example a page that can teach (`read_truths`) and has nodes."""
    for page, truth in read_truths(pages):
        if nodes := find_nodes(SimplifiedPage(page.simplified_html, len(page.blocks))):
            yield Example(truth, nodes)
        else:
            log.warning("%s/%s left out: it has no text", *truth.key)


class Vectors:
    """The vectors of nodes by a frozen first layer: computed once for each different text."""

    def __init__(self, model: Any, tokenizer: Any, shape: Shape, texts: Iterable[str]) -> None:
        import torch

        self._rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        listed, parts = list(self._rows), []
        with torch.inference_mode():
            for start in range(0, len(listed), EMBEDDED_AT_ONCE):
                tokens = tokenize_nodes(tokenizer, listed[start : start + EMBEDDED_AT_ONCE], shape.node_tokens)
                embedded = model.nodes(torch.from_numpy(tokens.ids), torch.from_numpy(tokens.inside))
                parts.append(embedded.numpy().astype(np.float16))
        self._vectors = np.concatenate(parts)

    def of(self, nodes: Sequence[Node]) -> npt.NDArray[np.float32]:
        """Return the vectors of nodes, shape (n_nodes, hidden)."""
        return self._vectors[[self._rows[node.text] for node in nodes]].astype(np.float32)
