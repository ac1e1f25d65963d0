"""Posts through the extraction: which are kept, their positions in the Markdown, and metadata from
them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dripper
from dripper.labels import Labels
from dripper.page.finish import Finisher
from dripper.page.split import Decoded
from dripper.settings import MarkdownSettings, Settings

HTML = Path(__file__).parents[1] / "data" / "labelled" / "wcxb-dev" / "html"
TEXT = "The wheel had rusted into its bed, and two willows grew where the carts had stood."
POST = (
    '<li class="{name}" id="{name}-{i}"><span class="author">{person}</span> <time datetime="2024-05-0{i}T10:00">May</time>'
    "<h3>Re: Wheels</h3><p>{text} {i}</p><p>Post {i}.</p></li>"
)
PEOPLE = ("", "Ann", "Bo *Ray*", "Ann", "Cee")


def thread(name="message", before="<h1>Wheels</h1>"):
    posts = "".join(POST.format(name=name, i=i, person=PEOPLE[i], text=TEXT) for i in range(1, 5))
    return f"<title>Wheels</title><nav>Home</nav>{before}<ol>{posts}</ol>"


def extract(html, main, kind="forum", **markdown):
    """Return the extraction of the blocks with one of the texts `main`."""
    page = dripper.html.preprocess(html)
    labels = Labels.certain(np.array([any(text in block.text for text in main) for block in page.blocks]))
    labels = replace(labels, page_kind=kind)
    finisher = Finisher(Settings(markdown=MarkdownSettings(**markdown)))
    return finisher.examine(Decoded.of(html), None, "dripper", "rule", lambda _: (labels, "")).extraction


def test_posts_are_set_apart_and_headed():
    result = extract(thread(), ["Wheels", "willows", "Post "])
    assert result.markdown.startswith(
        f"# Wheels\n\n**Ann** · 2024-05-01 10:00\n\n### Re: Wheels\n\n{TEXT} 1\n\nPost 1.\n\n---\n\n"
    )
    assert r"**Bo \*Ray\*** · 2024-05-02 10:00" in result.markdown
    assert "1. " not in result.markdown
    assert [result.markdown[post.offset :][:5] for post in result.posts] == ["**Ann", "**Bo ", "**Ann", "**Cee"]
    assert [post.id for post in result.posts] == ["message-1", "message-2", "message-3", "message-4"]
    assert result.comments == "in"
    assert "_post" not in result.main_html


def test_what_holds_the_text_of_posts_is_no_quotation():
    """The quotation of the second begins with its title, which is outside."""
    held = '<blockquote class="body"><p>{text} {i}</p><p>Post {i}.</p><blockquote><p>Oak?</p></blockquote></blockquote>'
    html = thread().replace("<h3>Re: Wheels</h3>", "")
    for i in range(1, 5):
        title = "<h3>Re: Wheels</h3>" if i == 2 else ""
        html = html.replace(f"<p>{TEXT} {i}</p><p>Post {i}.</p>", title + held.format(text=TEXT, i=i))
    result = extract(html, ["Wheels", "willows", "Post ", "Oak"])
    assert f"### Re: Wheels\n\n{TEXT} 2\n" in result.markdown
    assert result.markdown.count("\n> Oak?") == 4


def test_rows_behind_the_head_are_of_the_post():
    rows = "".join(
        f'<tr><td><a class="username">{PEOPLE[i]}</a> 2024-05-0{i}<tr><td><p>{TEXT} {i}</p>' for i in range(1, 5)
    )
    result = extract(f"<title>Wheels</title><table>{rows}</table>", ["willows"])
    assert f"**Ann** · 2024-05-01\n\n{TEXT} 1\n\n---\n\n**Bo \\*Ray\\*** · 2024-05-02\n\n" in result.markdown
    assert len(result.posts) == 4


@pytest.mark.parametrize(("name", "begin"), [("bbCode", "> "), ("postcontent", "")])
def test_a_post_may_begin_with_a_quotation(name, begin):
    posts = "".join(
        f'<div class="message" id="m-{i}"><b class="author">{PEOPLE[i]}</b><blockquote class="{name}"><p>{TEXT} Why?</p>'
        f"</blockquote><p>{TEXT} {i}</p></div>"
        for i in range(1, 5)
    )
    result = extract(f"<title>Wheels</title>{posts}", ["willows"])
    assert f"**Ann**\n\n{begin}{TEXT} Why?\n\n{TEXT} 1\n\n---\n\n**Bo " in result.markdown


@pytest.mark.parametrize(
    "joined", ["", '<time datetime="2009-04-11">Joined</time>', '<meta name="date" content="2024-06-07">']
)
def test_the_first_post_says_author_and_date(joined):
    result = dripper.extract(joined + thread(), labeler="all")
    assert (result.page_kind, result.metadata.authors, result.metadata.published) == (
        "forum",
        ("Ann",),
        "2024-05-01T10:00:00",
    )


def test_a_post_does_not_say_its_author_twice():
    result = extract(thread(), ["Ann", "Bo", "Cee", "willows"])
    assert "·" not in result.markdown
    assert result.markdown.count("---") == 3
    assert result.markdown[result.posts[1].offset :].startswith("Bo")


def test_comments_that_are_left_out_are_counted_but_not_listed():
    result = extract(thread("comment", f"<h1>Mills</h1><p>{TEXT}</p>"), ["Mills"], "article")
    assert (result.comments, result.posts, result.page_kind) == ("out", (), "article")
    assert extract("<h1>Mills</h1><p>one", ["Mills"]).comments is None


def test_comments_stand_below_a_rule():
    result = extract(thread("comment", f"<h1>Mills</h1><p>{TEXT}</p>"), ["Mills", "willows", "Post"], "article")
    assert result.page_kind == "article"
    assert f"# Mills\n\n{TEXT}\n\n---\n\n**Ann** ·" in result.markdown
    assert len(result.posts) == 4


def test_all_posts_of_a_thread_are_main_or_none():
    result = extract(thread(), ["Post 1", "Post 2", "stood. 1", "stood. 2"])
    assert [f"Post {i}." in result.markdown for i in range(1, 5)] == [True] * 4
    assert len(extract(thread(), ["Post 1"]).posts) == 1
    assert len(extract(thread("comment"), ["Post 1", "Post 2"], "article").posts) == 2


def test_posts_say_that_a_page_is_a_thread():
    assert extract(thread(), ["willows"], "article").page_kind == "forum"
    assert extract(thread("review"), ["willows"], "product").page_kind == "product"


def test_html2text_marks_nothing():
    pytest.importorskip("html2text")
    result = extract(thread(), ["willows"], converter="html2text")
    assert [post.offset for post in result.posts] == [None] * 4
    assert "* * *" not in result.markdown


def test_a_thread_of_the_repository():
    result = dripper.extract((HTML / "dev-0575.html").read_bytes())
    assert result.page_kind == "forum"
    assert len(result.posts) == 12
    assert (result.posts[0].author, result.posts[0].published) == ("jamesw", "2024-08-12T11:00:23")
    assert result.metadata.authors == ("jamesw",)
    assert all(result.markdown[post.offset :].startswith("**") for post in result.posts)
