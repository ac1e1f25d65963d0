"""Implements the `neuscraper` labeler: converts nodes to vectors, runs the transformer over them,
and labels blocks."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dripper.blocks.page import Page
from dripper.errors import ErrorCode, PageError
from dripper.extras import needed
from dripper.labels.arrays import FloatArray
from dripper.labels.base import Labels, SimplifiedPage
from dripper.labels.torch_device import choose_device, limit_children_to_one_thread
from dripper_labelers.neuscraper.checkpoint import Shape, find_folder, hash_weights, load_tokenizer
from dripper_labelers.neuscraper.entry import NeuScraperSettings
from dripper_labelers.neuscraper.nodes import Node, find_nodes, find_nodes_of_page
from dripper_labelers.torch_batches import split_into_batches

GPU_BATCH_NODES = 98_304
"""The maximum number of nodes, including padding, in a forward pass on a GPU. As in the paper, this
is 256 chunks. On a CPU, each pass has one chunk."""


class NeuScraperLabeler:
    """The `neuscraper` labeler. Not picklable: create it in the process that uses it."""

    name = "neuscraper"

    def __init__(self, model: Any, tokenizer: Any, shape: Shape, version: str) -> None:
        self._model, self._tokenizer, self._shape = model, tokenizer, shape
        self._device = str(next(model.parameters()).device.type)
        self._batch_nodes = GPU_BATCH_NODES if self._device == "cuda" else 0
        self.version = f"{version}/{shape.threshold:g}"

    @classmethod
    def load(cls, settings: NeuScraperSettings) -> "NeuScraperLabeler":
        """Load the model and return the labeler. Raises SettingsError or MachineError with a
        message that explains how to fix the problem."""
        folder = find_folder(settings.model)
        shape = Shape.load(folder)
        with needed("the labeler neuscraper", "encoder"):
            from dripper_labelers.neuscraper.model import load_model
        limit_children_to_one_thread()
        device = choose_device()
        model = load_model(folder, shape).to(device)
        return cls(model, load_tokenizer(folder), shape, hash_weights(folder))

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` per page, in order. Chunks of different pages share forward passes.
        Raises PageError (labeler_failed) if any page cannot be labeled."""
        nodes = [find_nodes_of_page(page, self._shape.reads) for page in pages]
        return self._label_nodes([len(page.blocks) for page in pages], nodes)

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return one `Labels` per page, as `label` does, but from simplified HTML alone. Also
        raises MachineError if the checkpoint was trained on whole pages."""
        self._shape.check_stages()
        return self._label_nodes([page.n_blocks for page in pages], [find_nodes(page) for page in pages])

    def _label_nodes(self, n_blocks: Sequence[int], nodes: Sequence[Sequence[Node]]) -> list[Labels]:
        chunks = [cut_chunks(page, self._shape) for page in nodes]
        logits = self._logits([chunk for page in chunks for chunk in page])
        ends = np.cumsum([0, *map(len, chunks)])
        return [
            self._labels(n, own, logits[a:b]) for n, own, (a, b) in zip(n_blocks, nodes, pairwise(ends), strict=True)
        ]

    def _logits(self, chunks: Sequence[Sequence[Node]]) -> list[FloatArray]:
        logits: list[FloatArray] = [np.zeros(0)] * len(chunks)
        for batch in split_into_batches([len(chunk) for chunk in chunks], self._batch_nodes):
            try:
                values_of_batch = compute_logits(
                    self._model, self._tokenizer, self._shape, [chunks[index] for index in batch]
                )
            except RuntimeError as error:  # A pass can fail for several reasons, such as a lack of memory.
                raise PageError(ErrorCode.LABELER_FAILED, f"{type(error).__name__}: {error}") from error
            for index, values in zip(batch, values_of_batch, strict=True):
                logits[index] = values
        return logits

    def _labels(self, n_blocks: int, nodes: Sequence[Node], logits: Sequence[FloatArray]) -> Labels:
        probability = average_over_blocks(n_blocks, nodes, np.concatenate([np.zeros(0), *logits]))
        if not np.isfinite(probability).all():
            raise PageError(ErrorCode.LABELER_FAILED, "the model gave no numbers")
        passes = len(logits)
        return Labels(
            probability > self._shape.threshold, probability.astype(np.float32), passes=passes, windows=max(1, passes)
        )


def cut_chunks(nodes: Sequence[Node], shape: Shape) -> list[Sequence[Node]]:
    """Split a page's nodes into chunks of the network's maximum length."""
    return [nodes[start : start + shape.context_nodes] for start in range(0, len(nodes), shape.context_nodes)]


def compute_page_logits(model: Any, tokenizer: Any, shape: Shape, nodes: Sequence[Node]) -> FloatArray:
    """Return the logit for main of each node of a page, (n_nodes,). Each chunk has its own forward
    pass, as on a CPU."""
    logits = (compute_logits(model, tokenizer, shape, [chunk])[0] for chunk in cut_chunks(nodes, shape))
    return np.concatenate([np.zeros(0), *logits])


def compute_logits(model: Any, tokenizer: Any, shape: Shape, chunks: Sequence[Sequence[Node]]) -> list[FloatArray]:
    """Return the logit for main of each node, one array per chunk, from a single forward pass."""
    import torch

    device = next(model.parameters()).device
    tokens = tokenize_nodes(tokenizer, [node.text for chunk in chunks for node in chunk], shape.node_tokens)
    with torch.inference_mode():
        vectors = model.nodes(torch.from_numpy(tokens.ids).to(device), torch.from_numpy(tokens.inside).to(device))
        lengths = [len(chunk) for chunk in chunks]
        padded = torch.nn.utils.rnn.pad_sequence(vectors.split(lengths), batch_first=True)
        beyond = torch.arange(padded.shape[1])[None] >= torch.tensor(lengths)[:, None]
        logits = model.classifier(padded, beyond.to(device))[:, :, 0].float().cpu().numpy().astype(np.float64)
    return [row[:length] for row, length in zip(logits, lengths, strict=True)]


class Tokens(NamedTuple):
    """Token IDs, and a mask that is 0 for padding. Both have the shape (n_nodes, node_tokens)."""

    ids: Any
    inside: Any


def tokenize_nodes(tokenizer: Any, texts: Sequence[str], length: int) -> Tokens:
    """Tokenize the text of nodes. All are padded to `length`, so that the result does not depend on
    the batch."""
    encoded = tokenizer(list(texts), truncation=True, max_length=length, padding="max_length", return_tensors="np")
    return Tokens(encoded["input_ids"].astype(np.int64), encoded["attention_mask"].astype(np.int64))


def average_over_blocks(n_blocks: int, nodes: Sequence[Node], logits: FloatArray) -> FloatArray:
    """Return the probability that each block is main: the mean over the text nodes in the block,
    weighted by length. For a block without text, such as an image, take the nearest blocks with
    text before and after it. The result is the lower of their probabilities, or 0 if one of them is
    missing.

    >>> nodes = [Node(0, "a", 1), Node(2, "b", 1), Node(2, "c", 3)]
    >>> average_over_blocks(3, nodes, np.array([30, 0, 30])).round(3)
    array([1.   , 0.875, 0.875])
    """
    blocks = np.array([node.block for node in nodes], np.int64)
    sizes = np.array([node.size for node in nodes], np.float64)
    total = np.bincount(blocks, sizes, n_blocks)
    summed = np.bincount(blocks, sizes / (1 + np.exp(-np.clip(logits, -30, 30))), n_blocks)
    with_nodes = np.flatnonzero(total)
    if not len(with_nodes):
        return np.zeros(n_blocks)
    mean = summed[with_nodes] / total[with_nodes]
    index = np.arange(n_blocks)
    after = with_nodes.searchsorted(index)
    inside = (total == 0) & ((after == 0) | (after == len(with_nodes)))
    left, right = np.maximum(after - (total[index] == 0), 0), np.minimum(after, len(with_nodes) - 1)
    return np.where(inside, 0.0, np.minimum(mean[left], mean[right]))
