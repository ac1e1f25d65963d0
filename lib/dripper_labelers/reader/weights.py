"""Reads the weights of the reader, which this package brings in two files: `reader.onnx`, the
layers of its encoder in eight bits, and `reader.npz`, the tables that a token is looked up in.

The model is six layers of multilingual-e5-small (Wang et al. 2024, "Multilingual E5 Text
Embeddings"; MIT licence), distilled from twelve, with 58,302 of its 250,037 word pieces.
"""

import hashlib
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dripper.errors import ErrorCode, MachineError, PageError
from dripper.extras import needed

TABLES, GRAPH = "reader.npz", "reader.onnx"
BLOCK_VALUES = 32
_BLOCK_BYTES = 18

Matrix = npt.NDArray[np.float32]

_BLANKS = r"[\s\x00-\x1f\x7f\u200b\u200e\u200f\u2060\ufeff\ufffd]+"
"""Characters that no reader sees, and the replacement character of bytes that could not be decoded.
The tokenizer of multilingual-e5-small takes them for blanks, too: they have no pieces."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables that a token is looked up in."""

    pieces: Sequence[tuple[str, float]]
    """The tokenizer's pieces with their log probabilities; the number of a piece is its token."""
    begin: int
    separator: int
    unknown: int
    """The three above: special tokens."""
    words: npt.NDArray[np.uint8]
    """(n_pieces, bytes), the embedding of each piece in blocks of four bits."""
    places: Matrix
    """(n_places, width), the embedding of each place in a window."""
    tags: Matrix
    """(n_tags, width), the embedding of each of `windows.TAGS`."""
    drafts: Matrix
    """(n_drafts, width), the embedding of each step of a draft's probability: `windows.step_of`."""

    @classmethod
    def read(cls, content: bytes) -> "Tables":
        """Return the tables of a file. Raises ValueError, KeyError or BadZipFile for another
        file."""
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            names = bytes(file["pieces"]).decode().split("\n")
            pieces = list(zip(names, file["scores"].tolist(), strict=True))
            begin, separator, unknown = file["specials"].tolist()
            matrices = [file[name] for name in ("words", "places", "tags", "drafts")]
        return cls(pieces, begin, separator, unknown, *matrices)

    def write(self, path: Path) -> None:
        """Write the file."""
        np.savez(
            path, pieces=np.frombuffer("\n".join(name for name, _ in self.pieces).encode(), np.uint8),
            scores=np.array([score for _, score in self.pieces], np.float32),
            specials=np.array([self.begin, self.separator, self.unknown]),
            words=self.words, places=self.places, tags=self.tags, drafts=self.drafts,
        )  # fmt: skip

    def embed(self, ids: npt.NDArray[np.int64], tags: npt.NDArray[np.int64], drafts: npt.NDArray[np.int64]) -> Matrix:
        """Return the sum of a window's embeddings, (n_tokens, width), of three numbers a token."""
        words = unpack_blocks(self.words[ids]).reshape(len(ids), -1)
        return np.asarray(words + self.places[: len(ids)] + self.tags[tags] + self.drafts[drafts])


def unpack_blocks(raw: npt.NDArray[np.uint8]) -> Matrix:
    """Return the values of blocks of four bits, (n_blocks, BLOCK_VALUES). A block is a float16
    scale, then 16 bytes with two values each, less 8 (the Q4_0 of GGML).

    Args:
        raw: Their bytes, in any shape.
    """
    blocks = raw.reshape(-1, _BLOCK_BYTES)
    scales, packed = blocks[:, :2].copy().view("<f2").astype(np.float32), blocks[:, 2:]
    values = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32) - 8
    return np.asarray(values * scales)


def make_tokenizer(pieces: Sequence[tuple[str, float]], unknown: int) -> Any:
    """Return the tokenizer, of the package tokenizers: pieces of a unigram model. It adds no
    special tokens."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.Unigram(list(pieces), unk_id=unknown))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(_BLANKS), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


class Encoder:
    """The layers, which ONNX Runtime runs on one core."""

    def __init__(self, graph: bytes) -> None:
        """graph: inputs `embeds`, (1, n_tokens, width); outputs `margins`, (1, n_tokens, 1). Raises
        ValueError for a file that is no graph."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # A Spark task has a core, and a second thread would take another's.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # Its errors have no class in common.
            raise ValueError(str(error)) from None

    def __call__(self, embeds: Matrix) -> Matrix:
        """Return the margin of each token of a window, (n_tokens,).

        Windows go one at a time: a pass in eight bits has one scale for all its windows, so that a
        page's labels would depend on the pages beside it. Raises PageError (labeler_failed) if the
        pass fails.
        """
        try:
            (margins,) = self._session.run(["margins"], {"embeds": embeds[None]})
        except Exception as error:  # As above: any failure of a pass, such as no memory left.
            raise PageError(ErrorCode.LABELER_FAILED, f"{type(error).__name__}: {error}") from error
        return np.asarray(margins[0, :, 0])


def load(folder: Path | None = None) -> tuple[Tables, Encoder, str]:
    """Return the weights in a folder, by default this package's, and the first digits of their
    hash.

    Raises MachineError if a package is not installed, or a file is missing or invalid.
    """
    with needed("the labeler reader", "reader"):
        import onnxruntime  # noqa: F401
        import tokenizers  # noqa: F401
    where: Traversable = files(__package__) if folder is None else folder
    try:
        tables, graph = (where.joinpath(name).read_bytes() for name in (TABLES, GRAPH))
        version = hashlib.sha256(tables + graph).hexdigest()[:12]
        return Tables.read(tables), Encoder(graph), version
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise MachineError(f"{where} holds no weights of the labeler reader: {error}") from None
