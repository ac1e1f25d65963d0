"""Made-up comment sections."""

import numpy as np
import pytest

from dripper.html import preprocess
from dripper_lab.train.commented import MARK, comment_section


@pytest.mark.parametrize("seed", range(40))
def test_every_text_stands_in_the_section_in_order(seed: int) -> None:
    texts = [f"Comment number {number} & <more>\nSecond paragraph." for number in range(5)]
    section = comment_section(texts, "A <title>", np.random.default_rng(seed))
    page = preprocess(f"<body><p>Before</p>{section}<p>After</p></body>")
    text = "\n".join(block.text for block in page.blocks)
    places = [text.index(f"Comment number {number} & <more>") for number in range(5)]
    assert places == sorted(places)
    assert text.count("Second paragraph.") == 5
    assert text.startswith("Before")
    assert text.endswith("After")
    assert section.count(MARK) == 1


def test_markup_varies_and_repeats_itself_by_seed() -> None:
    sections = [comment_section(["a"], "t", np.random.default_rng(seed)) for seed in range(60)]
    assert len(set(sections)) > 40
    assert any("<li" in one for one in sections)
    assert any("comment" in one.replace(MARK, "").lower() for one in sections)
    assert not all("class=" in one for one in sections), "on some pages names tell nothing"
    assert sections == [comment_section(["a"], "t", np.random.default_rng(seed)) for seed in range(60)]
