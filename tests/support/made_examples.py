"""Made-up examples for tests of training: small, and easy to learn."""

import numpy as np

from dripper.labels.cpu.features.page_features import NAMES, STRUCTURE_NAMES
from dripper.labels.cpu.network import BlockSequence
from dripper_lab.train.examples import Example
from dripper_lab.truth import Texts


def made_example(number: int, blocks: int = 30) -> Example:
    """Return a page in which blocks are main exactly if their first feature is positive."""
    draw = np.random.default_rng(number)
    features = draw.normal(size=(blocks, len(NAMES)))
    features[:, 1:] *= 0.1
    words = draw.integers(1, 40, blocks)
    levels = np.zeros((blocks, 6), np.int64)
    matched = np.where(features[:, 0] > 0, words, 0).astype(float)
    texts = [[f"w{number}x{block}x{word}" for word in range(count)] for block, count in enumerate(words.tolist())]
    truth = [word for text, count in zip(texts, matched, strict=True) if count for word in text]
    return Example(
        key=("made", str(number)), host=f"host{number}.example", page_type="", words=words, matched=matched,
        blocks=BlockSequence(features, levels, levels + blocks), truth_words=int(matched.sum()),
        title=np.zeros(blocks, bool), comments=np.zeros(blocks, bool),
        texts=Texts.of(texts, truth), structure=np.zeros(len(STRUCTURE_NAMES)),
    )  # fmt: skip
