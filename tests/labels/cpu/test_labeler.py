"""The labeler `cpu` with the weights that ship."""

import math
import re
import string
from dataclasses import replace

import numpy as np
import pytest

from dripper.html import PROFILES, preprocess
from dripper.labels.align import labels_from_text
from dripper.labels.cpu import labeler as module
from dripper.labels.cpu.decide import KINDS, decide
from dripper.labels.cpu.entry import Conventions
from dripper.labels.cpu.features.page_features import compute_features
from dripper.labels.cpu.labeler import CpuLabeler
from dripper.labels.cpu.second_opinion import DOUBTFUL
from dripper.labels.cpu.weights import load_weights
from dripper_lab.train.kinds import ALIASES
from support.labelled import labelled_pages, pages

ARTICLE = """<body><nav><ul><li><a href="/">Home</a></li><li><a href="/n">News</a></li></ul></nav>
<article><h1>Flood in the lower town</h1>
<p>The river rose over night, and the lower town was under water by morning. Forty houses have to be rebuilt.</p>
<p>Nobody was hurt. "We had an hour," said the mayor, "and that was enough to wake everybody up and get them out."</p>
<p>It is the third flood in ten years. The dam that was promised after the first one has never been built.</p></article>
<aside><h3>Related</h3><a href="/1">Storm over the bay</a></aside>
<footer>© 2020 The Paper. All rights reserved. <a href="/p">Privacy</a></footer></body>"""

COMMENTS = (
    "<div id='comments'><h3>3 Comments</h3>"
    + "".join(
        f"<div class='comment'><b>{name} says:</b> <p>My neighbour {said}, and I would like to know who pays.</p></div>"
        for name, said in (("Anna", "lost his car"), ("Peter", "had no water"), ("Guest", "told me the same thing"))
    )
    + "</div>"
)


@pytest.fixture(scope="module")
def labeler() -> CpuLabeler:
    return CpuLabeler.load()


def test_a_plain_article(labeler: CpuLabeler) -> None:
    page = preprocess(ARTICLE)
    (labels,) = labeler.label([page])
    main = " ".join(block.text for block, is_main in zip(page.blocks, labels.main, strict=True) if is_main)
    assert "The river rose" in main
    assert "third flood" in main
    assert "All rights reserved" not in main
    assert "Storm over the bay" not in main


def test_letters_without_case_are_labelled_as_small_letters(labeler: CpuLabeler) -> None:
    """Of the training pages hardly any are in Arabic or Hebrew."""
    small = re.sub(r">[^<]+<", lambda text: text[0].lower(), ARTICLE)
    alphabets = ("αβγδεζηθικλμνξοπρστυφχψωϐϑ", "אבגדהוזחטיךכלםמןנסעףפץצקרש")
    tables = [str.maketrans(string.ascii_lowercase, alphabet) for alphabet in alphabets]
    texts = [re.sub(r">[^<]+<", lambda text, table=table: text[0].translate(table), small) for table in tables]
    greek, hebrew = labeler.label([preprocess(text) for text in texts])
    assert np.array_equal(greek.probability, hebrew.probability)
    assert (greek.page_kind, greek.confidence) == (hebrew.page_kind, hebrew.confidence)


def test_real_pages_come_out_close_to_their_truth(labeler: CpuLabeler) -> None:
    scores = []
    for page, truth, labels in zip(pages(), labelled_pages(), labeler.label(pages()), strict=True):
        expected = labels_from_text([block.text for block in page.blocks], truth.truth_text)
        words = np.array([len(block.text.split()) for block in page.blocks])
        both = words[expected & labels.main].sum()
        scores.append(2 * both / max(1, words[expected].sum() + words[labels.main].sum()))
    # These pages are among the training pages: a floor against a broken pipeline, not a score.
    assert np.mean(scores) > 0.85


def test_shapes_types_and_ranges(labeler: CpuLabeler) -> None:
    for page, labels in zip(pages(), labeler.label(pages()), strict=True):
        assert labels.main.shape == labels.probability.shape == (len(page.blocks),)
        assert labels.main.dtype == np.bool_
        assert labels.probability.dtype == np.float32
        assert ((labels.probability >= 0) & (labels.probability <= 1)).all()
        assert labels.main.any()
        assert 0 < labels.confidence <= 1


def test_pages_do_not_influence_each_other(labeler: CpuLabeler) -> None:
    together = labeler.label(pages())
    for page, labels in zip(pages(), together, strict=True):
        (alone,) = labeler.label([page])
        assert np.array_equal(alone.main, labels.main)
        assert alone.probability.tobytes() == labels.probability.tobytes()
        assert alone.confidence == labels.confidence


