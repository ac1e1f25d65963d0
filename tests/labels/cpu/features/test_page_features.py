"""All features of a page together."""

import numpy as np
import pytest

from dripper.html import preprocess
from dripper.labels.cpu.features.page_features import NAMES, STRUCTURE_NAMES, compute_features
from dripper.labels.cpu.features.places import LEVELS
from support.labelled import pages


def column(features: np.ndarray, name: str) -> list[float]:
    return features[:, NAMES.index(name)].tolist()


@pytest.mark.parametrize("number", range(11))
def test_a_row_a_block_a_column_a_name(number: int) -> None:
    page = pages()[number]
    blocks, words, _ = compute_features(page)
    assert blocks.features.shape == (len(page.blocks), len(NAMES))
    assert blocks.starts.shape == blocks.ends.shape == (len(page.blocks), LEVELS + 1)
    assert words.shape == (len(page.blocks),)
    assert np.isfinite(blocks.features).all()
    assert len(set(NAMES)) == len(NAMES)


def test_the_last_range_is_the_whole_page() -> None:
    blocks, *_ = compute_features(pages()[0])
    assert set(blocks.starts[:, -1]) == {0}
    assert set(blocks.ends[:, -1]) == {len(pages()[0].blocks)}


def test_a_page_without_blocks_has_no_rows() -> None:
    blocks, words, _ = compute_features(preprocess(""))
    assert blocks.features.shape == (0, len(NAMES))
    assert blocks.starts.shape == (0, LEVELS + 1)
    assert words.shape == (0,)


def test_a_page_of_images_alone_has_features() -> None:
    blocks, words, _ = compute_features(preprocess("<p><img src='a.png'></p><p><img src='b.png'></p>"))
    assert np.isfinite(blocks.features).all()
    assert words.tolist() == [0, 0]


def test_position_and_headings() -> None:
    long = "word " * 60
    page = preprocess(f"<h1>Title</h1><p>{long}</p><p>b</p><h2>Part</h2><p>c</p>")
    features = compute_features(page).blocks.features
    assert column(features, "position") == pytest.approx([0, 0.2, 0.4, 0.6, 0.8])
    assert column(features, "heading_level") == [1, 1, 1, 2, 2]
    assert column(features, "since_heading") == pytest.approx(np.log1p([0, 1, 2, 0, 1]))
    assert column(features, "since_long") == pytest.approx(np.log1p([1, 0, 1, 2, 3]))
    assert column(features, "until_long") == pytest.approx(np.log1p([1, 0, 3, 2, 1]))
    assert column(features, "share_of_longest")[1] == 1


def test_the_same_page_gives_the_same_bits() -> None:
    html = pages()[5].mapping_html
    first, second = (compute_features(preprocess(html)).blocks.features for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize(
    "html",
    [
        "<p>a</p>" * 20_000,
        "<div>" * 300 + "x" + "</div>" * 300,
        "<p>" + "word " * 200_000,
        "<ul>" + "<li><a href='/'>x</a></li>" * 20_000 + "</ul>",
        f"<div class='{'comment ' * 50_000}'><p>a</p></div>",
    ],
    ids=["blocks", "depth", "one long block", "links", "a long class"],
)
def test_hostile_pages_have_finite_features(html: str) -> None:
    page = preprocess(html)
    blocks, words, _ = compute_features(page)
    assert np.isfinite(blocks.features).all()
    assert len(words) == len(page.blocks) > 0


def test_the_structure_counts_elements_fields_and_declared_types() -> None:
    page = preprocess(
        '<meta property="og:type" content="product"><form><input type="email" name="a"><input TYPE="EMAIL" name="b">'
        "<input name=c><p>Ash, oak</p></form>"
    )
    structure = dict(zip(STRUCTURE_NAMES, compute_features(page).structure.tolist(), strict=True))
    assert structure["product"] == 1
    assert (structure["recipe"], structure["field_text"], structure["table"]) == (0, 0, 0)
    assert np.expm1([structure["input"], structure["form"], structure["field_email"]]) == pytest.approx(
        [3, 1, 2], abs=0.01
    )
    assert compute_features(preprocess("")).structure.tolist() == [0] * len(STRUCTURE_NAMES)
