"""The declarations of small pages, source by source, and the order of sources."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dripper
from dripper.facts.metadata import Metadata, first_day
from dripper.html import preprocess
from support.labelled import pages

DATE_CLASSES = ("date", "Date", "post-date", "published", "Published", "pubdate", "datetime", "timestamp", "Timestamp")


def told(html: str, url: str | None = None) -> Metadata:
    found = preprocess(f"{html}<p>Some text.", url=url).metadata
    assert found is not None
    return found


def meta(**contents: str) -> str:
    return "".join(f'<meta name="{name.replace("__", ":")}" content="{text}">' for name, text in contents.items())


def ld(*values: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(values)}</script>'


def test_a_page_that_says_nothing() -> None:
    assert told("") == Metadata()


def test_json_ld() -> None:
    article = {
        "@type": "NewsArticle",
        "headline": "Rain &amp; wind",
        "author": [{"@type": "Person", "name": "Ann Lee"}, "Bo Ray"],
        "datePublished": "2024-05-03T10:00:00Z",
        "dateModified": "2024-05-04",
        "publisher": {"@type": "Organization", "name": "The Daily"},
        "description": "It rained.",
        "image": [{"url": "https://e.org/a.png"}],
        "keywords": "rain, Bergen",
        "inLanguage": "en_GB",
    }
    assert told(ld(article)) == Metadata(
        "Rain & wind",
        ("Ann Lee", "Bo Ray"),
        "2024-05-03T10:00:00+00:00",
        "2024-05-04",
        "The Daily",
        "It rained.",
        None,
        "https://e.org/a.png",
        ("rain", "Bergen"),
        "en-GB",
        published_precision="time",
        modified_precision="day",
    )


def test_references_within_json_ld_are_followed() -> None:
    graph = {
        "@graph": [
            {"@type": "Article", "author": {"@id": "#ann"}, "image": {"@id": "#picture"}},
            {"@type": "WebSite", "name": "The Daily", "publisher": {"@id": "#nobody"}},
            {"@type": "Person", "@id": "#ann", "name": "Ann Lee"},
            {"@type": "ImageObject", "@id": "#picture", "url": "/a.png"},
        ]
    }
    found = told(ld(graph))
    assert (found.authors, found.site, found.image) == (("Ann Lee",), "The Daily", "/a.png")


def test_of_several_works_the_first_counts_and_a_work_before_a_page() -> None:
    page = {"@type": "WebPage", "datePublished": "2020-01-01", "description": "of the page"}
    works = [{"@type": "BlogPosting", "datePublished": f"2024-05-0{day}"} for day in (3, 4)]
    found = told(ld(page, *works))
    assert (found.published, found.description) == ("2024-05-03", "of the page")


@pytest.mark.parametrize("value", [None, 7, [], {}, [None], {"name": 7}, {"@id": 7}, {"@id": "#none"}, {"name": [[]]}])
def test_values_of_other_kinds_are_no_names(value: object) -> None:
    found = told(ld({"@type": "Article", "author": value, "image": value, "publisher": value, "headline": value}))
    assert found in (Metadata(), Metadata(image="#none"))


def test_meta_and_link_elements() -> None:
    found = told(
        '<html lang="de-AT"><link rel="canonical" href="https://e.org/a">'
        + meta(og__title="Rain | The Daily", og__site_name="The Daily", author="Ann Lee", keywords="rain,sea")
        + meta(article__published_time="2024-05-03", og__updated_time="2024-05-04", description="It rained.")
        + meta(og__image="/a.png")
    )
    assert found == Metadata(
        *("Rain", ("Ann Lee",), "2024-05-03", "2024-05-04", "The Daily", "It rained.", "https://e.org/a", "/a.png"),
        ("rain", "sea"),
        "de-AT",
        published_precision="day",
        modified_precision="day",
    )


@pytest.mark.parametrize(
    ("html", "field", "value"),
    [
        (meta(**{"DC.creator": "Ann Lee"}), "authors", ("Ann Lee",)),
        (meta(**{"DC:date": "2024-05-03"}), "published", "2024-05-03"),
        (meta(citation_author="Lee, Ann") + meta(citation_author="Ray, Bo"), "authors", ("Lee, Ann", "Ray, Bo")),
        (meta(citation_publication_date="2024/05/03"), "published", "2024-05-03"),
        (meta(twitter__title="Rain"), "title", "Rain"),
        (meta(og__url="https://e.org/2024/05/03/a"), "published", "2024-05-03"),
        (meta(article__tag="a") + meta(article__tag="b"), "tags", ("a", "b")),
        (meta(og__locale="nb_NO"), "language", "nb-NO"),
        ('<div itemscope><meta itemprop="datePublished" content="2024-05-03"></div>', "published", "2024-05-03"),
        ('<p itemprop="author" itemscope><b itemprop="name">Ann Lee</b>, editor</p>', "authors", ("Ann Lee",)),
        ('<time itemprop="dateModified" datetime="2024-05-03">today</time>', "modified", "2024-05-03"),
        ('<h2 itemprop="headline">Rain</h2>', "title", "Rain"),
        ('<a rel="author" href="/ann">Ann Lee</a>', "authors", ("Ann Lee",)),
        ('<a rel="tag">rain</a><a rel="category tag">sea</a>', "tags", ("rain", "sea")),
        ('<a rel="tag nofollow">rain</a>', "tags", ("rain",)),
        ('<div class="post-body"><span class="user_name">Ann Lee</span></div>', "authors", ("Ann Lee",)),
        ('<span class="post-author">By Ann Lee</span>', "authors", ("Ann Lee",)),
        ('<div class="byline">By Ann Lee on May 3</div>', "authors", ("Ann Lee",)),
        ('<span class="entry-date">May 3, 2024</span>', "published", "2024-05-03"),
        ('<p class="comment-form-author"><label>Name *</label>', "authors", ()),
        ('<ol class="commentlist"><li><b class="author">Bo Ray</b><time>3 May 2024</time>', "authors", ()),
        ('<div id="comments"><p><time>3 May 2024</time>', "published", None),
        ('<div class="customer-reviews"><p class="date">3 May 2024', "published", None),
        ('<div class="comments-open"><p class="date">3 May 2024', "published", "2024-05-03"),
        ('<article class="reviews"><b class="author">Bo Ray</b>', "authors", ("Bo Ray",)),
        (ld({"@type": "Recipe", "author": {"name": '<a href="/ann">Ann Lee</a>'}}), "authors", ("Ann Lee",)),
        (meta(author="&lt;b>Ann&lt;/b> Lee"), "authors", ("Ann Lee",)),
        ("<time>3 May 2024</time>", "published", "2024-05-03"),
        *((f'<p class="a {name}">May 3, 2024', "published", "2024-05-03") for name in DATE_CLASSES),
        ("<time datetime=2020-01-01></time><h1>A</h1><time datetime=2024-05-03></time>", "published", "2024-05-03"),
        ("<h1>Rain</h1>" + meta(og__title="Rain, a story"), "title", "Rain"),
        ("<div><span>By </span><a href=/profile/ann-lee>Ann Lee</a></div>", "authors", ("Ann Lee",)),
        ("<p>Read more by <a href=/profile/ann-lee>Ann Lee</a>.", "authors", ()),
        (meta(author="BY ANN LEE (STAFF WRITER)"), "authors", ("ANN LEE",)),
        (
            '<abbr class=published title="2019-06-27T10:21:40Z">jeudi 27 juin</abbr>',
            "published",
            "2019-06-27T10:21:40+00:00",
        ),
        ("<p class=submitted>Submitted by Ann Lee on Sun, 18/12/2011 - 11:34", "published", "2011-12-18"),
        ("<p class=submitted>Submitted by Ann Lee on Sun, 18/12/2011 - 11:34", "authors", ("Ann Lee",)),
        ("<p class=date>27. Juni 2019", "published", "2019-06-27"),
        (
            "<table><tr><td class=date>3 May 2024<tr><td class=date>2 May 2024<tr><td class=date>1 May 2024</table>",
            "published",
            None,
        ),
        ("<table><tr><td class=date>3 May 2024<tr><td>Rain<tr><td>Wind</table>", "published", "2024-05-03"),
        ("<h1>One</h1><h1>Two</h1>" + meta(og__title="Rain"), "title", "Rain"),
        ('<h1>Rain<a href="#rain">¶</a></h1>', "title", "Rain"),
        ("<h1>Rain<br>in <b>Ber</b>gen</h1>", "title", "Rain in Bergen"),
        ('<h1>Learn C# <a href="#c">\uf0c1</a></h1>', "title", "Learn C#"),
        ("<p>x</p><noscript><h1>No scripts?</h1></noscript>" + meta(og__title="Rain"), "title", "Rain"),
        ("<p>x</p><noscript><h1>No scripts?</h1></noscript><h1>Rain</h1>", "title", "Rain"),
        ("<h1>The Daily</h1>" + meta(og__title="Rain", og__site_name="The daily"), "title", "Rain"),
        ("<h1>The Daily</h1>" + meta(og__site_name="The Daily"), "title", "The Daily"),
        (meta(description="&lt;p>Rain in &lt;b>Bergen&lt;/b>.&lt;/p>"), "description", "Rain in Bergen."),
        (ld({"@type": "Recipe", "description": "Soup<br>with x < y"}), "description", "Soup with x < y"),
        (meta(description="a <T> b"), "description", "a <T> b"),
        (meta(author="Ann Lee -"), "authors", ("Ann Lee",)),
        (meta(author="For the Tribune"), "authors", ()),
        ('<p class="author">ab123321, Mar 10, 2016', "authors", ("ab123321",)),
        (ld({"@type": "Product"}) + '<b class="author">Bo Ray</b>', "authors", ()),
        (meta(og__type="product.item") + '<b class="author">Bo Ray</b>', "authors", ()),
        ("<title>Code • View topic - Rain in Bergen</title>", "title", "Rain in Bergen"),
        (meta(og__site_name="E.com", og__title="E.com") + "<title>Rain - E.com</title>", "title", "Rain"),
        ('<title>Rain</title><div id="goog-gt-tt"><h1>Original text</h1></div>', "title", "Rain"),
        ("<title>Rain in Bergen (View topic) • Weather</title>", "title", "Rain in Bergen"),
        ("<title>Rain in Bergen –</title>", "title", "Rain in Bergen"),
        (2 * '<p itemscope itemtype="//schema.org/Review"><meta itemprop="author" content="Bo">', "authors", ()),
        ('<p itemscope itemtype="Article"><meta itemprop="author" content="Bo Ray">', "authors", ("Bo Ray",)),
        ('<meta itemprop="author" content="Bo Ray">', "authors", ("Bo Ray",)),
        ('<p itemscope itemtype="Review"><meta name="author" content="Bo Ray">', "authors", ("Bo Ray",)),
        ('<p itemscope itemtype="Comment"><meta itemprop="datePublished" content="2024-05-03">', "published", None),
    ],
)
def test_one_source(html: str, field: str, value: object) -> None:
    assert getattr(told(html), field) == value


def test_the_site_as_its_own_author_gives_way_to_a_byline() -> None:
    site = meta(og__site_name="The Daily", author="The Daily")
    assert (told(site).authors, told(site).organisations) == ((), ("The Daily",))
    assert told(site + '<p class="byline">By Ann Lee</p>').authors == ("Ann Lee",)


def test_json_ld_counts_before_meta_and_meta_before_what_is_shown() -> None:
    shown = '<time datetime="2022-01-01">x</time>'
    metas = meta(article__published_time="2023-01-01")
    assert told(shown + metas + ld({"@type": "Article", "datePublished": "2024-01-01"})).published == "2024-01-01"
    assert told(shown + metas).published == "2023-01-01"
    assert told(metas.replace("2023-01-01", "soon") + shown).published == "2022-01-01"


@given(st.text(), st.text())
def test_any_content_is_survived(text: str, other: str) -> None:
    quoted = text.replace('"', "")
    told(meta(author=quoted, date=quoted, og__title=quoted) + ld({"@type": "Article", text: other, "author": text}))


def test_dates_of_other_things_are_not_the_pages() -> None:
    profile = {"@type": "ProfilePage", "dateCreated": "2023-05-11", "mainEntity": {"@type": "Person", "name": "Ann"}}
    assert told(ld(profile)).published is None
    sidebar = "<div class='widget widget_posts'><a href=/r>Rain</a> <span class=post-date>May 3, 2024</span></div>"
    assert told("<h1>Snow</h1>" + sidebar).published is None
    assert (
        told("<div class=has-sidebar><h1>Snow</h1><p class=date>2024-05-02</p></div>" + sidebar).published
        == "2024-05-02"
    )


@pytest.mark.parametrize("profile", ["dripper", "paper", "mineru-1.1"])
def test_every_profile_has_it_and_addresses_become_absolute(profile: str) -> None:
    html = '<link rel="canonical" href="/a"><meta property="og:image" content="b.png"><p>Rain all day in Bergen.'
    found = dripper.extract(html, url="https://e.org/x/y", settings={"profile": profile}).metadata
    assert found is not None
    assert (found.canonical_url, found.image) == ("https://e.org/a", "https://e.org/x/b.png")


def test_a_page_without_an_extraction_has_none() -> None:
    assert dripper.extract("<title>x</title>").metadata is None


def test_real_pages_declare_it() -> None:
    found = [page.metadata for page in pages() if page.metadata is not None]
    assert len(found) == len(pages())
    assert sum(data.published is not None for data in found) >= 3
    assert sum(bool(data.authors or data.organisations) for data in found) >= 2
    assert sum(data.site is not None for data in found) >= 5


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>Contact us | The Daily</title><h1></h1>", "Contact us"),
        ("<title>Rain - Part 2</title><h1></h1><h1>Rain</h1>", "Rain"),
        ("<title>What is rain? - Weather Forum</title><h1>Weather Forum</h1>", "What is rain?"),
        ("<title>Rain in Bergen | Opinion</title><h1>How it rained in Bergen</h1>", "How it rained in Bergen"),
        ('<link rel=canonical href="https://www.daily.example/a"><title>Rain – Daily</title>', "Rain"),
        ('<link rel=canonical href="https://daily.example/a"><h1>Rain in May | daily.example</h1>', "Rain in May"),
        (meta(og__title="Rain in May — Daily", og__url="https://daily.example/") + "<h1>A</h1><h1>B</h1>", "Rain in May"),
        ("<title>Rain</title><h1>Experts to follow</h1><h1>Brands to follow</h1>", "Rain"),
        ("<title>ログイン ページ</title><h1>ページ登録</h1>", "ページ登録"),
        ("<title>Rain: a history</title>", "Rain: a history"),
        ("<title>Bergen Weather: Why it rained</title><h1>Links</h1><h1>Why it rained</h1>", "Why it rained"),
        ("<title>Bergen Weather: Why it rained</title><h3><a href=/r>Why it rained</a></h3>", "Why it rained"),
        ("<title>Rain: History</title><h2>History</h2>", "Rain: History"),
        (meta(og__title="Seven ways to stay dry | Koia"), "Seven ways to stay dry"),
        (meta(og__title="Rain | Weather in Bergen and other towns"), "Rain | Weather in Bergen and other towns"),
        ("<title>Why rain falls</title><h1><a href='/'>The Blog</a></h1><h2>x</h2>", "Why rain falls"),
        ("<title>Why rain falls</title><a href=https://e.org><h1>The Blog</h1></a>", "Why rain falls"),
        ("<title>Rain? | Us</title><h1>Why <a href=/>it</a> rains</h1>", "Why it rains"),
        ("<title>Rain | Us</title><h1><nav>Page 2 of 3 <a href=?3>Next</a></nav>Rain</h1>", "Rain"),
        (meta(og__title="Rain falls") + "<title>Rain falls | News | Us</title><h1>Rain falls | News</h1>", "Rain falls"),
    ],
)  # fmt: skip
def test_the_title_is_the_pages_own(html: str, title: str) -> None:
    assert told(html).title == title


@pytest.mark.parametrize(
    ("html", "authors", "organisations"),
    [
        (ld({"@type": "Article", "author": {"@type": "Organization", "name": "Rain"}}), (), ("Rain",)),
        (meta(author="Polskapresse sp. z o.o."), (), ("Polskapresse sp. z o.o.",)),
        (meta(author="daily.example"), (), ("daily.example",)),
        (meta(author="Ann Lee | KUT"), ("Ann Lee",), ()),
        (meta(author="Ann Lee - The Editorial Team"), ("Ann Lee",), ()),
        (meta(author="Super User"), (), ()),
        (meta(author="Weather News") + '<p class=byline>By<a>Ann Lee</a><i>Writer at large</i>', ("Ann Lee",), ("Weather News",)),
        ('<p class="author"><b>ann</b><span>on</span> <time>3 May</time>', ("ann",), ()),
        ('<p class="byline">by - ann - on February 26th, 2011', ("ann",), ()),
        ('<p class="author">© 2008–2016 GameXchange', (), ()),
        ('<div itemscope itemtype="https://schema.org/Review"><b itemprop=author>Jim Bo</b></div>', (), ()),
        (meta(author="WABC"), (), ("WABC",)),
        (meta(author="Ash Birch &amp;amp; Cole LLP"), (), ("Ash Birch & Cole LLP",)),
        (meta(author="Ash Birch and Cole Partners"), (), ("Ash Birch and Cole Partners",)),
        ('<p class="byline">By Ana Berg / Tom Reed</p>', ("Ana Berg", "Tom Reed"), ()),
        (ld({"@type": "Article", "author": {"name": ["Ana Berg", "Tom Reed"]}}), ("Ana Berg", "Tom Reed"), ()),
        (meta(author="山田太郎"), ("山田太郎",), ()),
        (meta(author="王小明、李雷"), ("王小明", "李雷"), ()),
        (meta(author="김철수 기자"), ("김철수",), ()),
        (meta(author="作者：王小明"), ("王小明",), ()),
        (meta(author="约翰·史密斯"), ("约翰·史密斯",), ()),
        (meta(author="管理员"), (), ()),
        (meta(author="경향신문"), (), ("경향신문",)),
        (meta(author="Chicago Board of Education"), (), ("Chicago Board of Education",)),
        (meta(author="The Rain"), (), ("The Rain",)),
        (meta(og__site_name="GalTime", author="Ann Lee, GalTime Diva"), ("Ann Lee",), ("GalTime Diva",)),
    ],
)  # fmt: skip
def test_people_and_organisations(html: str, authors: tuple[str, ...], organisations: tuple[str, ...]) -> None:
    found = told(html)
    assert (found.authors, found.organisations) == (authors, organisations)


@pytest.mark.parametrize(
    ("stated", "published", "precision", "day"),
    [
        ("2024", "2024", "year", date(2024, 1, 1)),
        ("2024/05", "2024-05", "month", date(2024, 5, 1)),
        ("May 3, 2024", "2024-05-03", "day", date(2024, 5, 3)),
        ("2024-05-03T23:59:00-05:00", "2024-05-03T23:59:00-05:00", "time", date(2024, 5, 3)),
        ("soon", None, None, None),
    ],
)
def test_dates_have_their_precision(
    stated: str, published: str | None, precision: str | None, day: date | None
) -> None:
    found = told(meta(citation_publication_date=stated))
    assert (found.published, found.published_precision, first_day(found.published)) == (published, precision, day)


@pytest.mark.parametrize(
    ("html", "url", "site", "title"),
    [
        ("<title>Rain | Daily.example</title>", "https://www.daily.example/rain", "Daily.example", "Rain"),
        (
            "<title>The Daily: rain in Bergen</title>",
            "https://thedaily.co.uk/rain",
            "The Daily",
            "The Daily: rain in Bergen",
        ),
        ("<title>Rain - The Daily</title>", "https://daily.example/rain", "The Daily", "Rain"),
        ("<title>Order | Daily | Free delivery</title>", "https://shop.daily.com.au/", "Daily", "Daily"),
        ("<title>Rain | News</title>", "https://news.daily.example/rain", None, "Rain"),
        ("<title>Rain - Daily</title>", None, None, "Rain"),
        ("<title>Rain - Daily</title>", "https://[daily/", None, "Rain"),
        ('<meta property="og:site_name" content="https://daily.example"><title>Rain</title>', None, None, "Rain"),
        (
            meta(og__site_name="My long page title") + "<title>My long page title</title>",
            None,
            None,
            "My long page title",
        ),
        (
            meta(og__site_name="My long page title and more") + "<title>My long page title</title>",
            None,
            None,
            "My long page title",
        ),
        (
            meta(og__site_name="Illinois Board of Examiners") + "<title>Illinois Board of Examiners</title>",
            None,
            "Illinois Board of Examiners",
            "Illinois Board of Examiners",
        ),
        ("<title>Daily | All the rain of the day</title>", "https://daily.example/", "Daily", "Daily"),
        (
            "<title>Daily | All the rain of the day</title>",
            "https://daily.example/a",
            "Daily",
            "All the rain of the day",
        ),
    ],
)
def test_the_address_tells_the_name_of_the_site(html: str, url: str | None, site: str | None, title: str) -> None:
    found = told(html, url)
    assert (found.site, found.title) == (site, title)


def test_the_address_tells_the_day() -> None:
    assert told("", "https://e.org/2024/05/03/rain").published == "2024-05-03"
    canonical = '<link rel=canonical href="https://e.org/2023/01/02/rain">'
    assert told(canonical, "https://e.org/2024/05/03/rain").published == "2023-01-02"


THREAD = "<div class='postbit'><a class='bigusername'>ann99</a><span class='postdate'>03-25-2012</span></div>"


@pytest.mark.parametrize(
    ("html", "authors"),
    [
        (THREAD + THREAD.replace("ann99", "bo"), ("ann99",)),
        ("<div class='menu'><span class='username'>Hello, guest</span></div>", ()),
        ("<div class='post'><p class='username'>Username or e-mail</p></div>", ()),
        ('<meta name="author" content="ThemeMaker">', ()),
        ('<meta name="author" content="ThemeMaker"><p>By ThemeMaker</p>', ("ThemeMaker",)),
        ('<meta name="author" content="Ann"><meta property="og:type" content="article">', ("Ann",)),
        ("<div class='author_info'><b>Newbie</b> <i>ann99</i></div><li class='author'>ann99</li>", ("ann99",)),
        ("<span class='library--card__author'>Ann Lee</span>", ()),
        ("<div class='quotes'><a class='author'>Ann Lee</a></div>", ()),
        ("<h3 class='byline'>By Ann Lee</h3>", ("Ann Lee",)),
        ("<div class='hentry author-ann'>Ph.D. on hold</div>", ()),
        ("<span class='submitted-message'>Thank you for it</span>", ()),
        ("".join(f'<meta itemprop="author" content="{name} Lee">' for name in ("Ann", "Bo", "Cy", "Di")), ()),
        (ld({"@type": "Article", "author": "Ann - The Daily", "publisher": {"name": "The Daily"}}), ("Ann",)),
    ],
)
def test_whom_elements_name_beside_the_author(html: str, authors: tuple[str, ...]) -> None:
    assert told(html).authors == authors


@pytest.mark.parametrize(
    ("html", "published"),
    [
        ("<p class='byline'>by Ann Lee on May 3rd, 2024</p>", "2024-05-03"),
        (ld({"@type": "Product"}) + "<p class='byline'>by Ann Lee on May 3rd, 2024</p>", None),
        ("<div class='event-date'><time>2024-05-03</time></div>", None),
        ("<time itemprop='startDate' datetime='2024-05-03'></time><p class=date>4 May 2024</p>", None),
        ("<p class='date'>20.11.2020, 12:30</p>", "2020-11-20"),
        ("".join(f"<p itemprop='datePublished'>2024-05-0{day}</p>" for day in (1, 2, 3)), None),
        ("".join(f"<article><time>2024-05-0{day}</time></article>" for day in (1, 2, 3)), None),
    ],
)
def test_days_of_something_else(html: str, published: str | None) -> None:
    assert told(html).published == published


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>Minutes of 2018 – The City</title><meta property='og:title' content='Minutes of 2018'><h1>Search</h1>",
         "Minutes of 2018"),
        ("<title>Rain in Bergen</title><meta property='og:title' content='Rain in Bergen'><h1>Rains</h1>", "Rains"),
        ("<title>北京大雨成灾</title><meta property='og:title' content='北京大雨成灾'><h1>大雨</h1>", "大雨"),
        ("<title>北京大雨成灾</title><meta property='og:title' content='北京大雨成灾'><h1>搜索</h1>", "北京大雨成灾"),
        ("<title>Event</title><meta property='og:title' content='Event'><h1>Regular Meeting</h1>", "Regular Meeting"),
        ("<title>Rain in Bergen (by Ann)</title><h1>Songs » Rain in Bergen</h1>", "Rain in Bergen"),
        ("<title>What to do</title><h1>Thread: What to do</h1>", "What to do"),
        ("<title>Songs » Rain in Bergen</title><h1>Songs » Rain in Bergen</h1>", "Songs » Rain in Bergen"),
        ("<title>Staff | Our School</title><meta property='og:title' content='Our School'><h1>Our School -</h1>", "Staff"),
        ("<h2>Refund status</h2>", "Refund status"),
        ("<p itemprop=headline>Rain</p><p itemprop=headline>Sun</p><title>Weather</title>", "Weather"),
        ("<title>Docs | Rain gauges and how to read them well at home</title>", "Rain gauges and how to read them well at home"),
        ("<title>Opinions | Office of the City Clerk</title>", "Opinions"),
        ("<h1><a href=/t>Rain</a> <a href=/t?c>[copy link]</a></h1>", "Rain"),
        ("<h1>Rain<span>[</span><a href=/edit>edit</a><span>]</span></h1>", "Rain"),
    ],
)  # fmt: skip
def test_headings_that_are_no_title(html: str, title: str) -> None:
    assert told(html).title == title


@pytest.mark.parametrize(
    "source",
    [
        '{"@type":"NewsArticle","author":{"@type":"Person","name":"Ana Berg"}};',
        '{"@type":"NewsArticle","author":{"@type":"Person","name":"Ana Berg"},}',
        '//<![CDATA[\n{"@type":"NewsArticle","author":[{"name":"Ana Berg"},]}\n//]]>',
        '/* data of the page */ {"@type":"NewsArticle","author":"Ana Berg"}'.replace(
            "/* data of the page */", "<!--\n"
        ),
        '{"@type":"NewsArticle","author":{"@type":"Person","givenName":"Ana","familyName":"Berg"}}',
    ],
)
def test_json_ld_is_read_leniently(source: str) -> None:
    assert told(f"<script type=application/ld+json>{source}</script><p>x").authors == ("Ana Berg",)


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>(4) True a wheel</title>", "True a wheel"),
        ("<title>City of Chicago | Board Meeting Information</title><h1>Board Meeting Information</h1>",
         "Board Meeting Information"),
        ("<title>Rain in Bergen</title>" + meta(og__site_name="Rain in Bergen", og__title="Rain in Bergen"), "Rain in Bergen"),
    ],
)  # fmt: skip
def test_titles_without_counters_and_sites_without_titles(html: str, title: str) -> None:
    metadata = told(html)
    assert metadata.title == title
    assert metadata.site is None or metadata.site == "City of Chicago"


def test_the_vendor_of_a_board_is_not_its_author() -> None:
    html = meta(generator="Discuz! X3.4", author="Discuz! Team and Comsenz UI Team")
    metadata = told(html + "<title>Rain</title><p>x")
    assert metadata.authors == metadata.organisations == ()


@pytest.mark.parametrize(
    ("html", "published"),
    [
        ("<div><p>May 22, 2026</p><a href=/n>News</a></div><h1>Rain</h1><p>It rained.", "2026-05-22"),
        ("<h1>Rain</h1><p>Published 3 May 2024, 10:15</p><p>It rained.", "2024-05-03"),
        ("<h1>Rain</h1><p>It rained on 3 May 2024, and on all days before that one.</p>", None),
        ("<h1>Rain</h1><p>It rained.<aside><time datetime=2026-03-05>5 March</time> Snow</aside>", None),
        ("<h1>Rain</h1><p>It rained.<a href=/n/1><time datetime=2026-03-05>5 March</time> Snow in Bergen</a>", None),
        ("<h1>Rain</h1><p><a href=/n/1><time datetime=2026-03-05>5 March</time></a>It rained.", "2026-03-05"),
    ],
)
def test_dates_of_teasers_are_not_the_pages_and_one_beside_the_title_is(html: str, published: str | None) -> None:
    assert (told(html).published or "")[:10] == (published or "")


@pytest.mark.parametrize(
    ("html", "published", "modified"),
    [
        ("<h1>A</h1><span class=date>Updated: Apr 07, 2025 03:02 AM EST</span>", None, "2025-04-07"),
        ("<h1>A</h1><p>Last revised: <b>7 April 2025</b>", None, "2025-04-07"),
        ("<h1>A</h1><p class=dates>Updated 7 April 2025 &middot; Originally published 3 May 2024</p>", "2024-05-03", "2025-04-07"),
        ("<h1>A</h1><p>Veröffentlicht am 3. Mai 2024 | Zuletzt aktualisiert: 7. April 2025</p>", "2024-05-03", "2025-04-07"),
        ("<h1>A</h1><p>2024年5月3日 公開 2025年4月7日 更新</p>", "2024-05-03", "2025-04-07"),
        ("<h1>A</h1><p>최종 수정: 2025년 4월 7일</p>", None, "2025-04-07"),
        ("<h1>A</h1><p>x<div><span>Last modified on <time datetime=2025-04-07>April 7</time></span></div>", None, "2025-04-07"),
        ("<h1>A</h1><div>Updated</div><time datetime=2025-04-07>April 7</time>", None, "2025-04-07"),
        ("<time class='entry-date published' datetime=2024-05-03>x</time><time class=updated datetime=2025-04-07>y</time>",
         "2024-05-03", "2025-04-07"),
        ("<h1>A</h1><time class='entry-date published updated' datetime=2024-05-03>May 3</time>", "2024-05-03", None),
        ("<a href=/a><time class=published>2024-05-03</time><time class=updated>2025-04-07</time></a>", "2024-05-03", "2025-04-07"),
        ("<h1>A</h1><p class=byline>by Ann Lee | Updated on April 7th, 2025</p>", None, "2025-04-07"),
        ("<h1>A</h1><span class=date>Dec 19, 2024 | Last updated on Dec 20, 2024</span>", "2024-12-19", "2024-12-20"),
        (meta(publication_date="2024-05-03", **{"modified-date": "2025-04-07"}), "2024-05-03", "2025-04-07"),
        (meta(date_published="2024-05-03", last_update="2025-04-07"), "2024-05-03", "2025-04-07"),
        (meta(article__published="2024-05-03", article__updated="2025-04-07"), "2024-05-03", "2025-04-07"),
        (meta(**{"created-date": "2024-05-03", "cXenseParse:recs:publishtime": "2024-05-04"}), "2024-05-04", None),
        (meta(event_date="2024-05-03", unpublish_date="2024-05-03", publisher="2024-05-03"), None, None),
    ],
)  # fmt: skip
def test_dates_of_changes_are_not_those_of_publication(html: str, published: str | None, modified: str | None) -> None:
    found = told(html)
    assert ((found.published or "")[:10] or None, (found.modified or "")[:10] or None) == (published, modified)


def test_rows_with_a_date_or_a_name_each_are_other_pages_or_readers() -> None:
    row = "<div class='item n{0}'><a href=/{0}>Rain</a> <span class=date>2024-05-0{0}</span> <b class=author>Ann Lee{0}</b></div>"
    rows = "<h1>News</h1><div>" + "".join(row.format(number) for number in (1, 2, 3)) + "</div>"
    assert (told(rows).published, told(rows).authors) == (None, ())
    own = "<h1>Rain</h1><p class=date>2024-05-09</p><p class=author>Bo Ray</p>"
    assert (told(own + rows).published, told(own + rows).authors) == ("2024-05-09", ("Bo Ray",))
    several = "<h1>Rain</h1>" + "".join(f"<span class=author>{name}</span>" for name in ("Ann Lee", "Bo Ray", "Cy Fox"))
    assert told(several).authors == ("Ann Lee",)


@pytest.mark.parametrize(
    "heading", ["Responses", "2 Comments", "3 Antworten", "Commentaires (4)", "I vostri commenti", "评论"]
)
def test_who_writes_below_a_heading_of_remarks_is_a_reader(heading: str) -> None:
    remark = "<div class=response><span class=author>Ana Berg</span><time>2024-05-03</time><p>It is low.</div>"
    found = told(f"<article><h1>The mill</h1><p>It rained.<div><h3>{heading}</h3>{remark}</div></article>")
    assert (found.authors, found.published) == ((), None)


@pytest.mark.parametrize(
    "row", ["<li>May {0}, 2024 <a href=/{0}>Rain</a>", "<tr><td>0{0}.05.2024<td><a href=/{0}>Rain</a>"]
)
def test_rows_below_the_title_with_a_date_each_date_no_page(row: str) -> None:
    rows = [row.format(day) for day in range(1, 5)]
    around = "<table>{}</table>" if row.startswith("<tr>") else "<ul>{}</ul>"
    assert told(f"<h1>News</h1>{around.format(''.join(rows))}").published is None
    assert told(f"<h1>News</h1>{around.format(''.join(rows[:1]))}").published == "2024-05-01"


def test_rows_that_all_name_one_person_name_the_author() -> None:
    slides = "".join(
        f"<li><a class=author href=/ann>{{}}</a><p>Slide {number} of the rain.</li>" for number in range(3)
    )
    assert told(f"<h1>Rain</h1><ul>{slides.format(*3 * ['Ann Lee'])}</ul>").authors == ("Ann Lee",)
    assert told(f"<h1>Rain</h1><ul>{slides.format('Ann Lee', 'Bo Ray', 'Cy Orr')}</ul>").authors == ()


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("Ferry Co. | Rain or shine", "Ferry Co."),
        ("Rain or shine | Ferry Co.", "Rain or shine"),
        ("Home - Ferry", "Ferry"),
    ],
)
def test_the_title_of_a_home_page_is_the_site_if_it_comes_first(title: str, found: str) -> None:
    assert told(f"<title>{title}</title>", url="https://www.ferry.com/").title == found


def test_roles_behind_a_name_are_no_people() -> None:
    html = '<h1>Rain</h1><span class="author">By Jane Smith, Vice President, Example Division, Valley Mills</span>'
    assert told(html).authors == ("Jane Smith",)


def test_bylines_of_a_list_and_of_a_home_page_are_not_the_pages() -> None:
    card = '<div><a href="/{0}">Post {0}</a><span class="author">By Ann Lee{0}</span></div>'
    listing = "<h1>All posts</h1>" + "".join(card.format(letter) for letter in "abcdefgh")
    assert told(listing).authors == ()
    assert told('<link rel=canonical href="https://e.org/"><h1>News</h1>' + card.format("a")).authors == ()
    assert told("<h1>A post</h1>" + card.format("a")).authors == ("Ann Leea",)
