"""Computes counts for the text of each leaf. The counts of a node are the sums over its leaves.

Function words distinguish prose from menus. The list contains the English words, as in the paper,
and the most frequent words of other languages, because the job reads pages in all languages.
"""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import dripper.labels.cpu.features.characters as characters
from dripper.labels.arrays import HashArray, IntArray
from dripper.labels.cpu.features.characters import PageCharacters, hash_word
from dripper.labels.cpu.features.places import sum_link_chars
from dripper.tree.tree import Tree
from dripper_labelers.web2text.leaves import Leaves

_WORDS = """
a about after all also am an and any are as at be because been before being between both but by can
could did do does during each few for from had has have he her here him his how i if in into is it its
just me more most my no nor not of off on once only or other our out over own same she should so some
such than that the their them then there these they this those through to too under until up very was
we were what when where which while who whom why will with would you your

auch auf aus bei das dem den der des die durch ein eine einem einen einer es für hat ich im ist mit
nach nicht noch oder sein sich sie sind über um und von vor war wie wird zu zum zur

au aux avec ce ces cette dans de du elle en est et il ils la le les leur mais ne nous ou par pas plus
pour qu que qui sa se ses son sont sur un une vous

al como con cuando del desde el entre esta este fue ha hay las lo los más muy para pero por sin sobre
su sus también una uno y ya

che da dalla degli dei del della delle di gli ha nel nella non per più sono una

ao aos com das do dos ele foi mais mas na nas no não nos o os ou pela pelo são seu sua um uma

aan bij dat deze die dit een er het hij ik maar met naar niet nog ook op te tot uit van voor zijn

att av den det där efter ett för han har inte jag med men och om på sig som till var vi

af at blev den det er et for fra hun ikke jeg med og så til ved

ale być co czy dla do go ich jak jest już na nie od po przez się są tak tego to tym w z za że

a ale aby co do je jeho jsem jsou k na o od po pro s se si tak to v ve z za že

и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было от
из для это

ve bir bu da de ile için çok daha olarak gibi ne mi en

yang dan di ke dari untuk dengan ini itu pada adalah tidak dalam akan

και το να του η της με που την από για τα είναι στο θα

的 了 在 是 我 有 和 就 不 人 都 一 也 很 到 说 要 去 你 会 着 这 那 他 她 與 為 這 個 們

の に は を た が で て と し れ さ も な

은 는 이 가 을 를 의 에 도 로
"""

STOP_WORDS = frozenset(_WORDS.split())

COUNTS = (
    "characters", "words", "sentences", "punctuation", "numeric", "stop_words", "capitals", "word_length", "copyright",
    "email", "url", "year", "link_characters",
)  # fmt: skip
"""The columns of `LeafTexts.counts`. An empty leaf counts as one character, as in the published
code."""

# . , ? ; : ! and their equivalents in other scripts.
_PUNCTUATION = [characters.SENTENCE_END, characters.COMMA]
_DIGITS = [characters.DIGIT, characters.UNSPACED_DIGIT]
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s)|[。！？]+(?=.)")
_WORD_START = re.compile(r"\b[^\W\d_]")
_EMAIL = re.compile(r"\b[\w.+-]+@\w[\w-]*\.\w")
_URL = re.compile(r"\b(?:https?|ftp)://\S")
_YEAR, _YEAR_DIGITS = re.compile(r"\b\d{4}\b"), 4


@dataclass(frozen=True, slots=True)
class LeafTexts:
    """Counts and other properties of the text of leaves. Features are computed from them."""

    counts: IntArray
    """(n_leaves, len(COUNTS))."""
    ends_with_punctuation: npt.NDArray[np.bool_]
    ends_with_question: npt.NDArray[np.bool_]
    """`ends_with_punctuation` and `ends_with_question`: (n_leaves,)."""


def read_texts(tree: Tree, leaves: Leaves) -> LeafTexts:
    """Compute the counts of `leaves`, which must not be empty. Takes time linear in the number of
    characters."""
    texts = leaves.texts
    page, n = PageCharacters.of(texts), len(texts)
    numeric = page.counts[:, _DIGITS].sum(axis=1)
    punctuation = page.counts[:, _PUNCTUATION].sum(axis=1)
    size = np.fromiter(map(len, texts), np.int64, n)
    counts = (
        np.maximum(size, 1), page.words, _count(lambda text: len(_SENTENCE_END.findall(text)) + 1, texts, size > 0),
        punctuation, numeric, np.bincount(page.texts[_are_stop_words(page.hashes)], minlength=n),
        _count(lambda text: sum(map(str.isupper, _WORD_START.findall(text))), texts, size > 0),
        np.bincount(page.texts, page.lengths, minlength=n), ["©" in text for text in texts],
        ["@" in text and _EMAIL.search(text) is not None for text in texts],
        ["://" in text and _URL.search(text) is not None for text in texts],
        _count(lambda text: _YEAR.search(text) is not None, texts, numeric >= _YEAR_DIGITS),
        np.minimum(_count_in_links(tree, leaves), size),
    )  # fmt: skip
    last = page.last
    return LeafTexts(
        np.stack([np.asarray(column, np.int64) for column in counts], axis=1),
        np.isin(last, _PUNCTUATION),
        np.array([text.endswith(("?", "？")) for text in texts], bool),
    )


def _count(count: Callable[[str], int], texts: Sequence[str], mask: npt.NDArray[np.bool_]) -> IntArray:
    """Apply `count` to the strings that `mask` selects. The result for all other strings is 0."""
    counts = np.zeros(len(texts), np.int64)
    for number in np.flatnonzero(mask).tolist():
        counts[number] = count(texts[number])
    return counts


def _are_stop_words(hashes: HashArray) -> npt.NDArray[np.bool_]:
    stop_hashes = _load_stop_hashes()
    nearest = np.minimum(stop_hashes.searchsorted(hashes), len(stop_hashes) - 1)
    return np.asarray(stop_hashes[nearest] == hashes)


@functools.cache
def _load_stop_hashes() -> HashArray:
    return np.array(sorted(map(hash_word, STOP_WORDS)), np.uint64)


def _count_in_links(tree: Tree, leaves: Leaves) -> IntArray:
    """Return the number of link characters in each leaf, without white space at the ends of link
    texts."""
    before = np.array(sum_link_chars(tree), np.int64)
    return np.asarray(before[leaves.last // 2 + 1] - before[(leaves.first + 1) // 2])
