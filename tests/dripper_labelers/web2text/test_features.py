"""Each of the 128 and of the 25 features, on pages small enough to count by hand."""

import math
from functools import cache

import numpy as np
import pytest

from dripper.html import preprocess
from dripper_labelers.web2text.features import (
    LEAF_TAGS,
    NAMES,
    NODE_NAMES,
    PAIR_NAMES,
    PARENT_TAGS,
    PageFeatures,
    compute_block_features,
    is_binary,
)
from support.labelled import pages

HTML = (
    "<div><p>Hello World, this is a <a href=x>Text</a> of 1999.</p><p>Short</p></div>"
    "<ul><li class=a><p>me@x.org</p></li><li class=a><p>© http://x.org/</p></li></ul>"
    "<form><p>Do you? </p><p>Yes. No.</p><input></form><p>Short</p>"
)
TEXTS = ["Hello World, this is a Text of 1999.", "Short", "me@x.org", "© http://x.org/", "Do you?", "Yes. No.", "Short"]


@cache
def features() -> PageFeatures:
    return compute_block_features(preprocess(HTML))


def column(name: str) -> list[float]:
    return [float(value) for value in features().leaves[:, NAMES.index(name)]]


def pair_column(name: str) -> list[float]:
    return [float(value) for value in features().pairs[:, PAIR_NAMES.index(name)]]


def about(*values: float) -> object:
    return pytest.approx(list(values), abs=1e-3)


def test_the_page_has_the_blocks_that_are_counted_below() -> None:
    assert [block.text.strip() for block in preprocess(HTML).blocks] == TEXTS


def test_there_are_as_many_as_in_the_paper() -> None:
    assert (len(NAMES), len(set(NAMES)), len(PAIR_NAMES)) == (128, 128, 25)
    assert features().leaves.shape == (7, 128)
    assert features().pairs.shape == (6, 25)
    for paper, name in ((1, "has_duplicate"), (4, "has_word"), (24, "punctuation_count"), (28, "has_parent"), (49, "parent_tag_td"),
                        (69, "has_grandparent"), (90, "root_body_share"), (110, "tag_a"), (128, "tag_blockquote")):  # fmt: skip
        assert NAMES[paper - 1] == name


def test_duplicates() -> None:
    assert column("has_duplicate") == [0, 1, 0, 0, 0, 0, 1]
    assert column("has_10_duplicates") == [0] * 7
    many, _ = compute_block_features(preprocess("<p>x</p>" * 11 + "<p>y</p>" * 10))
    assert many[:, NAMES.index("has_10_duplicates")].tolist() == [1] * 11 + [0] * 10


def test_same_class_path_ratio() -> None:
    assert column("same_class_path_ratio") == about(2 / 7, 2 / 7, 2 / 7, 2 / 7, 2 / 7, 2 / 7, 1 / 7)


def test_words() -> None:
    assert column("has_word") == [1] * 7
    assert column("log_words") == about(math.log(8), 0, math.log(3), math.log(3), math.log(2), math.log(2), 0)
    assert column("average_word_length") == about(27 / 8, 5, 3, 3, 3, 3, 5)
    long, _ = compute_block_features(preprocess("<p>" + "incomprehensibilities " * 50))
    assert long[0, NAMES.index("log_words")] == 3.5
    assert long[0, NAMES.index("average_word_length")] == 15


def test_stop_words() -> None:
    """this, is, a, of; me; do, you; no."""
    assert column("has_stop_word") == [1, 0, 1, 0, 1, 1, 0]
    assert column("stop_word_ratio") == about(4 / 8, 0, 1 / 3, 0, 1, 1 / 2, 0)


def test_characters() -> None:
    assert column("log_characters") == about(math.log(36), 2.5, 2.5, math.log(15), 2.5, 2.5, 2.5)
    assert column("log_punctuation_ratio") == about(math.log(2 / 36), -4, -2.5, -2.5, -2.5, -2.5, -4)
    assert column("contains_punctuation") == [1, 0, 1, 1, 1, 1, 0]
    assert column("punctuation_count") == [2, 0, 1, 2, 1, 2, 0]
    assert column("has_numeric") == [1, 0, 0, 0, 0, 0, 0]
    assert column("numeric_ratio") == about(4 / 36, 0, 0, 0, 0, 0, 0)
    assert column("capital_ratio") == about(3 / 8, 1, 0, 0, 1 / 2, 1, 1)
    assert column("capital_ratio_squared") == about(9 / 64, 1, 0, 0, 1 / 4, 1, 1)
    assert column("capital_ratio_cubed") == about(27 / 512, 1, 0, 0, 1 / 8, 1, 1)


def test_sentences() -> None:
    assert column("log_sentence_length") == about(math.log(36), 2, math.log(8), math.log(15), 2, 2, 2)
    assert column("has_multiple_sentences") == [0, 0, 0, 0, 0, 1, 0]
    assert column("ends_with_punctuation") == [1, 0, 0, 0, 1, 1, 0]
    assert column("ends_with_question_mark") == [0, 0, 0, 0, 1, 0, 0]


def test_signs() -> None:
    assert column("contains_copyright") == [0, 0, 0, 1, 0, 0, 0]
    assert column("contains_email") == [0, 0, 1, 0, 0, 0, 0]
    assert column("contains_url") == [0, 0, 0, 1, 0, 0, 0]
    assert column("contains_year") == [1, 0, 0, 0, 0, 0, 0]


