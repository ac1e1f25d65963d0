"""Passages of Markdown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dripper
from dripper.keep.posts import Post
from dripper.page.passages import Passage, passages
from support.golden import GoldenPage, list_pages

PAGES = list(list_pages())
RULE = re.compile(r"-{3,}|\*{3,}|_{3,}")


def kinds(markdown: str, max_words: int = 200) -> list[tuple[str, str]]:
    return [(each.kind, each.text) for each in passages(markdown, max_words)]


def assert_whole(markdown: str, found: list[Passage]) -> None:
    """Nothing but blanks and rules is between passages."""
    at = 0
    for each in found:
        assert each.text == markdown[each.offset : each.offset + len(each.text)]
        gap = markdown[at : each.offset].strip()
        assert not gap or RULE.fullmatch(gap), gap
        at = each.offset + len(each.text)
    rest = markdown[at:].strip()
    assert not rest or RULE.fullmatch(rest)


@pytest.mark.parametrize("max_words", [1, 60, 200])
@pytest.mark.parametrize("page", PAGES, ids=[page.folder.name for page in PAGES])
def test_passages_of_golden_pages(page: GoldenPage, max_words: int) -> None:
    markdown = (page.folder / "expected.md").read_text(encoding="utf-8")
    found = passages(markdown, max_words)
    assert_whole(markdown, found)
    assert found == passages(markdown, max_words)
    for each in found:
        assert each.text.count("\n```") % 2 == each.text.startswith("```")
        heading = re.match(r"(?:#+ .*\n+)*#+ (.*)", each.text)
        assert heading is None or each.headings


@given(st.text(alphabet="# ab.|-*1`>\n[]()\\。", max_size=200), st.integers(1, 8))
def test_no_character_is_lost(markdown: str, max_words: int) -> None:
    assert_whole(markdown, passages(markdown, max_words))


def test_tables_items_and_code_stay_whole() -> None:
    table = "| a | b |\n|---|---|\n| one two | three four |"
    code = "```py\none = two\n\n# three\n- four\n```"
    first, second = "- one two three\n\n  four five\n  - six", "- seven eight"
    assert kinds(f"Before.\n\n{table}\n\n{code}\n\n{first}\n{second}\n\nAfter.", 2) == [
        ("prose", "Before."),
        ("table", table),
        ("code", code),
        ("list", first),
        ("list", second),
        ("prose", "After."),
    ]


def test_paragraphs_are_cut_between_sentences_outside_brackets() -> None:
    text = "One two. Three [four. Five](https://e.org/a.b) six. Seven *eight. Nine* ten. `e. g.` it."
    assert [words for _, words in kinds(text, 2)] == [
        "One two.",
        "Three [four. Five](https://e.org/a.b) six.",
        "Seven *eight. Nine* ten.",
        "`e. g.` it.",
    ]
    assert [words for _, words in kinds("一二。三四。五六。", 4)] == ["一二。三四。", "五六。"]
    assert kinds("> One. Two.\n>\n> Three.", 1) == [("prose", "> One. Two.\n>\n> Three.")]


def test_headings_lead_to_each_passage() -> None:
    markdown = "# A\n\nx\n\n## B\\_1\n\n### C\n\ny\n\n## D\n\nz\n"
    assert [(each.headings, each.text) for each in passages(markdown)] == [
        (("A",), "# A\n\nx"),
        (("A", "B_1", "C"), "## B\\_1\n\n### C\n\ny"),
        (("A", "D"), "## D\n\nz"),
    ]


def test_posts_have_their_author_and_date() -> None:
    page = next(page for page in PAGES if page.folder.name == "thread-german")
    result = dripper.extract((page.folder / "source.html").read_bytes(), page.about.get("source"))
    found = passages(result)
    posts = [each for each in found if each.kind == "post"]
    assert [each.author for each in posts[:2]] == ["Bjoern1234", "Saint Marie"]
    assert posts[1].published == "2020-04-12T17:32:00"
    assert posts[1].text.startswith("**Saint Marie**")
    assert passages(result.markdown, posts=result.posts) == found
    assert len({each.author for each in posts}) == len({post.author for post in result.posts})


def test_a_post_ends_a_passage_without_a_heading() -> None:
    first, second = Post("Ann", offset=0), Post("Bo", offset=7)
    assert [(p.text, p.author) for p in passages("Hello.\n\nHi.\n", posts=[second, first])] == [
        ("Hello.", "Ann"),
        ("Hi.", "Bo"),
    ]


def test_fewer_words_than_one_are_refused() -> None:
    with pytest.raises(ValueError, match="max_words must be 1 or more, not 0"):
        passages("a", 0)