def test_empty_inputs(labeler: CpuLabeler) -> None:
    assert labeler.label([]) == []
    (labels,) = labeler.label([preprocess("")])
    assert labels.main.shape == labels.probability.shape == (0,)
    (images,) = labeler.label([preprocess("<p><img src='a.png'></p>")])
    assert images.main.shape == (1,)


def test_a_page_with_words_is_never_empty(labeler: CpuLabeler) -> None:
    for html in ("<p>word", "<footer><a href='/'>© Terms</a></footer>", "<nav>" + "<a href='/'>x</a><br>" * 50):
        assert labeler.label([preprocess(html)])[0].main.any()


def test_long_pages_are_labelled_in_windows(labeler: CpuLabeler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WINDOW_BLOCKS", 7)
    page = preprocess(ARTICLE + "".join(f"<p>Sentence number {n} of a long page.</p>" for n in range(30)))
    (labels,) = labeler.label([page])
    assert labels.main.shape == (len(page.blocks),)
    assert len(page.blocks) > 4 * 7
    assert all(len(values) == len(page.blocks) for values in labeler.reasons(page).values())


def test_a_page_of_many_windows_loses_no_part_of_what_is_all_alike(labeler: CpuLabeler) -> None:
    line = "<p>Paragraph number {} of a very long page, with a few words more that nobody reads.</p>"
    page = preprocess("".join(map(line.format, range(40_000))))
    (labels,) = labeler.label([page])
    assert labels.main[:-1].all()


def test_where_windows_meet_a_block_has_the_neighbours_that_it_has(
    labeler: CpuLabeler, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = preprocess(ARTICLE + "<p>Sentence of a long page, as all are.</p>" * 600)
    monkeypatch.setattr(module, "WINDOW_BLOCKS", 300)
    seam = math.ceil(len(page.blocks) / 3)
    spread = []
    for margin in (module.MARGIN_BLOCKS, 0):
        monkeypatch.setattr(module, "MARGIN_BLOCKS", margin)
        spread.append(np.ptp(labeler.label([page])[0].probability[seam - 30 : seam]))
    assert spread[0] < 0.01 < spread[1]


def test_the_other_networks_speak_on_doubtful_pages_only(labeler: CpuLabeler) -> None:
    weights = load_weights()
    assert weights.others
    doubted = []
    for page, alone, labels in zip(
        pages(), CpuLabeler(replace(weights, others=())).label(pages()), labeler.label(pages()), strict=True
    ):
        same = np.array_equal(alone.probability, labels.probability)
        decision = decide(alone.probability.astype(np.float64), compute_features(page).words)
        doubted.append(decision.expected_f1 < DOUBTFUL)
        assert same == (not doubted[-1]), page.title
    # So that the tests of equal bits see both kinds.
    assert 0 < sum(doubted) < len(doubted)


def test_the_kind_of_a_page_is_said(labeler: CpuLabeler) -> None:
    kinds = [ALIASES.get(page.page_type or "", page.page_type) for page in labelled_pages()]
    found = [labels.page_kind for labels in labeler.label(pages())]
    assert set(found) <= set(KINDS)
    # These pages are among the training pages: a floor against a broken pipeline, not a score.
    assert np.mean([one == other for one, other in zip(found, kinds, strict=True)]) > 0.6
    (nothing,) = labeler.label([preprocess("<p><img src='a.png'></p>")])
    assert (nothing.page_kind, nothing.confidence) == ("nothing", 0.0)


def test_weights_of_other_features_are_refused() -> None:
    weights = load_weights()
    with pytest.raises(ValueError, match="other features"):
        CpuLabeler(replace(weights, feature_names=("a", *weights.feature_names[1:])))


def test_conventions_change_what_is_main_and_the_default_is_none() -> None:
    page = preprocess("<title>Flood in the lower town</title>" + ARTICLE.replace("</article>", COMMENTS + "</article>"))
    texts = [block.text for block in page.blocks]
    kept = {}
    for wish in ("exclude", "include"):
        (labels,) = CpuLabeler.load(conventions=Conventions(comments=wish, title=wish)).label([page])
        kept[wish] = {text for text, is_main in zip(texts, labels.main, strict=True) if is_main}
    said = {text for text in texts if "neighbour" in text}
    assert len(said) == 3
    assert said <= kept["include"]
    assert not said & kept["exclude"]
    assert "Flood in the lower town" in kept["include"] - kept["exclude"]
    assert any("third flood" in text for text in kept["exclude"])


def test_name_and_version(labeler: CpuLabeler) -> None:
    assert labeler.name == "cpu"
    assert labeler.version == load_weights().version


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_every_profile_of_blocks_can_be_labelled(labeler: CpuLabeler, profile: str) -> None:
    page = preprocess(ARTICLE, profile=profile)
    (labels,) = labeler.label([page])
    main = " ".join(block.text for block, is_main in zip(page.blocks, labels.main, strict=True) if is_main)
    assert "third flood" in main
    assert "All rights reserved" not in main
