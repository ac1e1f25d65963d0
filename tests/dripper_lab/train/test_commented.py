"""Made-up comment sections, and real pages with them put under their content."""

import numpy as np
import pytest

from dripper.html import preprocess
from dripper_lab.train.commented import MARK, Commenter, comment_section
from dripper_lab.train.examples import Example, example_of, read_examples
from support.labelled import labelled_pages, pages


def commenter(seed: int = 0) -> Commenter:
    made = Commenter(np.random.default_rng(seed))
    made.read("\n".join(f"This is line number {number} of something that somebody wrote." for number in range(50)))
    return made


@pytest.fixture(scope="module")
def pairs() -> list[tuple[Example, Example]]:
    both = []
    for page, labelled in zip(pages(), labelled_pages(), strict=True):
        example = example_of(page, labelled)
        made = commenter(len(both)).add_comments(page, example)
        if made is not None:
            both.append((example, made))
    return both


def test_articles_get_comments_and_forums_none(pairs: list[tuple[Example, Example]]) -> None:
    assert pairs
    assert all(made.comments.any() for _, made in pairs)
    assert "forum" not in {example.page_type for example, _ in pairs}
    assert "article" in {example.page_type for example, _ in pairs}


def test_the_truth_stays_and_comments_are_no_part_of_it(pairs: list[tuple[Example, Example]]) -> None:
    for example, made in pairs:
        assert made.matched.sum() == pytest.approx(example.matched.sum(), rel=0.05)
        assert not made.matched[made.comments].any()
        assert made.f1(made.main) > 0.95
        assert (made.key, made.host, made.page_type) == (example.key, example.host, example.page_type)


def test_the_rest_of_the_page_keeps_its_blocks(pairs: list[tuple[Example, Example]]) -> None:
    for example, made in pairs:
        others = made.words[~made.comments]
        assert others.sum() == example.words.sum()


def test_without_lines_there_are_no_comments() -> None:
    page, labelled = pages()[0], labelled_pages()[0]
    silent = Commenter(np.random.default_rng(0))
    assert silent.add_comments(page, example_of(page, labelled)) is None
    assert silent(page, example_of(page, labelled), "A line that is long enough to be remembered.") is None
    assert silent.lines[False] == ["A line that is long enough to be remembered."]


def test_scripts_without_spaces_are_kept_apart() -> None:
    made = Commenter(np.random.default_rng(0))
    made.read(
        "short\n"
        + "这是一个足够长的句子，用来当作评论的内容，没有空格，也没有其他文字。\nA long enough line in English, too."
    )
    assert [len(made.lines[kind]) for kind in (True, False)] == [1, 1]


def test_a_page_that_is_text_alone_gets_them_at_the_end() -> None:
    labelled = labelled_pages()[0]
    page = preprocess("<body>Nothing but this one text, which is main.</body>")
    example = example_of(page, labelled)
    example.matched[:] = example.words
    made = commenter().add_comments(page, Example(**{**_fields(example), "page_type": ""}))
    assert made is not None
    assert not made.comments[0]
    assert made.comments[1:].all()


def test_reading_examples_makes_them_along_the_way() -> None:
    examples = list(read_examples(labelled_pages(), {"commented": [Commenter(np.random.default_rng(0))]}))
    assert examples[0].commented is None, "nothing was read before"
    assert any(example.commented is not None for example in examples[1:])
    assert all(example.commented is None for example in read_examples(labelled_pages()[:2]))


def _fields(example: Example) -> dict[str, object]:
    return {name: getattr(example, name) for name in Example.__dataclass_fields__}


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
