"""Posts of hand-written boards: who wrote them, when, and to whom."""

import pytest

from dripper.facts.post_groups import Groups
from dripper.facts.posts import find_posts
from dripper.html import preprocess

TEXT = "The wheel had rusted into its bed, and two willows grew where the carts had stood."
PEOPLE = ("Ann", "Bo Ray", "Ann", "cee_4")
JOINED = ("2017-03-14", "2019-09-25", "2017-03-14", "2012-01-01")
DAYS = ("2024-05-03", "2024-05-04", "2024-05-04", "2024-05-06")


def write(post, before="", after="", n=4):
    """Return the tree of a page of such posts."""
    written = (post.format(i=i, name=PEOPLE[i], day=DAYS[i], joined=JOINED[i], text=TEXT) for i in range(n))
    return preprocess(f"{before}{''.join(written)}{after}<p>Contact").elements


def find(post, before="", after="", *, n=4, is_thread=False):
    """Return the author, date, id and answered post of each post of a page."""
    return [post[1:5] for post in find_posts(write(post, before, after, n), is_thread=is_thread)]


@pytest.mark.parametrize(
    ("post", "ids"),
    [
        (
            '<article class="message" id="js-post-{i}1"><h4><a class="username" href="/members/{i}/">{name}</a></h4>'
            '<h5 class="userTitle">Member</h5><time datetime="{day}">today</time><p>{text}</article>',
            "js-post-{}1",
        ),
        (
            '<table id="post{i}0"><tr><td>{day}, 10:00<tr><td><a class="bigusername" href="member.php?u={i}">{name}</a>'
            "<div>Join Date: {joined}</div><td><div>{text}</div></table>",
            "post{}0",
        ),
        (
            '<div class="blockpost" id="p{i}"><h2>#{i} <a href="?pid={i}#p{i}">{day} 10:46</a></h2>'
            "<dl><dt><b>{name}</b><dd>Registered: {joined}</dl><p>{text}</div>",
            "p{}",
        ),
        (
            '<li itemprop="comment" itemscope itemtype="https://schema.org/Comment" id="c-{i}"><div itemprop="author" '
            'itemscope><a href="/user/{i}"><b>X</b></a><span itemprop="name">{name}</span></div>'
            '<time itemprop="dateCreated" datetime="{day}">3 h</time><p>{text}</li>',
            "c-{}",
        ),
        (
            '<div class="tr-x"><p class="author">by <strong><a href="./memberlist.php?mode=viewprofile&u={i}">{name}</a>'
            "</strong> » {day}</p><p>{text}</p><a name='m{i}7'></a></div>",
            "m{}7",
        ),
    ],
)
def test_boards(post, ids):
    expected = [(PEOPLE[i], DAYS[i], ids.format(i), None) for i in range(4)]
    found = find(post, is_thread=True)
    assert [(author, day[:10], id, reply_to) for author, day, id, reply_to in found] == expected


ROWS = (
    '<tr><td rowspan=2><a name="{i}"></a><div class="profile-box"><b>{name}</b><br>Looks in from time to time</div>'
    "<td>#{i} written: {day}</tr><tr><td>{text}<p><small>[Changed by {name} on {joined}]</small></tr>"
)


@pytest.mark.parametrize("post", [ROWS, ROWS.replace("</tr><tr>", '</tr><tr class="posting-row">')])
def test_a_post_goes_on_in_the_rows_behind_its_head(post):
    page = write(f"{post}<tr><td>Advertisement</tr>", "<table>", f"<tr><td>{TEXT}</tr></table>")
    found = find_posts(page, is_thread=True)
    assert [each[1:4] for each in found] == [(PEOPLE[i], DAYS[i], str(i)) for i in range(4)]
    says = ["".join(page.parts[page.opens[each.element] + 1 : each.end : 2]) for each in found]
    assert [said.count(TEXT) for said in says] == [1] * 4


def test_dates_are_read_as_the_others_of_the_page():
    post = (
        '<div class="post" id="p{i}1"><p class="joined"><span class="when">{joined}</span><p><b class="username">{name}</b>'
        '<span class="when">%s</span><p>{text}</div>'
    )
    in_two_ways = write("".join(post % day for day in ("05-03-2024", "05-04-2024", "05-14-2024")), n=1)
    assert [each.published for each in find_posts(in_two_ways)] == ["2024-05-03", "2024-05-04", "2024-05-14"]
    found = find_posts(write(post % "Tue 16-Jun-20 23:12"))
    assert [each.published for each in found] == ["2020-06-16"] * 4


