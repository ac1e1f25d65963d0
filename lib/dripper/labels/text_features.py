"""Features of the blocks' texts: characters, words, sentences, repetition, and cue words.

One pass over all characters of the page with numpy (classes of code points, summed a block), one pass over the words.
"""

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

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
    "comments": "comment comments reply replies discussion responses kommentar kommentare commentaires comentarios 评论 評論 "
    "回复 コメ",
    "related": "related recommended more_from more_stories more_news more_on you_may you_might also_like also_read read_more "
    "read_next see_also popular trending most_read latest mehr_zum lire_aussi relacionadas relacionados 相关 推荐 热门 関連",
    "share": "share tweet facebook twitter whatsapp instagram linkedin pinterest follow_us email print teilen partager 分享 "
    "微信 微博",
    "subscribe": "subscribe subscription newsletter newsletters sign_up sign_in log_in login register my_account abonnieren "
    "anmelden abonnez 登录 注册 订阅",
    "legal": "copyright reserved privacy terms cookie cookies impressum datenschutz disclaimer licence license 版权 备案",
    "byline": "by posted published updated written author min_read minute_read editor von par 作者 来源 編集 编辑 发布",
    "paging": "next previous prev older newer back_to first last page weiter zurück suivant 上一 下一 次へ",
    "post": "quote joined posts location registered member senior_member junior_member likes upvotes votes points edited 发表",
    "price": "price add_to cart basket in_stock buy buy_now quantity shipping usd eur sku 价格",
    "action": "click download view_all see_all show_more learn_more load_more find_out get_started contact_us 更多 查看",
}
"""Words and pairs of words by which people recognise the kind of a block; nothing here names a site's template."""
CUE_WORDS = 12
"""How many words of a block are looked up: a cue deeper in the text is part of its prose."""
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


def text_features(texts: Sequence[str], words: PageWords, title: str) -> npt.NDArray[np.float32]:
    """Return the features that `NAMES` lists, shape (n_blocks, len(NAMES)); texts must not be an empty sequence."""
    characters = _character_features(texts, words.counts)
    has_digit = characters[:, NAMES.index("digits")] > 0
    of_words = _word_features(texts, words, title, has_digit.tolist())
    return np.concatenate([characters, of_words], axis=1, dtype=np.float32)


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


def _word_features(texts: Sequence[str], words: PageWords, title: str, has_digit: Sequence[bool]) -> FloatArray:
    title_words = set(words_of(title))
    copies = Counter(texts)
    singles, pairs = _cue_bits()
    rows = []
    bits = []
    for text, own, digit in zip(texts, words.blocks, has_digit, strict=True):
        distinct = set(own)
        shared = len(distinct & title_words)
        rows.append((
            shared / max(len(distinct), 1), shared / max(len(title_words), 1), copies[text] > 1,
            digit and _DATE.search(text, 0, 200) is not None, len(distinct) / max(len(own), 1), not own,
        ))  # fmt: skip
        bits.append(_bits_of(own[:CUE_WORDS], singles, pairs))
    flags = np.array(bits)[:, None] >> np.arange(len(CUES)) & 1
    table = np.array(rows, np.float64)
    return np.concatenate([table[:, :4], _head_shares(words), table[:, 4:], flags], axis=1)


def _head_shares(words: PageWords) -> FloatArray:
    """Return which shares of each block's first words are frequent on the page, and short (three letters or less)."""
    frequent = _frequent_words(words)
    heads = list(chain.from_iterable(own[:HEAD_WORDS] for own in words.blocks))
    sizes = np.minimum(words.counts, HEAD_WORDS)
    ends = np.cumsum(sizes)
    flags = (
        np.fromiter(map(frequent.__contains__, heads), bool, len(heads)),
        np.fromiter(map(len, heads), np.int64, len(heads)) <= 3,
    )
    sums = [np.concatenate([[0], np.cumsum(flag)]) for flag in flags]
    return np.stack([(part[ends] - part[ends - sizes]) / np.maximum(sizes, 1) for part in sums], axis=1)


def _frequent_words(words: PageWords) -> set[str]:
    """Return the page's most frequent words; all of those that share the last place, so that no order decides."""
    frequency = Counter(chain.from_iterable(words.blocks))
    least = sorted(frequency.values())[-FREQUENT_WORDS:][:1] or [1]
    return {word for word, count in frequency.items() if count >= least[0]}


def _bits_of(words: Sequence[str], singles: Mapping[str, int], pairs: Mapping[str, Mapping[str, int]]) -> int:
    bits = 0
    for number, word in enumerate(words, start=1):
        if word in singles:
            bits |= singles[word]
        if word in pairs and number < len(words):
            bits |= pairs[word].get(words[number], 0)
    return bits


@functools.cache
def _cue_bits() -> tuple[Mapping[str, int], Mapping[str, Mapping[str, int]]]:
    """Return the bits of cues of one word by that word, and of two words by the first and the second.

    A cue is taken apart as texts are: an ideograph is a word.
    """
    singles: dict[str, int] = {}
    pairs: dict[str, dict[str, int]] = {}
    for bit, cues in enumerate(CUES.values()):
        for first, *rest in map(words_of, cues.split()):
            found = pairs.setdefault(first, {}) if rest else singles
            key = rest[0] if rest else first
            found[key] = found.get(key, 0) | 1 << bit
    return singles, pairs


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
