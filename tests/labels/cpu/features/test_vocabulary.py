"""Features of words."""

from collections import Counter

import numpy as np
import pytest

from dripper.labels.cpu.features.text import NAMES as TEXT_NAMES
from dripper.labels.cpu.features.text import compute_text_features
from dripper.labels.cpu.features.vocabulary import CUES, FREQUENT_WORDS, HEAD_WORDS, NAMES
from dripper.labels.words import words_of
from dripper.tree.head import Hints
from support.labelled import pages


def features(*texts: str, title: str = "", hints: Hints = Hints()) -> dict[str, list[float]]:  # noqa: B008
    matrix = compute_text_features(texts, title, hints)[0]
    return {name: matrix[:, TEXT_NAMES.index(name)].tolist() for name in NAMES}


def cues(text: str) -> set[str]:
    row = features(text)
    return {name for name in CUES if row[f"cue_{name}"][0]}


def test_the_title_is_recognised() -> None:
    found = features("Floods in Rome", "Share", title="Floods in Rome - The Paper")
    assert found["of_title"] == [1, 0]
    assert found["title_covered"] == pytest.approx([3 / 5, 0])


def test_copies_know_those_before_and_after_them() -> None:
    found = features("Reply", "a", "Reply", "Reply")
    assert found["copied_before"] == pytest.approx(np.log1p([0, 0, 1, 2]))
    assert found["copied_after"] == pytest.approx(np.log1p([2, 0, 1, 0]))


def test_words_in_a_row_that_stand_elsewhere_too() -> None:
    found = features("one two three four", "two three four five", "nothing of that here", "one two")
    assert found["seen_before"] == pytest.approx([0, 0.5, 0, 0])
    assert found["seen_after"] == pytest.approx([0.5, 0, 0, 0])


def test_a_repetition_within_a_block_is_not_seen_elsewhere() -> None:
    found = features("one two three one two three", "four five six")
    assert found["seen_before"] == found["seen_after"] == [0, 0]


def test_shingles_of_the_description_and_of_json_ld() -> None:
    hints = Hints((), "one two three", "four five six seven")
    found = features("One, two: three!", "five six seven eight", "nine ten eleven", hints=hints)
    assert found["in_description"] == [1, 0, 0]
    assert found["in_json_ld"] == [0, 0.5, 0]
    assert found["seen_before"] == found["seen_after"] == [0, 0, 0], "hints are no block"


def test_metadata_changes_no_other_feature() -> None:
    texts = [block.text for block in pages()[2].blocks]
    plain = features(*texts, title="Some title")
    other = features(*texts, title="Some title", hints=Hints(("a",), texts[0], " ".join(texts)))
    for name in set(NAMES) - {"in_description", "in_json_ld"}:
        assert other[name] == plain[name], name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 Comments", {"comments"}),
        ("You may also like", {"related"}),
        ("Sign up for our newsletter", {"subscribe"}),
        ("© 2020 All rights reserved", {"legal"}),
        ("相关推荐", {"related"}),
        ("Add to cart", {"price"}),
        ("The bypass was closed", set()),
        ("A commentary on newsletters long after the twelfth word of this plain prose subscribe", {"subscribe"}),
    ],
)
def test_cues_are_words_or_pairs_at_the_beginning(text: str, expected: set[str]) -> None:
    assert cues(text) == expected


@pytest.mark.parametrize("number", range(11))
def test_word_features_of_real_pages_against_plain_loops(number: int) -> None:
    page = pages()[number]
    texts = [block.text for block in page.blocks]
    words, title = [words_of(text) for text in texts], set(words_of(page.title))
    found, counts = features(*texts, title=page.title), compute_text_features(texts, page.title)[1]
    frequency = Counter(word for own in words for word in own)
    least = min(count for _, count in frequency.most_common(FREQUENT_WORDS))
    expected = {
        "of_title": [len(set(own) & title) / max(len(set(own)), 1) for own in words],
        "title_covered": [len(set(own) & title) / max(len(title), 1) for own in words],
        "frequent_words": [np.mean([frequency[word] >= least for word in own[:HEAD_WORDS]] or [0]) for own in words],
        "short_words": [np.mean([len(word) <= 3 for word in own[:HEAD_WORDS]] or [0]) for own in words],
        "distinct_words": [len(set(own)) / max(len(own), 1) for own in words],
        "copied_before": [np.log1p(texts[:index].count(text)) for index, text in enumerate(texts)],
        "copied_after": [np.log1p(texts[index + 1 :].count(text)) for index, text in enumerate(texts)],
        "seen_before": [seen(own, words[:index]) for index, own in enumerate(words)],
        "seen_after": [seen(own, words[index + 1 :]) for index, own in enumerate(words)],
    }
    assert counts.tolist() == [len(own) for own in words]
    for name, values in expected.items():
        assert found[name] == pytest.approx(np.array(values, float), abs=1e-6), name


def seen(own: list[str], others: list[list[str]]) -> float:
    known = {tuple(words[at : at + 3]) for words in others for at in range(len(words) - 2)}
    shingles = [tuple(own[at : at + 3]) for at in range(len(own) - 2)]
    return sum(shingle in known for shingle in shingles) / max(len(shingles), 1)
