"""Elements that are never main content: lists of dialling codes, and consent dialogs."""

import pytest

from dripper.html import preprocess
from dripper.labels import load
from dripper.labels.cpu.furniture import find_comments, find_furniture

STORY = "".join(f"<p>The ferry of part {part} left the pier at noon, and nobody saw it.</p>" for part in range(5))
CODES = [f"Country {chr(65 + i % 26) * (1 + i // 26)} +{i + 20}" for i in range(40)]


def found(html: str) -> list[str]:
    page = preprocess(html)
    furniture = find_furniture(page)
    return (
        [] if furniture is None else [block.text for block, is_it in zip(page.blocks, furniture, strict=True) if is_it]
    )


def test_a_list_of_dialling_codes_is_furniture() -> None:
    items = "".join(f"<div>{code}</div>" for code in CODES)
    assert found(f"{STORY}<div>{items}</div>{STORY}") == CODES


def test_countries_without_a_code_stand_in_the_list_too() -> None:
    choices = [*CODES[:20], "Antarctica", "Heard Island", *CODES[20:]]
    assert found(STORY + "".join(f"<div>{choice}</div>" for choice in choices)) == choices


@pytest.mark.parametrize("written", ["+{} Land", "Land (+{})", "Land+{}", "+{}", "Land <i>+{}-268</i>"])
def test_codes_are_written_in_many_ways(written: str) -> None:
    options = "".join(f"<option>{written.format(i)}</option>" for i in range(1, 40))
    items = "".join(f"<div>{written.format(i)}</div>" for i in range(1, 40))
    assert len(found(f"{STORY}<select>{options}</select>")) == 1
    assert len(found(STORY + items)) == 39


@pytest.mark.parametrize(
    "html",
    [
        "".join(f"<div>{code}</div>" for code in CODES[:29]),
        "".join(f"<div>{code}</div>{STORY}" for code in CODES),
        "".join(f"<div>Sales in {year}: +{year}</div>" for year in range(1980, 2024)),
        "<table>" + "".join(f"<tr><td>Homes in part {i}<td>+{i}.5%" for i in range(40)) + "</table>",
        "<pre>" + "".join(f"[ {i}.29] pci 0000:00: bridge +{i} of {i}\n" for i in range(40)) + "</pre>",
        "<p>" + "+" * 50 + "</p>",
    ],
)
def test_other_numbers_with_a_plus_are_not(html: str) -> None:
    assert found(STORY + html) == []


def test_a_dialog_that_asks_for_consent_is_furniture() -> None:
    dialog = "<div id='onetrust-pc-sdk'><div><p>We store cookies.</p><p>Allow all</p></div></div>"
    assert found(STORY + dialog + STORY) == ["We store cookies.", "Allow all"]
    assert found(STORY + dialog.replace("onetrust-pc-sdk", "cookie-recipes")) == []


@pytest.mark.parametrize(
    "name",
    ["class='CookieDeclaration'", "class='cky-cookie-des-table'", "class='x consent-banner__text'", "id='cookieModal'"],
)
def test_what_is_named_for_cookies_or_consent_is_furniture(name: str) -> None:
    table = f"<div {name}><p>_ga: two years</p></div>"
    assert found(STORY + table) == ["_ga: two years"]
    assert found(f"<title>Cookies</title>{STORY}{table}") == [], "a page that explains them"


@pytest.mark.parametrize(
    "name", ["class='age-of-consent-wrapper'", "class='with-cookie-info'", "class='cookie-bar-open'", "id='cookies'"]
)
def test_other_names_that_speak_of_them_are_not(name: str) -> None:
    assert found(f"<div {name}>{STORY}</div>") == []
    assert found(f"<body class='cookie-bar'>{STORY}</body>") == []


def test_the_labeler_takes_none_of_it_unless_there_is_nothing_else() -> None:
    labeler = load("cpu")
    items = "".join(f"<li><p>{code} is a country</p></li>" for code in CODES)
    codes = "".join(f"<div>{code}</div>" for code in CODES)
    page = preprocess(f"<h1>Register</h1>{STORY}<ul>{codes}</ul>")
    (labels,) = labeler.label([page])
    assert labels.main.any()
    assert not any(is_main for block, is_main in zip(page.blocks, labels.main, strict=True) if block.text in CODES)
    assert labels.probability is not None
    assert (labels.probability > 0).all()
    only = preprocess(codes)
    assert labeler.label([only])[0].main.any()
    assert labeler.label([preprocess(f"<ul>{items}</ul>")])[0].main.any()


@pytest.mark.parametrize(
    ("name", "n_found"),
    [("I vostri commenti", 5), ("12 Comments:", 5), ("评论", 5), ("Comments on the code", 0), ("Physical activity", 0)],
)
def test_a_heading_says_that_comments_follow(name: str, n_found: int) -> None:
    section = f"<section><h3>{name}</h3><div><b>Anna</b><p>Buonissima!</div><div><b>Luca</b><p>Anche con le pere.</div>"
    page = preprocess(f"{STORY}{section}</section><p>Menu")
    comments = find_comments(page)
    assert (0 if comments is None else sum(comments)) == n_found
    assert comments is None or not comments[-1]
