"""Addresses of a page, completed as browsers do it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.tree.urls import Base, clean_address, follow_dots, read_scheme, rewrite_set


@pytest.mark.parametrize(
    ("address", "absolute"),
    [
        ("c.html", "https://e.org/a/c.html"),
        ("./c", "https://e.org/a/c"),
        ("../c?d#e", "https://e.org/c?d#e"),
        ("../../../c", "https://e.org/c"),
        ("/c/../d/", "https://e.org/d/"),
        ("..", "https://e.org/"),
        (".", "https://e.org/a/"),
        ("//f.org/c", "https://f.org/c"),
        (r"\\f.org\c", "https://f.org/c"),
        (r"\c?x=\y", r"https://e.org/c?x=\y"),
        ("?q", "https://e.org/a/b?q"),
        ("#part", "#part"),
        ("", ""),
        (" /c \n", "https://e.org/c"),
        ("/c\n/d", "https://e.org/c/d"),
        ("http://f.org/c", "http://f.org/c"),
        ("HTTPS://f.org/c", "HTTPS://f.org/c"),
        ("https:c", "https://e.org/a/c"),
        ("https:/c", "https://e.org/c"),
        ("http:/f.org/c", "http://f.org/c"),
        ("mailto:a@b.c", "mailto:a@b.c"),
        ("a:b", "a:b"),
        ("./a:b", "https://e.org/a/a:b"),
        ("é ü.html", "https://e.org/a/é%20ü.html"),
        ("c?d=../e", "https://e.org/a/c?d=../e"),
    ],
)
def test_addresses_become_absolute(address: str, absolute: str) -> None:
    base = Base.of("https://e.org/a/b?c#d")
    assert base is not None
    assert base.join(address) == absolute


@pytest.mark.parametrize(
    ("url", "base_href", "absolute"),
    [
        ("https://e.org/a/b", "", "https://e.org/a/x"),
        ("https://e.org", "", "https://e.org/x"),
        ("https://e.org?q", "", "https://e.org/x"),
        ("https://e.org/a/b", "/c/", "https://e.org/c/x"),
        ("https://e.org/a/b", "//f.org", "https://f.org/x"),
        ("https://e.org/a/b", "https://f.org/g/h?i", "https://f.org/g/x"),
        ("https://e.org/a/b", "javascript:y", "https://e.org/a/x"),
        (None, "https://f.org/g/", "https://f.org/g/x"),
    ],
)
def test_a_base_element_counts(url: str | None, base_href: str, absolute: str) -> None:
    base = Base.of(url, base_href)
    assert base is not None
    assert base.join("x") == absolute


@pytest.mark.parametrize("url", [None, "", "page.html", "urn:x", "file:///a/b", "dns:e.org", "https://"])
def test_without_an_address_on_the_web_there_is_no_base(url: str | None) -> None:
    assert Base.of(url) is None


def test_a_part_of_the_page_becomes_absolute_where_a_base_element_leads_elsewhere() -> None:
    base = Base.of("https://e.org/a", "https://f.org/b?c")
    assert base is not None
    assert base.join("#d") == "https://f.org/b?c#d"


@given(st.text(alphabet="abc:/\\.?# \t%é", max_size=20))
def test_an_absolute_address_stays(address: str) -> None:
    base, other = Base.of("https://e.org/a/b"), Base.of("https://other.org/")
    assert base is not None
    assert other is not None
    absolute = base.join(address)
    if absolute.startswith("https://"):
        assert other.join(absolute) == absolute
        assert clean_address(absolute) == absolute
        assert "/../" not in follow_dots("/" + absolute.split("?")[0].split("#")[0])


def test_sets_keep_their_sizes_and_lose_what_is_refused() -> None:
    base = Base.of("https://e.org/a/")
    assert base is not None
    assert (
        rewrite_set(" b.jpg 1x , /c.jpg?d=1,2 2x", base.join)
        == "https://e.org/a/b.jpg 1x, https://e.org/c.jpg?d=1,2 2x"
    )
    assert rewrite_set("b.jpg 1x, bad 2x", lambda address: None if address == "bad" else address) == "b.jpg 1x"
    assert rewrite_set("", base.join) == rewrite_set(" , ", base.join) == ""


def test_schemes_are_read_in_lower_case() -> None:
    assert [read_scheme(address) for address in ("HTTP://x", "a-b.c+1:x", "1:x", "/a:b", "x")] == [
        "http",
        "a-b.c+1",
        "",
        "",
        "",
    ]
