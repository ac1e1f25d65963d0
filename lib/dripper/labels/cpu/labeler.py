"""The `cpu` labeler. It computes features of the blocks, and scores the blocks with a small
network. On doubtful pages, further networks give a second opinion (see `second_opinion`). The
labeler marks the set of blocks with the highest expected F1.

Requires numpy, but no GPU, hub or server. `dripper_lab.train.cpu` trains the weights.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dripper.blocks.page import Page
from dripper.labels.arrays import FloatArray, IntArray, find_blas, one_thread
from dripper.labels.base import Labels
from dripper.labels.cpu import arithmetic
from dripper.labels.cpu.arithmetic import choose_operations, snap
from dripper.labels.cpu.decide import KINDS, PageSummary, classify, decide, estimate_confidence, probabilities
from dripper.labels.cpu.entry import AS_LEARNED, Conventions, CpuSettings
from dripper.labels.cpu.features.page_features import NAMES, PageFeatures, compute_features
from dripper.labels.cpu.furniture import find_comments, find_furniture
from dripper.labels.cpu.network import Array, BlockSequence, Operations, compute_logits, compute_states, forward
from dripper.labels.cpu.reasons import GROUPS, weigh_groups
from dripper.labels.cpu.second_opinion import probability_with_second_opinion
from dripper.labels.cpu.weights import Weights, load_weights

# A page with more blocks is labelled in windows of this size, each as if it were a page.
# Activations take about 5 KB per block, so memory stays under 100 MB. None of 2,300 labelled pages
# has more than a third of this number.
WINDOW_BLOCKS = 16_384
# Number of extra blocks that are read on each side of a window, because the networks see this far.
# Without margins, a network would treat the ends of a window as the ends of a page.
MARGIN_BLOCKS = 64
# Standardised features are clipped to this limit. Otherwise, outliers such as a block of 100 KB
# would outweigh everything else.
FEATURE_LIMIT = 6.0
# Blocks that are never main get at most this probability. It is not 0, because later labelers in a
# chain take its logarithm.
_NEVER_MAIN = 0.001
_BALANCED = CpuSettings()


class CpuLabeler:
    """The `cpu` labeler (see the module). Labels and probabilities of a page are bit-identical on
    every machine."""

    name = "cpu"

    def __init__(
        self, weights: Weights, conventions: Conventions = AS_LEARNED, settings: CpuSettings = _BALANCED
    ) -> None:
        if weights.feature_names != NAMES:
            unlike = sorted(set(weights.feature_names) ^ set(NAMES))
            raise ValueError(f"weights were trained on other features; the first that differ: {unlike[:5]}")
        if weights.matrices["kind_bias"].shape != (len(KINDS),):
            raise ValueError("weights were trained on other kinds of pages")
        self.version = "".join([weights.version, *conventions.suffixes(), settings.suffix()])
        self._decision = settings.decision()
        self._weights = weights
        self._conventions = conventions
        self._blas = find_blas()

    @classmethod
    def load(
        cls, path: Path | None = None, conventions: Conventions = AS_LEARNED, settings: CpuSettings = _BALANCED
    ) -> "CpuLabeler":
        """Load the labeler with weights from a file, by default from the package. Raises
        MachineError.

        Args:
            conventions: Whether comments and the title are main content.
            settings: Only `focus` is used. If `focus` is not the default, it becomes part of
                `version`.
        """
        return cls(load_weights(path), conventions, settings)

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` per page. On each page with words, at least one block is main."""
        # With such small matrices, BLAS threads only wait for each other.
        with one_thread(self._blas):
            return [self._label(page) for page in pages]

    def reasons(self, page: Page) -> Mapping[str, FloatArray]:
        """Return an array of evidence for each feature group, as in `weigh_groups`."""
        with one_thread(self._blas):
            windows = [
                (weigh_groups(self._weights, *normalize_page(self._weights, window.blocks)), own)
                for window, own in _cut_windows(compute_features(page))
            ]
        return {group: np.concatenate([window[group][own] for window, own in windows]) for group in GROUPS}

    def _label(self, page: Page) -> Labels:
        features, summary = compute_features(page), PageSummary()
        words = features.words
        probability = np.concatenate(
            [
                score_main(self._weights, *window[:2], self._conventions, summary)[own]
                for window, own in _cut_windows(features)
            ]
        )
        kinds = classify_page(self._weights, summary, features.structure)
        is_thread = KINDS[int(np.argmax(kinds))] == "forum" or self._conventions.comments == "include"
        for never in (find_furniture(page), None if is_thread else find_comments(page)):
            if never is not None and words[~never].any():
                probability[never] = np.minimum(probability[never], _NEVER_MAIN)
        decision = decide(probability, words, **self._decision)
        confidence = estimate_confidence(self._weights.matrices["confidence"], decision.expected_f1, kinds)
        return Labels(
            decision.main, probability.astype(np.float32), confidence if words.any() else 0.0,
            page_kind=KINDS[int(np.argmax(kinds))] if words.any() else "nothing",
        )  # fmt: skip


