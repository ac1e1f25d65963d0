"""How far annotators agree."""

import pytest

from dripper.html import preprocess
from dripper_lab.annotation.agreement import agree, report

PAGE = preprocess("<p>one two three four</p><p>five</p><p><img src=a.png></p><p>six seven eight</p>")


@pytest.mark.parametrize(
    ("one", "two", "words", "blocks"),
    [
        ((1, 2), (1, 2), 1, 1),
        ((1, 2, 3), (1, 2), 1, 1),  # a block without text does not count
        ((1, 2), (1, 4), 2 * 4 / (5 + 7), 0.5),
        ((), (), 1, 1),
        ((1,), (), 0, 0),
    ],
)
def test_f1_by_words_and_by_blocks(one: tuple[int, ...], two: tuple[int, ...], words: float, blocks: float) -> None:
    found = agree(PAGE, ("forum", "forum"), (one, two))
    assert (found.words, found.blocks) == (pytest.approx(words), pytest.approx(blocks))


def test_the_report_is_by_kind() -> None:
    pairs = [
        agree(PAGE, ("forum", "forum"), ((1, 2), (1, 2))),
        agree(PAGE, ("form", "article"), ((1, 2), (1, 4))),
        agree(PAGE, ("forum", "listing"), ((1,), ())),
    ]
    assert report(pairs).splitlines() == [
        "kind           pages F1 words F1 blocks same kind",
        "forum              2    0.500     0.500     0.500",
        "form               1    0.667     0.500     0.000",
        "all                3    0.556     0.500     0.333",
    ]
    unknown = agree(PAGE, ("forum", None), ((1,), (1,)))
    assert report([unknown]).splitlines()[1] == "forum              1    1.000     1.000         -"
    assert report([*pairs, unknown]).splitlines()[1].endswith("0.500")
    assert report([]) == "no page was annotated twice\n"
