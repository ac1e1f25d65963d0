"""Features of the blocks' texts: characters, words, sentences, repetition, and cue words.

One pass over all characters of the page with numpy (classes of code points, summed a block), one pass over the words.
"""

import functools
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dripper.labels.words import words_of

FloatArray = npt.NDArray[np.float64]

_DIGIT, _UPPER, _LOWER, _OTHER_LETTER, _UNSPACED_LETTER, _PUNCTUATION, _SPACE = range(1, 8)
_SENTENCE_END = ".!?。！？…"
_COMMA = ",;:،、，；："
# How many words of a block count as its beginning, for the features that need the words themselves.
HEAD_WORDS = 60
# The most frequent words of a page are its function words and its subject; menus have fewer of both.
FREQUENT_WORDS = 25

CUES: dict[str, str] = {
    "comments": r"comments?|repl(?:y|ies)|discussion|responses?|kommentare?|commentaires?|comentarios?|评论|評論|回复|コメント",
    "related": r"related|recommended|more (?:from|stories|news|on)|you (?:may|might)|also (?:like|read)|read (?:more|next|also)"
    r"|popular|trending|most (?:read|viewed)|latest|mehr zum|lire aussi|leia|relacionad[oa]s|相关|推荐|热门|関連",
    "share": r"share|tweet|facebook|twitter|whatsapp|instagram|linkedin|pinterest|follow us|e-?mail|print|teilen|分享|微信|微博",
    "subscribe": r"subscri\w+|newsletters?|sign up|sign in|log ?in|register|my account|登录|注册|订阅|abonn\w+|anmelden",
    "legal": r"copyright|©|\(c\)|all rights reserved|privacy|terms|cookies?|impressum|datenschutz|disclaimer|版权|ICP备",
    "byline": r"by|posted|published|updated|written|author|min(?:ute)? read|editor|von|par|作者|来源|編集|责任编辑|发布",
    "paging": r"next|previous|prev|older|newer|back to|page \d+|first|last|上一[页篇]|下一[页篇]|weiter|suivant",
    "post": r"quote|joined|posts?:|location:|registered|member|senior|junior|likes?|upvotes?|votes?|points?|edited|楼|发表于",
    "price": r"[$€£¥]\s?\d|\d\s?(?:€|usd|eur|元)|price|add to (?:cart|bag|basket)|in stock|buy now|quantity|shipping",
    "action": r"click|download|view all|see (?:all|more)|show more|learn more|load more|find out|get started|contact us|更多",
}
"""Words by which people recognise the kind of a block. Searched in its first 100 characters; nothing names a site."""
_CUE = re.compile(f"(?<![a-z])(?:{'|'.join(f'({pattern})' for pattern in CUES.values())})(?![a-z])", re.IGNORECASE)
CUE_CHARS = 100
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\d{1,2}[:./-]\d{2}|\d\s*[年月日]")

NAMES = (
    "log_chars", "log_words", "chars_per_word", "punctuation", "digits", "upper", "unspaced", "other_letters", "sentences",
    "commas", "ends_sentence", "ends_punctuation", "starts_upper", "log_lines", "of_title", "title_covered", "repeated",
    "date", "frequent_words", "short_words", "distinct_words", "no_words", *(f"cue_{name}" for name in CUES),
)  # fmt: skip


class PageWords:
    """The words of a page, block by block. counts: (n_blocks,) how many each block has."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.blocks = [words_of(text) for text in texts]
        self.counts = np.array([len(words) for words in self.blocks], np.int64)


def text_features(texts: Sequence[str], words: PageWords, title: str) -> FloatArray:
    """Return the features that `NAMES` lists, shape (n_blocks, len(NAMES)); texts must not be an empty sequence."""
    return np.concatenate([_character_features(texts, words.counts), _word_features(texts, words, title)], axis=1)


def _character_features(texts: Sequence[str], word_counts: npt.NDArray[np.int64]) -> FloatArray:
    code_points = np.frombuffer("".join(f"{text}\n" for text in texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.array([len(text) for text in texts])
    starts = np.concatenate([[0], np.cumsum(lengths + 1)[:-1]])
    classes, marks = (table[code_points] for table in _code_point_tables())

    def count(is_of_class: npt.NDArray[np.bool_]) -> FloatArray:
        return np.add.reduceat(is_of_class, starts, dtype=np.float64)

    chars = np.maximum(lengths, 1)
    last = np.maximum(starts + lengths - 1, starts)
    return np.stack(
        [
            np.log1p(lengths), np.log1p(word_counts), np.minimum(chars / np.maximum(word_counts, 1), 20) / 10,
            count(classes == _PUNCTUATION) / chars, count(classes == _DIGIT) / chars, count(classes == _UPPER) / chars,
            count(classes == _UNSPACED_LETTER) / chars, count(classes == _OTHER_LETTER) / chars,
            np.log1p(count(marks == 1)), np.log1p(count(marks == 2)), marks[last] == 1, classes[last] == _PUNCTUATION,
            classes[starts] == _UPPER, np.log1p(count(code_points == 10) - 1),
        ],
        axis=1,
    )  # fmt: skip


def _word_features(texts: Sequence[str], words: PageWords, title: str) -> FloatArray:
    title_words = set(words_of(title))
    copies = Counter(texts)
    frequency = Counter(word for own in words.blocks for word in own)
    # Ties by the word itself: Counter keeps the order of first use, which the rest of the page must not decide.
    frequent = {word for word, _ in sorted(frequency.items(), key=lambda item: (-item[1], item[0]))[:FREQUENT_WORDS]}
    rows = np.zeros((len(texts), len(NAMES) - 14))
    for row, text, own in zip(rows, texts, words.blocks, strict=True):
        head, distinct = own[:HEAD_WORDS], set(own)
        size, shared = max(len(head), 1), len(distinct & title_words)
        row[:8] = (
            shared / max(len(distinct), 1), shared / max(len(title_words), 1), copies[text] > 1,
            _DATE.search(text, 0, 200) is not None, sum(word in frequent for word in head) / size,
            sum(len(word) <= 3 for word in head) / size, len(distinct) / max(len(own), 1), not own,
        )  # fmt: skip
        for match in _CUE.finditer(text, 0, CUE_CHARS):
            row[7 + (match.lastindex or 0)] = 1
    return rows


@functools.cache
def _code_point_tables() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return, for every code point, its class and whether it ends a sentence (1) or a clause (2)."""
    classes, marks = np.zeros(0x110000, np.uint8), np.zeros(0x110000, np.uint8)
    for code in range(0x30000):
        classes[code] = _class_of(chr(code))
    for number, characters in enumerate((_SENTENCE_END, _COMMA), start=1):
        marks[[ord(character) for character in characters]] = number
    return classes, marks


def _class_of(character: str) -> int:
    if character.isdigit():
        return _DIGIT
    if character.isalpha():
        if len(words_of(f"{character}a")) == 2:
            return _UNSPACED_LETTER
        return _UPPER if character.isupper() else _LOWER if character.islower() else _OTHER_LETTER
    if character.isspace():
        return _SPACE
    return _PUNCTUATION if character.isprintable() else 0
