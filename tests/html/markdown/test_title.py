"""What the Markdown opens with."""

import pytest

import dripper
from dripper.html.markdown.title import choose_heading

TITLE = "Rain in Bergen | The Daily"


@pytest.mark.parametrize(
    ("texts", "main_ids", "main_html", "heading"),
    [
        (["The Daily", "Rain in Bergen", "It rained."], [3], "<p>It rained.</p>", "Rain in Bergen"),
        (["The Daily", "RAIN  in\nBergen", "It rained."], [3], "<p>It rained.</p>", "RAIN in Bergen"),
        (["The Daily", "Rain in Bergen", "It rained."], [2, 3], "<h2>Rain in Bergen</h2><p>It rained.</p>", ""),
        (["It rained."], [1], "<h1>Wet</h1><p>It rained.</p>", ""),
        (["The Daily", "It rained."], [2], "<p>It rained.</p>", "Rain in Bergen"),
        ([], [], "", "Rain in Bergen"),
    ],
)
def test_the_heading_as_readers_see_it(texts: list[str], main_ids: list[int], main_html: str, heading: str) -> None:
    assert choose_heading(TITLE, texts, main_ids, main_html) == heading


def test_without_a_title_there_is_no_heading() -> None:
    assert choose_heading(" ", ["a"], [1], "<p>a</p>") == ""


@pytest.mark.parametrize(
    ("texts", "main_ids", "heading"),
    [
        (["The Daily", "It rained."], [2], "It pours"),
        (["The Daily", "Rain in Bergen", "It rained."], [3], "Rain in Bergen"),
        (["The Daily", "It  POURS", "It rained."], [2, 3], ""),
        (["The Daily", "It pours", "It rained."], [3], "It pours"),
        (["The Daily", "It rained.", "It pours"], [2, 3], "It pours"),
    ],
)
def test_the_headline_stands_in_where_no_block_is_like_the_title(
    texts: list[str], main_ids: list[int], heading: str
) -> None:
    assert choose_heading(TITLE, texts, main_ids, "<p>It rained.</p>", "It pours") == heading
    assert choose_heading("", ["It rained."], [1], "<p>It rained.</p>", "It pours") == "It pours"


@pytest.mark.parametrize(
    ("title", "heading"),
    [
        ("Rain - A Daily for All", "Rain, at last"),
        ("A Daily for All", "A Daily for All"),
        ("A Daily for All - Rain", "A Daily for All"),
        ("Rain: A Daily for All", "A Daily for All"),
    ],
)
def test_a_site_s_name_at_the_title_s_end_gives_way_to_the_headline(title: str, heading: str) -> None:
    texts = ["A Daily for All", "Rain, at last", "It rained."]
    assert choose_heading(title, texts, [3], "<p>It rained.</p>", "Rain, at last") == heading
    assert choose_heading(title, texts[::2], [2], "<p>It rained.</p>", "Rain, at last") == "A Daily for All"


def test_a_page_opens_with_its_only_heading_and_not_with_its_title() -> None:
    page = (
        "<title>Wet day, dry night | The Daily</title><header><h1>It pours</h1></header><article><p>"
        + 20 * "Rain, rain. "
    )
    assert dripper.extract(page).markdown.startswith("# It pours\n\nRain, rain.")


@pytest.mark.parametrize(
    ("title", "site", "heading"),
    [
        ("Rain - The Daily", "the daily", "Rain"),
        ("The Daily: Rain | Bergen", "The Daily", "The Daily: Rain | Bergen"),
        ("The Daily » Rain", "The Daily", "Rain"),
        ("Rain - The Daily", None, "Rain - The Daily"),
        ("Rain in Bergen » The Daily", None, "Rain in Bergen"),
        ("Rain in Bergen | and on all the coast", None, "Rain in Bergen | and on all the coast"),
        ("Rain | The Daily", "Another", "Rain | The Daily"),
        ("Bergen | Oslo and Tromsø", None, "Bergen | Oslo and Tromsø"),
    ],
)
def test_a_title_that_must_do_is_the_page_s_own(title: str, site: str | None, heading: str) -> None:
    assert choose_heading(title, ["It rained."], [1], "<p>It rained.</p>", None, site) == heading


@pytest.mark.parametrize("title", ["Contact | Rain Ltd", "Rain Ltd - Contact"])
def test_a_headline_with_a_block_of_its_own_is_the_heading_without_the_site_s_name(title: str) -> None:
    texts = [title, "Contact", "Write to us."]
    assert choose_heading(title, texts, [3], "<p>Write to us.</p>", "Contact") == "Contact"
    assert choose_heading(title, texts, [2, 3], "<p>Contact</p>", "Contact") == ""


def test_a_heading_leaves_out_the_site_s_name_also_where_its_block_has_it() -> None:
    title = "daily.example | Rain in Bergen and all along the coast"
    headline = "Rain in Bergen and all along the coast"
    assert choose_heading(title, [title, "It rained."], [2], "<p>It rained.</p>", headline) == headline


@pytest.mark.parametrize("first", ["Rain gear and boots - Nahodsa", "Rain gear and boots"])
def test_a_title_that_the_main_content_begins_with_is_not_said_again(first: str) -> None:
    title = "Rain gear and boots - Nahodsa"
    assert choose_heading(title, [title, "Menu", first, "Boots for rain."], [3, 4], "<h2>…</h2>") == ""
    assert choose_heading(title, [title, "Menu", "Boots", first], [3, 4], "<h2>…</h2>") != ""
