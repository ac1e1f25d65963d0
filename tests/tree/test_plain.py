"""Words end at the same places as in a browser, with or without white space between them."""

import pytest

from dripper.html import preprocess, prune_page


def read_texts(html: str) -> list[str]:
    return [block.text for block in preprocess(html).blocks]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<span>637kcal</span><span>Carbohydrates: 80g</span><span>Protein: 9g</span>", "637kcal Carbohydrates: 80g Protein: 9g"),
        ('<a href="/1">22,300</a><a href="/2">INFINIX</a>', "22,300 INFINIX"),
        ("<span>Prep Time</span><span>20 min</span>", "Prep Time 20 min"),
        ("<strong>Calories:</strong><span>200</span>", "Calories: 200"),
        ("<span>It rained.</span><span>Photo by Ann</span>", "It rained. Photo by Ann"),
        ("<span><b>Time</b></span><span><i>9</i></span>", "Time 9"),
        ("<span>Total</span><span></span><span>5</span>", "Total 5"),
        ('<a href="/1">1</a><a href="/2">2</a>', "1 2"),
        ('<a href="/1">home</a><a href="/2">about</a>', "home about"),
        ("<button>reply</button><button>share</button>", "reply share"),
        ("Edit<button>save</button>now", "Edit save now"),
        ('one<img src="/i.png">two', "one two"),
        ('name<span style="color: red; DISPLAY: block">place</span>and', "name place and"),
        ('name<span style="float:right">place</span>', "name place"),
        ('<span>写真</span><span style="display:block">東京</span>', "写真 東京"),
    ],
)  # fmt: skip
def test_neighbours_that_a_browser_sets_apart_are_words_of_their_own(html: str, text: str) -> None:
    assert read_texts(f"<p>{html}</p>") == [text]


@pytest.mark.parametrize(
    "html",
    [
        "<b>i</b>Phone", "Mc<b>Donald</b>", "<em>Chat</em><em>GPT</em>", "<b>h</b><i>T</i>", "H<sub>2</sub>O",
        "<span>x</span><sup>2</sup>", "<a>note</a><sup>1</sup>", "<span>637</span><span>kcal</span>",
        '<a href="/1">Br</a><a href="/1">ands</a>', "<span>12:</span><span>30</span>",
        "<span>(</span><span>Nature</span>", "<span>写真</span><span>東京</span>", "<span>2016</span><span>年</span>",
        "<code><span>get</span><span>Name</span></code>", '<span style="float:left">T</span>housands',
        '<span class="katex"><span>x</span><span>2</span></span>', "word<a>,</a>", '<a class="flexible">wo</a>rd',
        '<span title="display: block">wo</span>rd',
    ],
)  # fmt: skip
def test_parts_of_a_word_stay_together(html: str) -> None:
    (text,) = read_texts(f"<p>{html}</p>")
    assert " " not in text


@pytest.mark.parametrize(
    ("between", "text"), [("\n", "one\nTwo"), (" ", "one Two"), ("<br>", "one\nTwo"), ("&nbsp;", "one\u00a0Two")]
)
def test_where_white_space_or_a_line_parts_words_nothing_is_added(between: str, text: str) -> None:
    assert "\n".join(read_texts(f"<p><span>one</span>{between}<span>Two</span></p>")) == text


def test_the_page_itself_does_not_change() -> None:
    html = "<p><span>one</span><span>Two</span></p><p>2<span>B</span></p>"
    page = preprocess(html)
    assert html in "".join(page.elements.parts)
    assert html in prune_page(page, [1, 2])
    assert preprocess(html, "mineru-1.1").simplified_html.count("</span><span>") == 1


def test_a_deeply_nested_page_is_read_like_any_other() -> None:
    html = "<i>" * 3000 + "x" + "</i><span>y</span>" * 3000
    (text,) = read_texts(f"<div>{html}</div>")
    assert text.count("y") == 3000
