"""Real pages, cut short, with sections of other real pages around them."""

from dataclasses import replace

import numpy as np
import pytest

from dripper.html import preprocess
from dripper_lab.train.crowded import KINDS, Crowder
from dripper_lab.train.examples import Example, example_of
from support.labelled import labelled_pages, pages


def all_examples() -> list[Example]:
    return [example_of(page, labelled) for page, labelled in zip(pages(), labelled_pages(), strict=True)]


@pytest.fixture(scope="module")
def crowder() -> Crowder:
    made = Crowder(np.random.default_rng(0))
    for page, example in zip(pages(), all_examples(), strict=True):
        made.read(page, example)
    return made


@pytest.fixture(scope="module")
def pairs(crowder: Crowder) -> list[tuple[Example, Example]]:
    both = []
    for _ in range(4):
        for page, example in zip(pages(), all_examples(), strict=True):
            made = crowder.crowd(page, example)
            if made is not None:
                both.append((example, made))
    return both


def test_articles_are_crowded_and_lists_are_not(pairs: list[tuple[Example, Example]]) -> None:
    kinds = {example.page_type for example, _ in pairs}
    assert "article" in kinds
    assert kinds <= KINDS


def test_what_is_added_is_not_main(pairs: list[tuple[Example, Example]]) -> None:
    for example, made in pairs:
        assert made.main.any()
        assert made.words[~made.main].sum() > example.words[~example.main].sum()
        assert made.truth_words <= example.words[example.main].sum()
        assert (made.key, made.host, made.page_type) == (example.key, example.host, example.page_type)


def test_the_truth_is_what_stays_of_the_main_blocks(pairs: list[tuple[Example, Example]]) -> None:
    for _, made in pairs:
        assert made.f1(made.main) > 0.9


def test_some_articles_are_cut_and_some_are_not(pairs: list[tuple[Example, Example]]) -> None:
    shares = [made.truth_words / example.words[example.main].sum() for example, made in pairs]
    assert min(shares) < 0.6
    assert max(shares) > 0.95


def test_the_same_draw_gives_the_same_pages() -> None:
    def made() -> list[Example | None]:
        crowder = Crowder(np.random.default_rng(7))
        return [crowder(page, example) for page, example in zip(pages(), all_examples(), strict=True)]

    for one, other in zip(made(), made(), strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            np.testing.assert_array_equal(one.blocks.features, other.blocks.features)
            np.testing.assert_array_equal(one.matched, other.matched)


def test_without_sections_nothing_is_made() -> None:
    page, example = pages()[0], all_examples()[0]
    assert Crowder(np.random.default_rng(0)).crowd(page, example) is None


def test_sections_of_an_article_hold_nothing_of_its_truth() -> None:
    teasers = "".join(f"<p>Teaser {number}: {'something else ' * 8}</p>" for number in range(4))
    page = preprocess(f"<body><main><p>{'The story itself. ' * 20}</p></main><div class=side>{teasers}</div></body>")
    example = example_of(page, labelled_pages()[0])
    matched = np.where([block.text.startswith("The story") for block in page.blocks], example.words, 0.0)
    example = replace(example, page_type="article", matched=matched)
    crowder = Crowder(np.random.default_rng(0))
    crowder.read(page, example)
    assert len(crowder.sections[False]) == 1
    assert "Teaser 3" in crowder.sections[False][0]
    assert "story" not in crowder.sections[False][0]


def test_what_is_main_on_a_list_is_a_section_for_others_but_posts_of_a_forum_are_not() -> None:
    items = "".join(f"<p>Item {number}: {'a thing to buy ' * 8}</p>" for number in range(4))
    page = preprocess(f"<body><div class=items>{items}</div></body>")
    example = example_of(page, labelled_pages()[0])
    example = replace(example, matched=example.words.astype(float))
    for kind, found in (("listing", 1), ("article", 0), ("forum", 0)):
        crowder = Crowder(np.random.default_rng(0))
        crowder.read(page, replace(example, page_type=kind))
        assert len(crowder.sections[False]) == found
