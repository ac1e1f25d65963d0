"""Converts simplified pages to the encoder's input: chunks of whole blocks, in the form `[BOS]
block <|sep|> block <|sep|> … [EOS]`. The tokenizer requires transformers, but not PyTorch."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from dripper.errors import MachineError, SettingsError
from dripper.extras import needed
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.tokenizer import VOCABULARIES
from dripper.labels.lm.windows import split_blocks
from dripper.labels.words import words_of
from dripper.tree.tree import unescape
from dripper_labelers.encoder.reading import Reading

WORD_STEPS, LINK_STEPS, PLACES = 8, 4, 10
# Enough characters for 24 word pieces. Tokenizing more would be wasted work.
FIRST_CHARACTERS, LAST_CHARACTERS = 160, 60
HEAD_TAGS, HEAD_NAMES = 3, 3

# A tag name may contain `<`, and an attribute value may contain `<` and `>`.
TAG = re.compile(r"""<(/?)([a-zA-Z][^\s>/]*)(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_NAMES = re.compile(r' (?:class|id)="([^"]*)"')
_NAME = re.compile(r"[a-z]{2,}", re.IGNORECASE)


class Outline(NamedTuple):
    """The parts of a block that the model reads in outline form."""

    marker: str
    """One of `MARKERS`. It represents the number of words and the fraction of link text."""
    head: str
    """The block's first tag names, and words from the class and id of its own tag."""
    text: str


def outline(markup: str) -> Outline:
    """Return the outline of a block's simplified HTML.

    >>> outline('<li class="nav-item" _item_id="7"><a>Home</a></li>')
    Outline(marker='<|words 1 links 3|>', head='li a nav item', text='Home')
    """
    own = markup[: markup.find(">") + 1]
    names = [name.lower() for value in _NAMES.findall(own) for name in _NAME.findall(value)]
    tags, pieces, linked = list[str](), list[str](), 0
    in_link, last = 0, 0
    for tag in TAG.finditer(markup):
        piece = markup[last : tag.start()]
        pieces.append(piece)
        linked += len(piece) if in_link else 0
        last = tag.end()
        name = tag[2].lower()
        if name == "a":
            in_link = max(0, in_link + (-1 if tag[1] else 1))
        if not tag[1]:
            tags.append(name)
    pieces.append(markup[last:])
    text = " ".join(unescape(" ".join(pieces)).split())
    head = [*dict.fromkeys(tags)][:HEAD_TAGS] + [*dict.fromkeys(names)][:HEAD_NAMES]
    return Outline(_marker(text, linked / max(1, sum(map(len, pieces)))), " ".join(head), shorten(text))


def shorten(text: str) -> str:
    """Shorten long text to its beginning and end. Short text is returned unchanged."""
    if len(text) <= FIRST_CHARACTERS + LAST_CHARACTERS:
        return text
    return f"{text[:FIRST_CHARACTERS]} {text[-LAST_CHARACTERS:]}"


def _marker(text: str, linked: float) -> str:
    words = min(WORD_STEPS - 1, len(words_of(text)).bit_length())
    return name_words_marker(words, (linked > 0) + (linked >= 0.5) + (linked >= 0.95))


def name_words_marker(words: int, links: int) -> str:
    """Return a block's marker.

    Args:
        words: The level of the word count: 0 for 0, 1 for 1, 2 for 2 to 3, 3 for 4 to 7, and so on.
        links: The level of link text: 0 for none, 1 for some, 2 for at least half, 3 for at least
            95 %.
    """
    return f"<|words {words} links {links}|>"


def name_place_marker(place: int) -> str:
    """Return the first marker of a chunk. `place` is the tenth of the page in which the chunk
    begins, 0 to 9."""
    return f"<|place {place}|>"


MARKERS = (
    *(name_words_marker(words, links) for words in range(WORD_STEPS) for links in range(LINK_STEPS)),
    *(name_place_marker(place) for place in range(PLACES)),
)
"""All markers. A tokenizer for outlines has one token for each of them."""

# The fraction of tokens taken from the end of a block's text if the text is too long.
END_SHARE = 0.25
LEAST_OUTLINE = 2
"""The minimum number of tokens in an outline: its marker and one token of text."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The tokens of the blocks from `start` up to, but not including, `end`."""

    start: int
    end: int
    ids: Sequence[int]
    separators: Sequence[int]
    """(end - start,), the index in `ids` of each block's separator. The block's label is read
    there."""


class Sequencer:
    """Tokenizes pages and splits them into chunks. This part of the `encoder` labeler needs no
    weights."""

    def __init__(self, tokenizer: Any, reading: Reading, context: int) -> None:
        """`tokenizer` is a tokenizer of transformers, and `context` the number of tokens in a
        chunk. Raises MachineError if the tokenizer lacks the separator or a marker, or if outlines
        have too few tokens. Raises SettingsError if `context` is too small for a block."""
        self.reading = reading
        self.context = context
        self._tokenizer = tokenizer
        self._begin = _first(tokenizer.bos_token_id, tokenizer.cls_token_id)
        self._end = _first(tokenizer.eos_token_id, tokenizer.sep_token_id)
        vocabulary = tokenizer.get_vocab()
        own_tokens = [reading.separator, *(MARKERS if reading.form == "outline" else ())]
        lacking = [token for token in own_tokens if token not in vocabulary]
        if lacking:
            raise MachineError(
                f"the tokenizer does not know {lacking[0]!r}: this checkpoint was not trained to label blocks at their "
                "separators; see docs/labeler_encoder.md"
            )
        self.separator: int = vocabulary[reading.separator]
        self._markers = {token: vocabulary[token] for token in own_tokens}
        if reading.form == "outline" and reading.block_tokens < LEAST_OUTLINE:
            raise MachineError(f"block_tokens={reading.block_tokens}: an outline needs {LEAST_OUTLINE} tokens or more")
        frame = len(self._frame([], 0, 1))
        if context < frame + 2:
            raise SettingsError(f"context_tokens={context} of the checkpoint leaves no room for a block")
        self.room = context - frame
        specials = {*tokenizer.all_special_tokens, *tokenizer.get_added_vocab()}
        self._special = re.compile("|".join(map(re.escape, sorted(specials, key=len, reverse=True))))

    @classmethod
    def load(cls, folder: Path, reading: Reading, context: int, vocabulary: int | None = None) -> "Sequencer":
        """Load the sequencer of a checkpoint.

        If the tokenizer lacks the separator but the weights have a row for it, the separator is
        added as the next token, as in Pulpie's code.

        Args:
            vocabulary: The number of tokens for which the weights have a row.

        Raises:
            MachineError: The folder has no readable tokenizer, or the tokenizer lacks a required
                token.
        """
        with needed("the labeler encoder", "encoder"):
            from transformers import AutoTokenizer
        # transformers silently returns an empty tokenizer for a folder without one.
        if not any(file for pattern in VOCABULARIES for file in folder.glob(pattern)):
            raise MachineError(f"{folder} has no tokenizer: none of {', '.join(VOCABULARIES)}")
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        except Exception as error:  # Several packages can fail here, for example because of wrong types.
            raise MachineError(f"{folder} has no tokenizer that can be read: {str(error).splitlines()[0]}") from None
        # A token without a trained row would make every label random.
        if reading.separator not in tokenizer.get_vocab() and len(tokenizer) < (vocabulary or 0):
            tokenizer.add_tokens([reading.separator], special_tokens=True)
        return cls(tokenizer, reading, context)

    def count_tokens(self, simplified_html: str) -> int:
        """Return the number of tokens that the model reads from a page, including separators. For
        outlines, this is an upper bound."""
        n_blocks = simplified_html.count(' _item_id="')
        if self.reading.form == "outline":
            return n_blocks * self.reading.block_tokens
        return len(self._encode([simplified_html])[0]) + n_blocks

    def block_ids(self, page: SimplifiedPage) -> list[list[int]]:
        """Return the tokens of each block, without separators. Raises PageError (labeler_failed) if
        the HTML does not contain the blocks that the page lists."""
        if not page.n_blocks:
            return []
        texts = split_blocks(page)
        if self.reading.form == "outline":
            return self._encode_outlines([outline(block) for block in texts.blocks])
        # The last block extends to the end of the page, as in Pulpie's published code.
        blocks = [*texts.blocks[:-1], texts.blocks[-1] + texts.tail]
        most = self.reading.block_tokens or None
        return [ids[:most] for ids in self._encode([block.strip() for block in blocks])]

    def chunks(self, page: SimplifiedPage, overlap: int) -> list[Chunk]:
        """Return chunks that cover a page. A page without blocks has no chunks. Raises the same
        errors as `block_ids`."""
        blocks = self.block_ids(page)
        spans = cut([len(ids) + 1 for ids in blocks], self.room, overlap)
        return [self.chunk(blocks, start, end) for start, end in spans]

    def chunk(self, blocks: Sequence[Sequence[int]], start: int, end: int) -> Chunk:
        """Return one chunk of a page's blocks. A block that exceeds a chunk is truncated."""
        cut_blocks = [list(ids[: self.room - 1]) for ids in blocks[start:end]]
        ids = self._frame(cut_blocks, start, len(blocks))
        begin = len(ids) - sum(len(block) + 1 for block in cut_blocks) - (self._end is not None)
        ends = accumulate((len(block) + 1 for block in cut_blocks), initial=begin - 1)
        return Chunk(start, end, ids, list(ends)[1:])

    def _frame(self, blocks: Sequence[Sequence[int]], start: int, n_blocks: int) -> list[int]:
        ids = [] if self._begin is None else [self._begin]
        if self.reading.form == "outline":
            ids.append(self._markers[name_place_marker(PLACES * start // n_blocks)])
        for block in blocks:
            ids += [*block, self.separator]
        return ids if self._end is None else [*ids, self._end]

    def _encode_outlines(self, outlines: Sequence[Outline]) -> list[list[int]]:
        encoded = self._encode([part for each in outlines for part in (each.head, each.text)])
        most = self.reading.block_tokens
        sequences = []
        for each, head, text in zip(outlines, encoded[::2], encoded[1::2], strict=True):
            ids = [self._markers[each.marker], *head[: most // 3]]
            room = most - len(ids)
            if len(text) > room:
                n_end = int(room * END_SHARE)
                text = [*text[: room - n_end], *text[len(text) - n_end :]]
            sequences.append([*ids, *text])
        return sequences

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each string. Special tokens in the strings are broken up. Otherwise,
        a page could insert its own separators."""
        safe = [break_up(self._special, text) for text in texts]
        ids: list[list[int]] = self._tokenizer(safe, add_special_tokens=False, verbose=False)["input_ids"]
        return ids


def break_up(special: re.Pattern[str], text: str) -> str:
    """Insert a space after the first character of each special token.

    >>> break_up(re.compile("<s>|</s>"), "a </s> b")
    'a < /s> b'
    """
    return special.sub(lambda token: f"{token[0][0]} {token[0][1:]}", text)


def cut(sizes: Sequence[int], room: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of chunks that cover all blocks in order. Each chunk is as long as
    possible.

    Args:
        sizes: The number of tokens in each block, including its separator.
        room: The maximum number of tokens in a chunk. A longer block forms its own chunk.
        overlap: The maximum number of blocks to repeat from the previous chunk. Fewer are repeated
            if the next block would not fit otherwise.

    >>> list(cut([4, 4, 4, 4], 8, 0)), list(cut([4, 4, 4, 4], 12, 1)), list(cut([4, 90, 4], 8, 1))
    ([(0, 2), (2, 4)], [(0, 3), (2, 4)], [(0, 1), (1, 2), (2, 3)])
    """
    before = [0, *accumulate(sizes)]
    start, end = 0, 0
    while end < len(sizes):
        first = max(start + 1, end - overlap) if end else 0
        while first < end and before[end + 1] - before[first] > room:
            first += 1
        start, end = first, end + 1
        while end < len(sizes) and before[end + 1] - before[start] <= room:
            end += 1
        yield start, end


def _first(*tokens: int | None) -> int | None:
    return next((token for token in tokens if token is not None), None)
