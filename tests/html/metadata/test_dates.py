"""Dates as pages write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.html.metadata.dates import find_date_in_address, parse_date


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024-05-03", "2024-05-03"),
        ("2024-5-3", "2024-05-03"),
        ("2024-05-03T15:47:42.389Z", "2024-05-03T15:47:42+00:00"),
        ("2024-05-03 15:47:42 +0200", "2024-05-03T15:47:42+02:00"),
        ("2024-05-03T15:47:42-05", "2024-05-03T15:47:42-05:00"),
        ("2024-05-03T15:47", "2024-05-03T15:47:00"),
        ("2024-05-03T25:00:00Z", "2024-05-03"),
        ("2024/05/03", "2024-05-03"),
        ("2024年5月3日", "2024-05-03"),
        ("20240503", "2024-05-03"),
        ("20240503T101112Z", "2024-05-03"),
        ("1714751262", "2024-05-03T15:47:42+00:00"),
        ("1714751262389", "2024-05-03T15:47:42+00:00"),
        ("Fri, 03 May 2024 15:47:42 +0000", "2024-05-03T15:47:42+00:00"),
        ("May 3rd, 2024", "2024-05-03"),
        ("Published: 3 Sept. 2024 at 10 am", "2024-09-03"),
        ("03.05.2024", "2024-05-03"),
        ("23/05/2024", "2024-05-23"),
        ("05/23/2024", "2024-05-23"),
        ("05/05/2024", "2024-05-05"),
        ("03/05/2024", None),
        ("2024-13-03", None),
        ("2024-02-30", None),
        ("0001-01-01T00:00:00", None),
        ("yesterday", None),
        ("", None),
        ("2024-05-03 " + "x" * 100, None),
    ],
)
def test_forms(text: str, iso: str | None) -> None:
    assert parse_date(text) == iso


def test_the_date_in_an_address() -> None:
    assert find_date_in_address("https://e.org/news/2024/5/3/rain") == "2024-05-03"
    assert find_date_in_address("https://e.org/2024-05-03-rain") == "2024-05-03"
    assert find_date_in_address("https://e.org/2024/99/03/rain") is None
    assert find_date_in_address("https://e.org/1/2/3") is None


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    found = parse_date(text)
    assert found is None or found[4] == found[7] == "-"