COMMENT = (
    '<li class="comment" id="comment-{i}9"><cite class="fn">{name}</cite> says: <a href="#comment-{i}9">'
    "<time datetime={day}>May</time></a><p>{text}</p>"
)


def test_what_a_date_states_goes_before_its_words():
    reply = (
        '<article class="reply" id="reply_{i}1"><a class="author" href="/users/{i}">{name}</a><div class="time">'
        '<time class="date"><a href="#{i}1"><time datetime="{day}">05/05/24</time></a></time></div><p>{text}</article>'
    )
    first = (
        '<article class="topic" id="topic_1"><a class="author" href="/users/9">Eve</a><div class="metadata">'
        f'<time class="date"><time datetime="2024-05-02">05/02/24</time></time></div><p>{TEXT}</article>'
    )
    assert [post[1] for post in find(reply, first, is_thread=True)] == ["2024-05-02", *DAYS]


def test_rows_of_many_shapes_are_not_all_searched_for_heads(monkeypatch):
    """Each search reads the surroundings of its rows, so 4,000 shapes in one table took 3 s."""
    searched, find_heads = [], Groups._find_heads
    monkeypatch.setattr(Groups, "_find_heads", lambda *given: searched.append(1) or find_heads(*given))
    row = '<tr class="post-{}"><td><a class="username" href="/user/{}">{}</a> <time datetime="2024-05-03">x</time>{}'
    names = [f"{first}{last}" for first in "abcdefg" for last in "abcdefg"]
    rows = "".join(row.format(name, name, name, TEXT) * 2 for name in names)
    find_posts(preprocess(f"<table>{rows}</table>").elements, is_thread=True)
    assert 1 < len(searched) < len(names)


def test_what_stands_in_a_post_answers_it():
    found = find(COMMENT + "<ul>", "<ol>", "</ol>")
    assert [(author, reply_to) for author, _, _, reply_to in found] == [
        ("Ann", None), ("Bo Ray", "comment-09"), ("Ann", "comment-19"), ("cee_4", "comment-29"),
    ]  # fmt: skip


def test_a_quoted_post_is_answered():
    quote = '<blockquote><a href="/goto/post?id=9">Ann said:</a> Ash.</blockquote>'
    found = find(COMMENT.replace("<p>", f"{quote}<p>").replace("?id=9", "?id=09"))
    assert [reply_to for *_, reply_to in found] == [None, *["comment-09"] * 3]


def test_the_question_opens_the_thread():
    question = (
        f'<div class="question"><a href="/users/7">Di</a> <time datetime="2024-05-01">May</time><p>{TEXT}</p></div>'
    )
    assert [author for author, *_ in find(COMMENT, f"<main>{question}<ol>", "</ol></main>")] == ["Di", *PEOPLE]


@pytest.mark.parametrize(
    "unit",
    [
        # Articles of a blog, which have titles that lead to them.
        '<article class="post" id="post-{i}7"><h2><a href="/{i}">Wheel {i}</a></h2><a rel="author" href="/a">{name}</a>'
        "<time datetime={day}>May</time><p>{text}</article>",
        # People.
        '<div class="card"><b class="name">{name}</b><p>{text}</div>',
        # Entries of a menu.
        '<li class="menu-item menu-item-type-post_type" id="menu-item-{i}7"><a class="author" href="/{i}">{name}</a>',
        # Dates of a programme.
        '<div class="event"><time datetime={day}>May</time><p>{text}</div>',
    ],
)
def test_other_lists_are_no_posts(unit):
    assert find(unit) == []


def test_one_comment_is_not_enough():
    assert find(COMMENT, n=1) == []


@pytest.mark.parametrize(
    ("named", "n_opening"),
    [
        ('class="body question"', 1),
        ('id="first-post"', 1),
        ('id="faq-question-17"', 0),
        ('class="entry tag-first-time"', 0),
        ('class="half first"', 0),
    ],
)
def test_what_opens_a_thread_is_named_for_it_and_nothing_else(named, n_opening):
    opening = f'<section {named}><span class="author">Dee</span> <time>2024-05-01</time><p>{TEXT}</section>'
    remark = '<div class="comment"><b class="author">{name}</b> <time datetime="{day}"></time><p>{text}</div>'
    assert len(find(remark, opening)) == 4 + n_opening
