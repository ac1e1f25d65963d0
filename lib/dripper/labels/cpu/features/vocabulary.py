"""Computes features of the blocks' words: title words, the page's frequent words, cue words, and
repeated text.

Words are hashes (see `characters`), so all work is sorting and counting integers.
"""

import functools
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dripper.labels.arrays import FloatArray, HashArray, IntArray, stack_columns
from dripper.labels.cpu.features import characters
from dripper.labels.cpu.features.characters import PageCharacters, hash_word
from dripper.labels.words import words_of

# The number of words that count as the beginning of a block, for features of frequent and short
# words.
HEAD_WORDS = 60
# A page's most frequent words are function words and words about its subject; menus have fewer of
# both.
FREQUENT_WORDS = 25
SHORT_WORD = 3
# If three words in a row also occur elsewhere on the page, this is no accident. They belong to a
# teaser, a quotation, or a second copy for phones.
SHINGLE_WORDS = 3

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
    "reviews": "review reviews rating ratings verified_purchase verified_buyer bewertung bewertungen avis opiniones 评价 口コミ",
    "questions": "faq faqs frequently_asked q_a any_questions häufige_fragen 常见问题",
    "support": "donate donation donations contribute contributions support_our support_us membership spenden unterstützen 捐",
    "shipping": "delivery returns refund refunds warranty guarantee free_shipping versand garantie livraison envío 配送",
    "action": "click download view_all see_all show_more learn_more load_more find_out get_started contact_us 更多 查看",
}
"""Words and word pairs by which people recognise the kind of a block; none is specific to a site's
template."""
CUE_WORDS = 12
"""Number of words at the beginning of a block that are checked for cues. Later in the text, the
same words are ordinary prose."""

NAMES = (
    "of_title", "title_covered", "frequent_words", "short_words", "distinct_words", "no_words",
    "copied_before", "copied_after", "seen_before", "seen_after", "in_description", "in_json_ld", *(f"cue_{name}" for name in CUES),
)  # fmt: skip

# Factors for the hashes of the second and third word of a sequence, so that "a b" and "b a" have
# different hashes.
_PAIR, _THIRD = np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
# An odd factor: the high bits of its product with a hash depend on all bits of the hash. Hashes of
# short words differ only in their low bits.
_SPREAD = np.uint64(0xBF58476D1CE4E5B9)

# Nearly all words that are not cues are excluded by the first 14 bits of their hash. This is
# cheaper than a search among the cues.
_SIEVE_SHIFT = np.uint64(64 - 14)


def compute_word_features(texts: Sequence[str], page: PageCharacters) -> FloatArray:
    """Return the features that `NAMES` lists, shape (n_blocks, len(NAMES)).

    Args:
        texts: The text of each block.
        page: The characters of the blocks, followed by the page's title, description and JSON-LD
            text.
    """
    n_blocks = len(texts)
    words, counts = page.words[:n_blocks], np.zeros((_N_COUNTS, n_blocks), np.int64)
    n_title = _count_in_c(page, counts) if characters.IN_C else -1
    if n_title < 0:
        n_title = _count(page, counts)
    shared, distinct, frequent, short, bits, n_shingles, *shingles = counts
    heads = np.clip(words, 1, HEAD_WORDS)
    return stack_columns((
        shared / np.maximum(distinct, 1), shared / max(n_title, 1), frequent / heads, short / heads,
        distinct / np.maximum(words, 1), words == 0, *_compute_copy_columns(texts),
        *(each / np.maximum(n_shingles, 1) for each in shingles), *(bits >> np.arange(len(CUES))[:, None] & 1),
    ), n_blocks)  # fmt: skip


_N_COUNTS = 10


def _count_in_c(page: PageCharacters, counts: IntArray) -> int:
    """Count as `_count` does; return -1 if the page has too many words."""
    keys, key_bits, sieve = _build_cue_table()
    return characters.characters_c.count(
        page.hashes, page.lengths, page.words, counts.shape[1], sieve, keys, key_bits, counts
    )


def _count(page: PageCharacters, counts: IntArray) -> int:
    """Fill `counts`, which has a column for each block, and return the number of distinct words in
    the title.

    The first rows are: distinct words that are also in the title, distinct words, frequent words at
    the beginning, short words at the beginning, bits of cues, and shingles. The last four rows
    count the shingles that are also in an earlier block, in a later block, in the description, and
    in the JSON-LD text.
    """
    n_blocks = counts.shape[1]
    words = page.words[:n_blocks]
    n_own = int(words.sum())
    owner, hashes = page.texts[:n_own], page.hashes[:n_own]
    place = np.arange(n_own) - np.repeat(np.cumsum(words) - words, words)
    n_title = _count_words(page, counts[:4], owner, place)
    counts[4] = _read_cues(hashes, owner, place, n_blocks)
    _count_shingles(page, counts[5:])
    return n_title


def _count_words(page: PageCharacters, counts: IntArray, owner: IntArray, place: IntArray) -> int:
    n_blocks, n_own = counts.shape[1], len(owner)
    order, is_new = _group_hashes(page.hashes[: n_own + int(page.words[n_blocks])])
    number = np.cumsum(is_new) - 1
    # The title is the last text, and counts as an additional block.
    in_block, n_words = page.texts[order], int(is_new.sum())
    of_title = np.bincount(number[in_block == n_blocks], minlength=n_words)
    # Count each (block, word) pair once: occurrences of a word are sorted by block, so a pair is
    # new if the block changes.
    once = is_new.copy()
    once[1:] |= in_block[1:] != in_block[:-1]
    frequent = _are_frequent(np.bincount(number, minlength=n_words) - of_title)[number]
    frequent_heads = order[frequent & (order < n_own)]
    short = np.flatnonzero(page.lengths[:n_own] <= SHORT_WORD)
    heads = (owner[at[place[at] < HEAD_WORDS]] for at in (frequent_heads, short))
    counted = (in_block[once & (of_title > 0)[number]], in_block[once], *heads)
    counts[:] = [np.bincount(blocks, minlength=n_blocks)[:n_blocks] for blocks in counted]
    return int(np.count_nonzero(of_title))


