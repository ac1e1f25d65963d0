"""Features of the blocks' texts: characters, words, sentences, repetition, and cue words.

Everything is counted over the arrays of :class:`PageCharacters`; only dates are looked for text by text.
"""

import functools
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dripper.labels import characters
from dripper.labels.characters import HashArray, IntArray, PageCharacters, hash_of
from dripper.labels.words import words_of

FloatArray = npt.NDArray[np.float64]

# How many words of a block count as its beginning, for the features that need the words themselves.
HEAD_WORDS = 60
# The most frequent words of a page are its function words and its subject; menus have fewer of both.
FREQUENT_WORDS = 25
SHORT_WORD = 3

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


_OF_WORDS = NAMES.index("of_title")
_PUNCTUATION = [characters.PUNCTUATION, characters.SENTENCE_END, characters.COMMA, characters.NUMERAL]
_DIGITS = [characters.DIGIT, characters.UNSPACED_DIGIT]
# Spreads the second word of a pair over all bits, so that "a b" and "b a" differ.
_PAIR = np.uint64(0xC2B2AE3D27D4EB4F)


def text_features(texts: Sequence[str], title: str) -> tuple[npt.NDArray[np.float32], IntArray]:
    """Return the features that `NAMES` lists, shape (n_blocks, len(NAMES)), and the number of words of each block.

    texts must not be an empty sequence.
    """
    # The title is read as one more text: its words get numbers like all others.
    page = PageCharacters.of([*texts, title])
    n_blocks = len(texts)
    features = np.empty((n_blocks, len(NAMES)), np.float32)
    features[:, :_OF_WORDS] = _character_features(page, n_blocks)
    _fill_word_features(features[:, _OF_WORDS:], page)
    copies = Counter(texts)
    features[:, NAMES.index("repeated")] = [copies[text] > 1 for text in texts]
    column = NAMES.index("date")
    features[:, column] = 0
    for block in np.flatnonzero(features[:, NAMES.index("digits")]).tolist():
        features[block, column] = _DATE.search(texts[block], 0, 200) is not None
    return features, page.words[:n_blocks]


def _character_features(page: PageCharacters, n_blocks: int) -> FloatArray:
    counts, words = page.counts[:n_blocks], page.words[:n_blocks]
    lengths = counts.sum(axis=1)
    chars = np.maximum(lengths, 1)
    return np.stack(
        [
            np.log1p(lengths), np.log1p(words), np.minimum(chars / np.maximum(words, 1), 20) / 10,
            counts[:, _PUNCTUATION].sum(axis=1) / chars, counts[:, _DIGITS].sum(axis=1) / chars,
            counts[:, characters.UPPER] / chars, counts[:, characters.UNSPACED] / chars,
            counts[:, characters.OTHER_LETTER] / chars, np.log1p(counts[:, characters.SENTENCE_END]),
            np.log1p(counts[:, characters.COMMA]), page.last[:n_blocks] == characters.SENTENCE_END,
            np.isin(page.last[:n_blocks], _PUNCTUATION), page.first[:n_blocks] == characters.UPPER,
            np.log1p(counts[:, characters.LINE]),
        ],
        axis=1,
    )  # fmt: skip


def _fill_word_features(features: npt.NDArray[np.float32], page: PageCharacters) -> None:
    n_blocks, words = len(features), page.words[:-1]
    vocabulary, number = _numbered(page.hashes)
    n_own = int(words.sum())
    texts, title, number = page.texts[:n_own], number[n_own:], number[:n_own]
    is_title = np.zeros(len(vocabulary), bool)
    is_title[title] = True
    # Each (block, word) once.
    pairs = _distinct(np.sort(texts * max(len(vocabulary), 1) + number))
    distinct_blocks, distinct_numbers = np.divmod(pairs, max(len(vocabulary), 1))
    n_distinct = np.bincount(distinct_blocks, minlength=n_blocks)
    shared = np.bincount(distinct_blocks[is_title[distinct_numbers]], minlength=n_blocks)
    place = np.arange(n_own) - np.repeat(np.cumsum(words) - words, words)
    head = place < HEAD_WORDS
    heads = np.maximum(np.minimum(words, HEAD_WORDS), 1)
    frequent = _are_frequent(np.bincount(number, minlength=len(vocabulary)))[number]
    features[:, 0] = shared / np.maximum(n_distinct, 1)
    features[:, 1] = shared / max(int(is_title.sum()), 1)
    features[:, 4] = np.bincount(texts[head & frequent], minlength=n_blocks) / heads
    features[:, 5] = np.bincount(texts[head & (page.lengths[:n_own] <= SHORT_WORD)], minlength=n_blocks) / heads
    features[:, 6] = n_distinct / np.maximum(words, 1)
    features[:, 7] = words == 0
    bits = _cue_bits(page.hashes[:n_own], texts, place, n_blocks)
    features[:, 8:] = bits[:, None] >> np.arange(len(CUES)) & 1


def _numbered(hashes: HashArray) -> tuple[HashArray, IntArray]:
    """Return the distinct hashes, ascending, and for each of the hashes which one it is.

    (`np.unique` takes three times as long on the 2,000 words of a page.)
    """
    order = np.argsort(hashes)
    ordered = hashes[order]
    is_new = np.ones(len(hashes), bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    number = np.empty(len(hashes), np.int64)
    number[order] = np.cumsum(is_new) - 1
    return ordered[is_new], number


def _distinct(ascending: IntArray) -> IntArray:
    return ascending[np.flatnonzero(np.diff(ascending, prepend=-1))]


def _are_frequent(counts: IntArray) -> npt.NDArray[np.bool_]:
    """Return which words are among the page's most frequent; all of those that share the last place."""
    present = np.sort(counts[counts > 0])
    least = present[-FREQUENT_WORDS:][:1]
    return counts >= (least[0] if len(least) else 1)


def _cue_bits(hashes: HashArray, texts: IntArray, place: IntArray, n_blocks: int) -> IntArray:
    """Return the bits of the cues at the beginning of each text, shape (n_blocks,)."""
    first = np.flatnonzero(place < CUE_WORDS)
    own, owner = hashes[first], texts[first]
    follows = owner[1:] == owner[:-1]
    pairs = np.where(follows, own[:-1] + own[1:] * _PAIR, 0)
    keys, key_bits = _cue_table()
    bits = np.zeros(n_blocks, np.int64)
    for found, blocks in ((own, owner), (pairs, owner[:-1])):
        index = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
        hits = np.flatnonzero(keys[index] == found)
        np.bitwise_or.at(bits, blocks[hits], key_bits[index[hits]])
    return bits


@functools.cache
def _cue_table() -> tuple[HashArray, IntArray]:
    """Return the hashes of all cues, ascending, and their bits. A cue is taken apart as texts are: an ideograph is a word."""
    bits: dict[int, int] = {}
    for bit, cues in enumerate(CUES.values()):
        for cue in cues.split():
            first, *rest = (hash_of(word) for word in words_of(cue))
            key = (first + rest[0] * int(_PAIR)) % (1 << 64) if rest else first
            bits[key] = bits.get(key, 0) | 1 << bit
    keys = sorted(bits)
    return np.array(keys, np.uint64), np.array([bits[key] for key in keys], np.int64)
