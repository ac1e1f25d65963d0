"""Dates as pages write them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.facts.metadata.dates import find_date_in_address, find_dates, parse_date


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


@pytest.mark.parametrize(
    "text",
    [
        *("3 mai 2024", "3. März 2024", "1er mai 2024", "2024. május 3.", "3. toukokuuta 2024", "3. května 2024"),
        *("3 Μαΐου 2024", "3 травня 2024 р.", "ngày 3 tháng 5 năm 2024", "3 tháng 5, 2024", "3 مايو، 2024"),
        *("٣ مايو ٢٠٢٤", "3 مايو/أيار 2024", "3 d’abril de 2024", "3-Mayıs-2024", "3 maja 2024", "3. maí 2024"),
        *("2024년 5월 3일", "2024. 5. 3.", "２０２４年５月３日", "令和6年5月3日", "平成30年5月3日", "民國113年5月3日"),
        *("3 พฤษภาคม 2567", "3 พ.ค. 2567", "วันที่ 3 พฤษภาคม พ.ศ. 2567", "\u200f3 مايو 2024", "3 de maig de 2024"),
    ],
)
def test_languages_and_calendars(text: str) -> None:
    assert re.fullmatch(r"20(?:24|18)-0[345]-0[13]", parse_date(text) or "")


@pytest.mark.parametrize("text", ["Marketing 12, 2024", "3 of 2024", "3 rows 2024", "Room 3 2024", "2024 items 3"])
def test_words_are_no_months(text: str) -> None:
    assert parse_date(text) is None


def test_all_dates_of_a_text() -> None:
    found = find_dates("Updated: 7 April 2025, 10:15 · Originally published May 3, 2024 (2024-05-03)")
    assert [each.iso[:10] for each in found] == ["2025-04-07", "2024-05-03", "2024-05-03"]


def test_the_date_in_an_address() -> None:
    assert find_date_in_address("https://e.org/news/2024/5/3/rain") == "2024-05-03"
    assert find_date_in_address("https://e.org/2024-05-03-rain") == "2024-05-03"
    assert find_date_in_address("https://e.org/2024/99/03/rain") is None
    assert find_date_in_address("https://e.org/1/2/3") is None


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    found = parse_date(text)
    assert found is None or found[4] == found[7] == "-"