def _compute_copy_columns(texts: Sequence[str]) -> Sequence[FloatArray]:
    """Return, for each block, the number of earlier and of later blocks with exactly the same text,
    as log(1 + n)."""
    counts: defaultdict[str, int] = defaultdict(int)
    before = []
    for text in texts:
        before.append(counts[text])
        counts[text] += 1
    rank = np.array(before)
    return np.log1p(rank), np.log1p(np.array([counts[text] for text in texts]) - 1 - rank)


def _count_shingles(page: PageCharacters, counts: IntArray) -> None:
    n_blocks = counts.shape[1]
    if len(page.hashes) < SHINGLE_WORDS:
        return
    hashes, owner = page.hashes, page.texts
    whole = np.flatnonzero(owner[2:] == owner[:-2])
    owner = owner[whole]
    shingles = hashes[:-2] + hashes[1:-1] * _PAIR + hashes[2:] * _THIRD
    order, is_new = _group_hashes(shingles[whole])
    # Most shingles occur once. Occurrences of the others are sorted by text: blocks, title,
    # description, JSON-LD.
    several = np.flatnonzero(~(is_new & np.append(is_new[1:], True)))
    texts, starts = owner[order[several]], np.flatnonzero(is_new[several])
    counts[0] = np.bincount(owner, minlength=n_blocks)[:n_blocks]
    if not len(several):
        return
    sizes = np.diff(starts, append=len(several))

    def anywhere(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        return np.repeat(np.logical_or.reduceat(flags, starts), sizes)

    first, last = texts[starts], np.maximum.reduceat(np.where(texts < n_blocks, texts, -1), starts)
    flags = (
        np.repeat(first, sizes) < texts, np.repeat(last, sizes) > texts, anywhere(texts == n_blocks + 1),
        anywhere(texts == n_blocks + 2),
    )  # fmt: skip
    counts[1:] = [np.bincount(texts[flag], minlength=n_blocks)[:n_blocks] for flag in flags]


def _group_hashes(hashes: HashArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return two arrays: an order that puts equal hashes next to each other, earlier ones first,
    and flags that mark the first hash of each group.

    `np.unique` is slow for the few words of a page. Instead, each hash's position replaces its last
    bits, and the results are sorted. They all differ, so no stable sort of indexes is needed. For a
    million words, positions take 20 bits, and 44 bits of each hash remain.
    """
    n_bits = np.uint64(len(hashes).bit_length())
    keys = hashes * _SPREAD >> n_bits << n_bits
    keys |= np.arange(len(hashes), dtype=np.uint64)
    keys.sort()
    groups = keys >> n_bits
    is_new = np.ones(len(keys), bool)
    np.not_equal(groups[1:], groups[:-1], out=is_new[1:])
    return (keys - (groups << n_bits)).view(np.int64), is_new


def _are_frequent(counts: IntArray) -> npt.NDArray[np.bool_]:
    """Return which words are among the page's most frequent, including all words that share the
    last rank."""
    present = np.sort(counts[counts > 0])
    least = present[-FREQUENT_WORDS:][:1]
    return counts >= (least[0] if len(least) else 1)


def _read_cues(hashes: HashArray, texts: IntArray, place: IntArray, n_blocks: int) -> IntArray:
    """Return the bits of the cues at the beginning of each text, shape (n_blocks,)."""
    first = np.flatnonzero(place < CUE_WORDS)
    own, owner = hashes[first], texts[first]
    follows = owner[1:] == owner[:-1]
    cue_keys = np.concatenate([own, np.where(follows, own[:-1] + own[1:] * _PAIR, 0)])
    keys, key_bits, sieve = _build_cue_table()
    likely = np.flatnonzero(sieve[cue_keys >> _SIEVE_SHIFT])
    index = np.minimum(np.searchsorted(keys, cue_keys[likely]), len(keys) - 1)
    hits = keys[index] == cue_keys[likely]
    bits = np.zeros(n_blocks, np.int64)
    np.bitwise_or.at(bits, np.concatenate([owner, owner[:-1]])[likely[hits]], key_bits[index[hits]])
    return bits


@functools.cache
def _build_cue_table() -> tuple[HashArray, IntArray, npt.NDArray[np.bool_]]:
    """Return the hashes of all cues in ascending order, the bits of each cue, and a table of 2^14
    flags. Flag i is set if the first 14 bits of a cue's hash are the number i.

    Cues are split into words like all text, so each ideograph is a word.
    """
    bits: dict[int, int] = {}
    for bit, cues in enumerate(CUES.values()):
        for cue in cues.split():
            first, *rest = (hash_word(word) for word in words_of(cue))
            key = (first + rest[0] * int(_PAIR)) % (1 << 64) if rest else first
            bits[key] = bits.get(key, 0) | 1 << bit
    keys = np.array(sorted(bits), np.uint64)
    sieve = np.zeros(1 << 14, bool)
    sieve[keys >> _SIEVE_SHIFT] = True
    return keys, np.array([bits[key] for key in keys.tolist()], np.int64), sieve
