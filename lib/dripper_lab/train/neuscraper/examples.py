"""Creates training examples for the `neuscraper` labeler from labelled pages: nodes and their
labels. Also computes the vectors of nodes with a frozen node encoder."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dripper.html import Page
from dripper.labels.words import words_of
from dripper_lab.datasets import LabelledPage
from dripper_lab.truth import Truth, read_truths
from dripper_labelers.neuscraper.checkpoint import Shape
from dripper_labelers.neuscraper.labeler import tokenize_nodes
from dripper_labelers.neuscraper.nodes import ANNOTATIONS, Node, find_nodes_of_page

log = logging.getLogger(__name__)

EMBEDDED_AT_ONCE = 1024


class Example(NamedTuple):
    """One page, ready to train on."""

    truth: Truth
    nodes: Sequence[Node]
    title_blocks: frozenset[int]
    """The block of the first heading with the same words as the page's title, if there is one."""

    def targets(self, outputs: int, part: slice = slice(None)) -> npt.NDArray[np.float32]:
        """Return the targets of the nodes, shape (n_nodes, outputs): whether the node's block is
        main. With six outputs, the other five are the `ANNOTATIONS`, derived from the markup."""
        nodes = self.nodes[part]
        rows = [(float(self.truth.main[node.block]), *self._annotate(node))[:outputs] for node in nodes]
        return np.array(rows, np.float32).reshape(len(nodes), outputs)

    def _annotate(self, node: Node) -> list[float]:
        of_title = "heading" in node.inside and node.block in self.title_blocks
        return [float(of_title if name == "title" else name in node.inside) for name in ANNOTATIONS]


def read_examples(pages: Iterable[LabelledPage], reads: str) -> Iterator[Example]:
    """Yield one example for each usable page (see `read_truths`) that has nodes.

    Args:
        reads: See `Shape.reads`.
    """
    for page, truth in read_truths(pages):
        if nodes := find_nodes_of_page(page, reads):
            yield Example(truth, nodes, _find_title_blocks(page, nodes))
        else:
            log.warning("%s/%s left out: it has no text", *truth.key)


def _find_title_blocks(page: Page, nodes: Sequence[Node]) -> frozenset[int]:
    title = words_of(page.metadata.title or "") if page.metadata else []
    headings = (node.block for node in nodes if "heading" in node.inside)
    return frozenset([block for block in headings if title and words_of(page.blocks[block].text) == title][:1])


class Vectors:
    """The vectors of nodes, computed by a frozen first layer. Each distinct text is computed
    once."""

    def __init__(self, model: Any, tokenizer: Any, shape: Shape, texts: Iterable[str]) -> None:
        import torch

        self._rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        listed, parts = list(self._rows), []
        device = next(model.parameters()).device
        with torch.inference_mode():
            for start in range(0, len(listed), EMBEDDED_AT_ONCE):
                tokens = tokenize_nodes(tokenizer, listed[start : start + EMBEDDED_AT_ONCE], shape.node_tokens)
                embedded = model.nodes(
                    torch.from_numpy(tokens.ids).to(device), torch.from_numpy(tokens.inside).to(device)
                )
                parts.append(embedded.cpu().numpy().astype(np.float16))
        self._vectors = np.concatenate(parts)

    def of(self, nodes: Sequence[Node]) -> npt.NDArray[np.float32]:
        """Return the vectors of nodes, shape (n_nodes, hidden)."""
        return self._vectors[[self._rows[node.text] for node in nodes]].astype(np.float32)
