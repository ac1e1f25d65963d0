"""Computes short digests that show whether examples have changed."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from dripper_lab.train.examples import Example

SAMPLE = frozenset({
    "dev-0412", "dev-0414", "dev-0541", "dev-0575", "dev-2864", "dev-2911", "dev-4169", "dev-4249", "dev-4415", "dev-4554",
    "dev-4650",
})  # fmt: skip
"""The pages of wcxb-dev that are also in the repository."""


def digest_of(examples: Sequence[Example]) -> str:
    """Return 16 hex digits that change with any feature, word or label, and with the order of the
    examples."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr((example.key, example.truth_words)).encode())
        texts = example.texts.words, example.texts.starts
        features = example.blocks.features.astype(np.float32), example.structure
        for array in (*features, example.words, example.matched, *texts):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def sample_digest(examples: Iterable[Example]) -> str:
    """Return the digest of the pages in the repository, sorted by id. A test uses it to check
    whether blocks and features still match the trained weights."""
    sample = (example for example in examples if example.key[0] == "wcxb-dev" and example.key[1] in SAMPLE)
    return digest_of(sorted(sample, key=lambda example: example.key))
