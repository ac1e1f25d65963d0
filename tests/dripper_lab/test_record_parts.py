"""Records, and the same position in neighbouring records."""

import time

import numpy as np
import pytest

from dripper.html import preprocess
from dripper_lab.record_parts import PART_NAMES, find_parts

CARD = '<li class="card n{0}"><a href="/{0}"><img src="{0}.png"></a><h3>Lamp {0}</h3><p>{0}9,95</p><button>Quick view</button></li>'
SHELF = f"<p>Lamps</p><ul>{''.join(CARD.format(n) for n in range(1, 6))}</ul><p>Contact</p>"


def read(html):
    page = preprocess(html)
    inner, outer = find_parts(page.elements, page.blocks)
    return [block.text.strip() for block in page.blocks], inner, outer


def column(parts, name):
    return parts.features[:, PART_NAMES.index(name)]


def test_parts_of_cards_are_known_by_their_position():
    texts, inner, _ = read(SHELF)
    assert inner.records.tolist() == [-1, *(n for n in range(5) for _ in range(4)), -1]
    first = texts.index("Lamp 1")
    title, price, control = first, first + 1, first + 2
    assert inner.slots[title + 4] == inner.slots[title] != inner.slots[price]
    assert column(inner, "distinct")[[title, price, control]] == pytest.approx([1, 1, 0.2])
    assert column(inner, "same_text")[[title, control]] == pytest.approx([0.2, 1])
    assert column(inner, "price")[[title, price]].tolist() == [0, 1]
    assert column(inner, "control")[[title, control]].tolist() == [0, 1]
    assert column(inner, "picture")[first - 1] == 1
    assert column(inner, "shared")[1:-1].tolist() == [1] * 20
    assert not inner.features[[0, -1]].any()
    assert inner.mean(np.arange(22.0))[title] == 10


@pytest.mark.parametrize(
    "html",
    [
        "<dl>" + "<dt><div>Wood</div></dt><dd><p>Ash</p></dd>" * 4 + "</dl>",
        "<h2>Steps</h2>" + "<h3>Saw</h3><p>Twice.</p><p>Then rest.</p>" * 4,
        "<table>" + '<tr class="thing"><td><p>Ash</p></td></tr><tr><td><p>3 points</p></td></tr>' * 4 + "</table>",
    ],
)
def test_leaders_begin_records(html):
    texts, inner, _ = read(html)
    begins = [texts[index] for index in np.flatnonzero(np.diff(inner.records, prepend=-1))]
    assert len(begins) == 4
    assert len(set(begins)) == 1


def test_rows_of_a_shelf_are_one_list_and_cards_are_in_rows():
    card = '<div class="card"><p>Lamp</p><p>12 €</p></div>'
    _, inner, outer = read(f'<div class="row">{card * 2}</div>' * 3)
    assert len(set(inner.records.tolist())) == 6
    assert len(set(inner.slots.tolist())) == 2
    assert len(set(outer.records.tolist())) == 3


def test_paragraphs_are_no_records():
    assert set(read("<p>a</p>" * 9)[1].records.tolist()) == {-1}


def test_cost_grows_with_the_page():
    def measure(n):
        page = preprocess(f"<ul>{CARD * n}</ul>" + "<dl><dt><p>a</p><dd><p>b</p>" * (n // 20))
        start = time.process_time()
        find_parts(page.elements, page.blocks)
        return time.process_time() - start

    measure(10)
    assert measure(4000) < 40 * measure(400)
