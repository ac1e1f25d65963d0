"""Truth texts to block labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.labels import align
from dripper.labels.align import labels_from_text, match_shares
from dripper.labels.words import words_of

STORY = "The river rose over night and the lower town was under water by morning"
SECOND = "Nobody was hurt but forty houses have to be rebuilt before the winter comes"
WORD = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h", "river", "town"])
BLOCKS = st.lists(st.lists(WORD, max_size=12), max_size=8)


def shares(blocks: list[str], text: str) -> list[float]:
    return [round(float(share), 3) for share in match_shares([words_of(block) for block in blocks], words_of(text))]


def test_blocks_of_the_text_are_matched_and_others_are_not() -> None:
    assert shares(["Home News Sport", STORY, "Share this", SECOND, "© 2020"], f"{STORY}. {SECOND}!") == [0, 1, 0, 1, 0]


def test_case_and_punctuation_do_not_matter() -> None:
    assert shares([STORY.upper().replace(" ", " - ")], STORY) == [1]


def test_stray_common_words_do_not_count() -> None:
    assert shares(["and the kitchen sink was for sale in the garden", STORY], STORY)[0] == 0


def test_a_short_heading_counts_though_it_is_no_long_run() -> None:
    assert shares(["Flood", STORY], f"Flood {STORY}") == [1, 1]


def test_half_a_block_is_half_matched() -> None:
    assert shares([f"{STORY} xx yy zz"], STORY) == pytest.approx([14 / 17], abs=0.001)


def test_a_text_in_another_order_is_still_found() -> None:
    assert shares([SECOND, STORY, STORY.replace("river", "lake")], f"{STORY} {SECOND}")[0] == 1


def test_a_repeated_block_is_matched_once() -> None:
    assert sum(shares([STORY, "x", STORY], STORY)) == 1


def test_nothing_to_match() -> None:
    assert shares([], STORY) == []
    assert shares(["", "--", "word"], "") == [0, 0, 0]


def test_huge_inputs_are_matched_by_shingles_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(align, "MAX_WORD_PAIRS", 10)
    assert shares(["Home News Sport", STORY, SECOND], f"{SECOND} {STORY}") == [0, 1, 1]


@settings(deadline=None)
@given(BLOCKS, st.lists(WORD, max_size=40))
def test_shares_are_shares(blocks: list[list[str]], text: list[str]) -> None:
    result = match_shares(blocks, text)
    assert result.shape == (len(blocks),)
    assert ((result >= 0) & (result <= 1)).all()
    assert all(share == 0 for share, block in zip(result, blocks, strict=True) if not block)


@settings(deadline=None)
@given(st.lists(st.lists(WORD, min_size=3, max_size=12), min_size=1, max_size=8))
def test_the_whole_page_as_text_matches_every_block(blocks: list[list[str]]) -> None:
    assert (match_shares(blocks, [word for block in blocks for word in block]) == 1).all()


def test_labels_need_half_of_the_words() -> None:
    labels = labels_from_text([STORY, f"{STORY} {' '.join('abcdefghijklmnopqrst')}", "menu"], f"{STORY} {STORY}")
    assert np.array_equal(labels, [True, False, False])
