"""Tables of a tiny reader, made on the spot."""

from pathlib import Path

import numpy as np

from dripper_labelers.reader.weights import TABLES, Matrix, Tables
from dripper_labelers.reader.windows import TAGS, UNKNOWN_DRAFT
from support.tiny_base import WIDTH, make_pieces, to_four_bits

PLACES = 64


def write_weights(folder: Path, seed: int = 0) -> Tables:
    """Write the tables, and return them."""
    draw, pieces = np.random.default_rng(seed), make_pieces()

    def normal(n: int) -> Matrix:
        return draw.normal(0, 1, (n, WIDTH)).astype(np.float32)

    words = np.frombuffer(to_four_bits(normal(len(pieces))), np.uint8).reshape(len(pieces), -1)
    scores = np.linspace(-1, -9, len(pieces)).tolist()
    tables = Tables(
        list(zip(pieces, scores, strict=True)),
        0,
        2,
        3,
        words,
        normal(PLACES),
        normal(len(TAGS)),
        normal(UNKNOWN_DRAFT + 1),
    )
    tables.write(folder / TABLES)
    return tables
