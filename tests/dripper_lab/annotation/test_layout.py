"""Sampling by layout: pages that differ in structure, always the same ones."""

import numpy as np

from dripper.html import preprocess
from dripper_lab.annotation.layout import ALIKE, choose_pages, clusters_of, layout_of
from support.labelled import pages


def story(number: int, words: str = "rain") -> str:
    return f"<div class=wrap-{number}><article class=story><h1>{words}</h1>{f'<p>{words}</p>' * (20 + number % 3)}</article></div>"


def shop(number: int) -> str:
    items = "<li class=item><a href=/x>name</a><span class=price>9</span></li>" * (10 + number % 4)
    return f"<div class=shop><ul class=items>{items}</ul></div>"


SITES = ["a.org"] * 8 + ["b.org"] * 2
LAYOUTS = np.array(
    [layout_of(preprocess(html).elements) for html in [*map(story, range(6)), shop(0), shop(1), shop(2), story(9)]]
)


def test_text_and_numbers_play_no_part() -> None:
    one, two = (layout_of(preprocess(html).elements) for html in (story(1), story(4, "Something else")))
    assert np.allclose(one, two)
    assert np.isclose(np.linalg.norm(one), 1)


def test_pages_that_are_built_alike_are_one_cluster() -> None:
    assert [sorted(cluster.tolist()) for cluster in clusters_of(LAYOUTS[:8])] == [[0, 1, 2, 3, 4, 5], [6, 7]]


def test_every_layout_gives_a_page_before_one_gives_its_second() -> None:
    chosen = choose_pages(SITES, LAYOUTS, 2)
    assert sorted("shop" if page in (6, 7, 8) else "story" for page in chosen) == ["shop", "story"]
    assert choose_pages(SITES, LAYOUTS, 2) == chosen
    assert choose_pages(SITES, LAYOUTS, 10) == list(range(10))
    assert choose_pages(SITES, LAYOUTS, 99) == list(range(10))
    assert {tuple(choose_pages(SITES, LAYOUTS, 4, seed)) for seed in range(5)} != {
        tuple(choose_pages(SITES, LAYOUTS, 4))
    }


def test_real_pages_of_different_sites_are_not_alike() -> None:
    layouts = np.array([layout_of(page.elements) for page in pages()])
    similarity = layouts @ layouts.T
    np.fill_diagonal(similarity, 0)
    assert similarity.max() < ALIKE