def classify_page(weights: Weights, summary: PageSummary, structure: FloatArray) -> FloatArray:
    """Return the probability of each kind in `decide.KINDS`, shape (n_kinds,). structure: values in
    the order of `page_features.STRUCTURE_NAMES`."""
    inputs = np.concatenate([summary.means(), structure])
    return classify(weights.matrices["kind"], weights.matrices["kind_bias"], inputs)


def score_main(
    weights: Weights,
    blocks: BlockSequence,
    words: IntArray,
    conventions: Conventions = AS_LEARNED,
    summary: PageSummary | None = None,
) -> FloatArray:
    """Return each block's calibrated probability of being main, shape (n_blocks,), after the
    conventions have been applied.

    Args:
        weights: The weights of all networks.
        blocks: The blocks with their raw features.
        words: (n_blocks,), the number of words of each block.
        conventions: Whether comments and the title are main content.
        summary: If given, these blocks are added to this summary.
    """
    page = normalize_page(weights, blocks)
    logits, states = score_blocks(weights, page)
    if summary is not None:
        summary.add(words, probabilities(logits), page.features, states)
    calibration = weights.temperature, weights.shift
    main = probability_with_second_opinion(logits, lambda: score_by_others(weights, page), calibration, blocks, words)
    if conventions == AS_LEARNED:
        return main
    return conventions.apply(main, probabilities(score_parts(weights, page, states)))


class NormalizedPage(NamedTuple):
    """The input of the networks for one page."""

    features: Array
    """(n_blocks, n_features), standardised, in multiples of 1/256."""
    ops: Operations
    """The operations for this page."""


def normalize_page(weights: Weights, blocks: BlockSequence) -> NormalizedPage:
    """Prepare the raw features of a page for the networks: standardise, clip and round them."""
    if arithmetic.IN_C and blocks.features.dtype == np.float32:
        features = np.empty(blocks.features.shape)
        arithmetic.arithmetic_c.standardise(blocks.features, weights.mean, weights.scale, FEATURE_LIMIT, features)
    else:
        features = snap(standardise(weights, blocks.features))
    return NormalizedPage(features, choose_operations(blocks.starts, blocks.ends))


def score_blocks(weights: Weights, page: NormalizedPage) -> tuple[FloatArray, Array]:
    """Return the uncalibrated logits of main, shape (n_blocks,), and the network's states, shape
    (n_blocks, width)."""
    states = compute_states(weights.exact, weights.shape, page.features, page.ops)
    return compute_logits(weights.exact, states, page.ops).astype(np.float64), states


def score_parts(weights: Weights, page: NormalizedPage, states: Array) -> FloatArray:
    """Return two logits for each block, shape (n_blocks, 2): one for belonging to the comments, the
    other for being the title. states: the network's states, from `score_blocks`."""
    inputs = np.concatenate([page.features, states], axis=1)
    return np.asarray(page.ops.linear(inputs, weights.exact["switch"], weights.exact["switch_bias"]).astype(np.float64))


def score_by_others(weights: Weights, page: NormalizedPage) -> list[FloatArray]:
    """Return the uncalibrated logits of main from each other network. Each array has shape
    (n_blocks,)."""
    return [
        forward(network.exact, network.shape, page.features, page.ops).astype(np.float64) for network in weights.others
    ]


def standardise(weights: Weights, features: FloatArray) -> FloatArray:
    """Scale features to mean 0 and standard deviation 1 over the training pages, and clip
    outliers."""
    values = features - weights.mean
    values /= weights.scale
    return np.clip(values, -FEATURE_LIMIT, FEATURE_LIMIT, out=values)


def _cut_windows(page: PageFeatures) -> Iterator[tuple[PageFeatures, slice]]:
    """Split a page into windows of equal size. Yield each window including its margins, and the
    slice of the window that excludes the margins."""
    n_blocks = len(page.words)
    if n_blocks <= WINDOW_BLOCKS:
        yield page, slice(None)
        return
    size = math.ceil(n_blocks / math.ceil(n_blocks / WINDOW_BLOCKS))
    for start in range(0, n_blocks, size):
        first, end = max(0, start - MARGIN_BLOCKS), min(n_blocks, start + size)
        yield _cut_window(page, first, min(n_blocks, end + MARGIN_BLOCKS)), slice(start - first, end - first)


def _cut_window(page: PageFeatures, start: int, end: int) -> PageFeatures:
    features, starts, ends = (part[start:end] for part in page.blocks)
    length = len(features)
    blocks = BlockSequence(features, np.clip(starts - start, 0, length - 1), np.clip(ends - start, 1, length))
    return PageFeatures(blocks, page.words[start:end], page.structure)