def test_position() -> None:
    position = column("relative_position")
    assert position[0] == 0
    assert position == sorted(position)
    assert 0.9 < position[-1] < 1
    assert column("relative_position_squared") == about(*np.square(position))


def test_parents() -> None:
    assert column("has_parent") == [1] * 7
    assert column("has_grandparent") == [1] * 6 + [0]
    assert np.isnan(column("grandparent_link_density")).tolist() == [False] * 6 + [True]
    (alone,), _ = compute_block_features(preprocess("<p>alone</p>"))
    assert alone[NAMES.index("has_parent")] == 0
    assert np.isnan(alone[NAMES.index("parent_body_share")])
    for tag in PARENT_TAGS:
        expected = {
            "div": [1, 1, 0, 0, 0, 0, 0],
            "ul": [0, 0, 1, 1, 0, 0, 0],
            "form": [0, 0, 0, 0, 1, 1, 0],
            "body": [0] * 6 + [1],
        }
        assert column(f"parent_tag_{tag}") == expected.get(tag, [0] * 7)
    assert column("parent_tag_ul_again") == column("parent_tag_ul")


def test_own_tags() -> None:
    for tag in LEAF_TAGS:
        expected = {"p": [1] * 7, "li": [0, 0, 1, 1, 0, 0, 0]}
        assert column(f"tag_{tag}") == expected.get(tag, [0] * 7)


def test_text_features_of_a_node_are_of_all_its_text() -> None:
    """Of the parent of the first two blocks: 41 characters, 9 words, 2 sentences."""
    first = {name: column(f"parent_{name}")[0] for name in NODE_NAMES}
    expected = {
        "link_density": 4 / 41, "average_word_length": 32 / 9, "has_stop_word": 1, "stop_word_ratio": 4 / 9,
        "log_characters": math.log(41), "log_punctuation_ratio": math.log(2 / 41), "has_numeric": 1, "numeric_ratio": 4 / 41,
        "log_sentence_length": math.log(41 / 2), "ends_with_punctuation": 0, "ends_with_question_mark": 0,
        "contains_copyright": 0, "contains_email": 0, "contains_url": 0, "contains_year": 1, "capital_ratio": 4 / 9,
        "capital_ratio_squared": 16 / 81, "capital_ratio_cubed": 64 / 729, "contains_form_element": 0,
    }  # fmt: skip
    assert 0.2 < first.pop("body_share") < 0.5
    assert first == pytest.approx(expected, abs=1e-3)
    assert column("parent_contains_form_element") == [0, 0, 0, 0, 1, 1, 1]
    assert column("parent_ends_with_punctuation") == [0, 0, 0, 0, 1, 1, 0]


def test_the_root_is_the_body_for_all() -> None:
    for name in NODE_NAMES:
        assert len(set(column(f"root_{name}"))) == 1
    assert column("root_body_share") == [1] * 7
    assert column("root_link_density") == about(*[4 / 84] * 7)
    assert column("root_contains_copyright") == [1] * 7
    assert column("grandparent_link_density")[:6] == about(*[4 / 84] * 6)


def test_pairs() -> None:
    assert pair_column("distance_2") == [1, 0, 1, 0, 1, 0]
    assert pair_column("distance_3") == [0, 0, 0, 0, 0, 1]
    assert pair_column("distance_4") == [0, 1, 0, 1, 0, 0]
    assert pair_column("distance_more") == [0] * 6
    assert pair_column("line_break") == [1] * 6
    for name in NODE_NAMES:
        common = [column(f"{('parent', 'root')[leaf % 2]}_{name}")[leaf] for leaf in range(6)]
        assert pair_column(f"ancestor_{name}") == common


def test_a_link_around_blocks_is_a_link() -> None:
    leaves, _ = compute_block_features(
        preprocess("<div><a href=x><p>one two</p><p>three</p></a><p>four</p></div><p>five</p>")
    )
    inside = leaves[0, NAMES.index("parent_link_density")]
    assert inside == 1
    assert leaves[2, NAMES.index("parent_link_density")] == pytest.approx(12 / 16)


def test_other_scripts_have_words_sentences_and_stop_words() -> None:
    (leaf,), _ = compute_block_features(preprocess("<p>我的书在那里。你好吗？"))
    value = dict(zip(NAMES, leaf.tolist(), strict=True))
    assert (value["has_multiple_sentences"], value["ends_with_question_mark"], value["punctuation_count"]) == (1, 1, 2)
    assert value["has_stop_word"] == 1


def test_binary_features_are_binary_on_real_pages_and_no_feature_is_infinite() -> None:
    binary = [is_binary(name) for name in NAMES]
    assert sum(binary) == 81
    for page in pages():
        leaves, pairs = compute_block_features(page)
        assert len(leaves) == len(page.blocks) == len(pairs) + 1
        assert not np.isinf(leaves).any()
        assert not np.isinf(pairs).any()
        flags = leaves[:, binary]
        assert set(flags[~np.isnan(flags)].tolist()) <= {0.0, 1.0}


@pytest.mark.parametrize("html", ["", "<p>", "<img src=i.png>", "<p>x", "\x00", "<td>1<td>2", "<a href=x>y</a>z"])
def test_pages_of_next_to_nothing(html: str) -> None:
    page = preprocess(html)
    leaves, pairs = compute_block_features(page)
    assert leaves.shape == (len(page.blocks), 128)
    assert pairs.shape == (max(0, len(page.blocks) - 1), 25)
