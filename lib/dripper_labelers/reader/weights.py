"""Loads the reader's weights from two files in this package: `reader.onnx`, the 8-bit encoder
layers, and `reader.npz`, the embedding tables.

The model was distilled from multilingual-e5-small (Wang et al. 2024, "Multilingual E5 Text
Embeddings"; MIT licence). It has six of the original twelve layers, and 58,302 of the original
250,037 word pieces.
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
"""Matches invisible characters, and the replacement character for undecodable bytes. They have no
pieces; the tokenizer of multilingual-e5-small also treats them as spaces."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The vocabulary and the embedding tables."""

    pieces: Sequence[tuple[str, float]]
    """The tokenizer's pieces with their log probabilities. The index of a piece is its token ID."""
    begin: int
    separator: int
    unknown: int
    """`begin`, `separator` and `unknown` are the IDs of special tokens."""
    words: npt.NDArray[np.uint8]
    """(n_pieces, bytes), the embedding of each piece, in 4-bit blocks."""
    places: Matrix
    """(n_places, width), the embedding of each position in a window."""
    tags: Matrix
    """(n_tags, width), the embedding of each of `windows.TAGS`."""
    drafts: Matrix
    """(n_drafts, width), the embedding of each level of a draft's probability; see
    `windows.step_of`."""

    @classmethod
    def read(cls, content: bytes) -> "Tables":
        """Read the tables from the contents of a file. Raises ValueError, KeyError or BadZipFile if
        the file is invalid."""
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            names = bytes(file["pieces"]).decode().split("\n")
            pieces = list(zip(names, file["scores"].tolist(), strict=True))
            begin, separator, unknown = file["specials"].tolist()
            matrices = [file[name] for name in ("words", "places", "tags", "drafts")]
        return cls(pieces, begin, separator, unknown, *matrices)

    def write(self, path: Path) -> None:
        """Write the tables to a file."""
        np.savez(
            path, pieces=np.frombuffer("\n".join(name for name, _ in self.pieces).encode(), np.uint8),
            scores=np.array([score for _, score in self.pieces], np.float32),
            specials=np.array([self.begin, self.separator, self.unknown]),
            words=self.words, places=self.places, tags=self.tags, drafts=self.drafts,
        )  # fmt: skip

    def embed(self, ids: npt.NDArray[np.int64], tags: npt.NDArray[np.int64], drafts: npt.NDArray[np.int64]) -> Matrix:
        """Return the embeddings of a window's tokens, (n_tokens, width). Each embedding is the sum
        of the embeddings of the token's piece, position, tag and draft."""
        words = unpack_blocks(self.words[ids]).reshape(len(ids), -1)
        return np.asarray(words + self.places[: len(ids)] + self.tags[tags] + self.drafts[drafts])


def unpack_blocks(raw: npt.NDArray[np.uint8]) -> Matrix:
    """Return the values in 4-bit blocks, (n_blocks, BLOCK_VALUES). A block consists of a float16
    scale and 16 bytes. Each byte has two values, stored with an offset of 8 (GGML's Q4_0).

    Args:
        raw: The bytes of the blocks, in any shape.
    """
    blocks = raw.reshape(-1, _BLOCK_BYTES)
    scales, packed = blocks[:, :2].copy().view("<f2").astype(np.float32), blocks[:, 2:]
    values = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32) - 8
    return np.asarray(values * scales)


def make_tokenizer(pieces: Sequence[tuple[str, float]], unknown: int) -> Any:
    """Return a unigram tokenizer (of the package tokenizers) with these pieces. It adds no special
    tokens."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.Unigram(list(pieces), unk_id=unknown))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(_BLANKS), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


class Encoder:
    """The encoder layers. ONNX Runtime runs them on one core."""

    def __init__(self, graph: bytes) -> None:
        """`graph` has the input `embeds`, (1, n_tokens, width), and the output `margins`, (1,
        n_tokens, 1). Raises ValueError if the graph is invalid."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # A Spark task has one core. A second thread would occupy the core of another task.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's errors have no common base class.
            raise ValueError(str(error)) from None

    def __call__(self, embeds: Matrix) -> Matrix:
        """Return the margin of each token in a window, (n_tokens,). Raises PageError
        (labeler_failed) if the pass fails.

        Windows are processed one at a time. Windows in the same 8-bit pass would share one scale,
        so the labels of a page would depend on other pages.
        """
        try:
            (margins,) = self._session.run(["margins"], {"embeds": embeds[None]})
        except Exception as error:  # A pass can fail for several reasons, such as a lack of memory.
            raise PageError(ErrorCode.LABELER_FAILED, f"{type(error).__name__}: {error}") from error
        return np.asarray(margins[0, :, 0])


def load(folder: Path | None = None) -> tuple[Tables, Encoder, str]:
    """Load the weights in a folder, by default in this package. Return the tables, the encoder, and
    the first digits of the weights' hash.

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
