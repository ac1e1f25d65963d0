"""The switch learns its parts, and does not change the network."""

from dataclasses import replace

import numpy as np
import pytest

from dripper.labels.cpu.entry import AS_LEARNED, Conventions
from dripper.labels.cpu.features.page_features import NAMES
from dripper.labels.cpu.labeler import normalize_page, score_blocks, score_main, score_parts
from dripper.labels.cpu.network import WEIGHT_STEPS, Shape
from dripper.labels.cpu.weights import Weights
from dripper_lab.train.examples import Example
from dripper_lab.train.switch import NOWHERE, with_switch
from dripper_lab.train.weights import list_weight_shapes
from support.made_examples import made_example

SHAPE = Shape((1,), (0,))


@pytest.fixture(scope="module")
def network() -> Weights:
    draw = np.random.default_rng(0)
    shapes = list_weight_shapes(SHAPE, len(NAMES), 6, 6, 2)
    matrices = {name: np.rint(draw.normal(0, 0.1, of) * WEIGHT_STEPS) / WEIGHT_STEPS for name, of in shapes.items()}
    return Weights(matrices, np.zeros(len(NAMES)), np.ones(len(NAMES)), SHAPE, NAMES, 1.0, 0.0)


def page(number: int) -> Example:
    """A page with one feature for comments, and another for the title."""
    example = made_example(number)
    features = example.blocks.features.copy()
    features[:, 5], features[:, 6] = -1, -1
    features[20:26, 5], features[3, 6] = 1, 1
    blocks = np.arange(30)
    plain = replace(example, blocks=example.blocks._replace(features=features), title=blocks == 3)
    return replace(plain, variants={"commented": (replace(plain, comments=(blocks >= 20) & (blocks < 26)),)})


def parts_of(weights: Weights, example: Example) -> np.ndarray:
    """Return the logits of comments and title of a page's blocks."""
    seen = normalize_page(weights, example.blocks)
    return score_parts(weights, seen, score_blocks(weights, seen)[1])


def test_comments_and_titles_are_found_on_other_pages(network: Weights) -> None:
    trained = with_switch(network, [page(number) for number in range(30)], 1.0)
    for number in range(100, 110):
        other = page(number)
        parts = parts_of(trained, other)
        assert ((parts[:, 0] > 0) == other.commented.comments).mean() > 0.95
        assert int(np.argmax(parts[:, 1])) == 3


def test_the_network_stays_and_the_switch_is_on_the_grid(network: Weights) -> None:
    trained = with_switch(network, [page(number) for number in range(5)], 10.0)
    assert all(np.array_equal(trained.matrices[name], value) for name, value in network.matrices.items())
    assert np.array_equal(trained.matrices["switch"] * WEIGHT_STEPS, np.rint(trained.matrices["switch"] * WEIGHT_STEPS))
    blocks = page(7).blocks
    assert np.array_equal(
        score_blocks(trained, normalize_page(trained, blocks))[0],
        score_blocks(network, normalize_page(network, blocks))[0],
    )


def test_posts_of_a_forum_are_no_comments(network: Weights) -> None:
    """If comments and posts differ in only one feature, it is learned from the forums."""

    def forum(number: int) -> Example:
        post = page(number)
        features = post.blocks.features.copy()
        features[:, 7] = 1
        return replace(post, blocks=post.blocks._replace(features=features), page_type="forum", variants={})

    trained = with_switch(network, [*map(page, range(30)), *map(forum, range(30, 60))], 1.0)
    assert (parts_of(trained, forum(100))[20:26, 0] < 0).all()


def test_without_pages_to_learn_from_nothing_is_found(network: Weights) -> None:
    trained = with_switch(network, [made_example(1)], 10.0)
    assert not trained.matrices["switch"].any()
    assert trained.matrices["switch_bias"].tolist() == [NOWHERE, NOWHERE]
    blocks, words = made_example(2).blocks, made_example(2).words
    asked = score_main(trained, blocks, words, Conventions("include", "include"))
    assert np.abs(asked - score_main(trained, blocks, words, AS_LEARNED)).max() < 0.001
