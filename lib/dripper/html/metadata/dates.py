"""Parses the dates that pages state, and writes them as ISO 8601."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

_YEARS = range(1900, 2101)
_LONGEST = 100
"""Characters; a longer text is no date, but may hold many."""

_NAMES = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTHS = {name: number for number, name in enumerate(_NAMES.split("|"), 1)}
_MONTH = rf"({_NAMES})[a-z]*\.?"
_ISO = re.compile(
    r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)"
    r"(?:[T\s]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?)?(?!\d))?",
    re.IGNORECASE,
)
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s*[/.年]\s*(\d{1,2})\s*[/.月]\s*(\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T?\d{4,6}Z?)?")
_DAY_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|\.)?[\s-]+(?:of\s+)?" + _MONTH + r",?[\s-]+(\d{4})(?!\d)", re.IGNORECASE
)
_MONTH_DAY = re.compile(_MONTH + r"\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)", re.IGNORECASE)
_MONTHS_ABROAD = {
    name: number
    for number, names in enumerate(
        (
            "januar januari janvier janv enero ene gennaio gen janeiro stycznia января ocak",
            "februar februari février fevrier févr febrero febbraio fevereiro fev lutego февраля şubat",
            "märz mars marzo março marco maart marts maret marca марта mart mär mrz",
            "april avril avr abril abr aprile kwietnia апреля nisan",
            "mai mayo maggio mag maio mei maj maja мая mayıs",
            "juni juin junio giugno giu junho czerwca июня haziran",
            "juli juillet juil julio luglio lug julho lipca июля temmuz",
            "august août aout agosto ago augustus augusti agustus sierpnia августа ağustos",
            "september septembre sept septiembre settembre set setembro września сентября eylül",
            "oktober octobre octubre ottobre ott outubro out okt października октября ekim",
            "november novembre noviembre novembro listopada ноября kasım",
            "dezember décembre decembre déc diciembre dic dicembre dezembro dez december desember grudnia декабря aralık",
        ),
        1,
    )
    for name in names.split()
}
_DAY_MONTH_ABROAD = re.compile(
    r"(?<!\d)(\d{1,2})(?:\.|er|º|°)?\s*(?:de\s+)?(" + "|".join(sorted(_MONTHS_ABROAD, key=len, reverse=True)) + r")\.?"
    r",?\s+(?:del?\s+)?(\d{4})(?!\d)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"(?<!\d)(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?!\d)")
_WEEKDAY = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)", re.IGNORECASE)
_SHORT_YEAR = re.compile(
    r"(?<![\d./:-])(\d\d?([/-])(?:\d\d?|[a-z]{3})\2|\d\d\.\d\d\.)([0-6]\d)(?![\d./:-])", re.IGNORECASE
)
_SECONDS = re.compile(r"1\d{9}(?:\d{3})?")
_IN_ADDRESS = re.compile(r"/((?:19|20)\d\d)[/-](\d{1,2})[/-](\d{1,2})(?![\d])")


def parse_date(text: str) -> str | None:
    """Return the date, and time of day, that a short text states; None where it states none, or one
    that can be read in two ways.

    >>> parse_date("2024-05-03T15:47:42.389+0200")
    '2024-05-03T15:47:42+02:00'
    >>> parse_date("Fri, May 3rd, 2024"), parse_date("03.05.2024"), parse_date("03/05/2024")
    ('2024-05-03', '2024-05-03', None)
    >>> [parse_date(text) for text in ("vendredi 3 mai 2024", "3 de mayo de 2024", "3. März 2024")]
    ['2024-05-03', '2024-05-03', '2024-03-03']
    """
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    if match := _ISO.search(text):
        return _format_time(match)
    if match := _SECONDS.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC).isoformat()
    if match := _YEAR_FIRST.search(text) or _COMPACT.fullmatch(text):
        return _format_date(match[1], match[2], match[3])
    if match := _DAY_MONTH.search(text):
        return _parse_mail_date(text) or _format_date(match[3], _MONTHS[match[2].lower()], match[1])
    if match := _MONTH_DAY.search(text):
        return _format_date(match[3], _MONTHS[match[1].lower()], match[2])
    if match := _DAY_MONTH_ABROAD.search(text):
        return _format_date(match[3], _MONTHS_ABROAD[match[2].lower()], match[1])
    return _parse_numbers(match) if (match := _NUMBERS.search(text)) else None


def parse_dates(texts: Sequence[str]) -> list[str | None]:
    """Return the dates of the posts of a page, which all have one form: where some can be read in
    two ways, as the others are, or as the days of the week tell. Years may have two figures.

    >>> parse_dates(["03/05/2024", "14/05/2024"]), parse_dates(["Fri, 03/05/2024"])
    (['2024-05-03', '2024-05-14'], ['2024-05-03'])
    """
    texts = [_SHORT_YEAR.sub(r"\g<1>20\g<3>", text) for text in texts]
    matches = [_NUMBERS.search(text[:_LONGEST]) for text in texts]
    numbers = [(text, each) for text, each in zip(texts, matches, strict=True) if each and each[2] != "."]
    ways = (
        [is_day_first for is_day_first in (True, False) if all(_may_be(*each, is_day_first) for each in numbers)]
        if numbers
        else []
    )
    dates = [parse_date(text) for text in texts]
    if len(ways) != 1:
        return dates
    places = (1, 3) if ways[0] else (3, 1)
    return [
        date or (_format_date(match[4], match[places[1]], match[places[0]]) if match else None)
        for date, match in zip(dates, matches, strict=True)
    ]


def _may_be(text: str, match: re.Match[str], is_day_first: bool) -> bool:
    day = _format_date(match[4], *((match[3], match[1]) if is_day_first else (match[1], match[3])))
    stated = _WEEKDAY.search(text)
    return day is not None and (stated is None or date.fromisoformat(day).strftime("%a") == stated[1].capitalize())


def has_two_dates(text: str) -> bool:
    """Tell whether a short text states a span of days in figures.

    >>> has_two_dates("20.11.2020 - 24.12.2020"), has_two_dates("20.11.2020, 12:30")
    (True, False)
    """
    return len(_NUMBERS.findall(text[:_LONGEST])) > 1


_YEAR_MONTH = re.compile(r"((?:19|20)\d\d)[-/.]?(\d{2})")
_MONTH_YEAR = re.compile(_MONTH + r"\s+((?:19|20)\d\d)", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_PRECISIONS = {4: "year", 7: "month", 10: "day"}


def parse_any_date(text: str) -> str | None:
    """Return the date that a short text states as `parse_date` does, also a month or a year alone:
    for values that are declared to be dates.

    >>> [parse_any_date(text) for text in ("2024/05", "May 2024", "2024", "202413")]
    ['2024-05', '2024-05', '2024', None]
    """
    if whole := parse_date(text):
        return whole
    text = text.strip()
    if match := _YEAR_MONTH.fullmatch(text):
        return f"{match[1]}-{match[2]}" if 1 <= int(match[2]) <= 12 else None
    if match := _MONTH_YEAR.fullmatch(text):
        return f"{match[2]}-{_MONTHS[match[1].lower()]:02}"
    return text if _YEAR.fullmatch(text) else None


def find_precision(iso: str | None) -> str | None:
    """Return how much a date states: year, month, day or time."""
    return _PRECISIONS.get(len(iso), "time") if iso else None


def first_day(iso: str | None) -> date | None:
    """Return the day of a date, the first one of a month or a year.

    >>> first_day("2024-05"), first_day("2024-05-03T15:47:42+02:00"), first_day(None)
    (datetime.date(2024, 5, 1), datetime.date(2024, 5, 3), None)
    """
    return date.fromisoformat((iso + "-01-01"[-(10 - len(iso)) :] if len(iso) < 10 else iso)[:10]) if iso else None


def find_date_in_address(url: str) -> str | None:
    """Return the date in the path of an address.

    >>> find_date_in_address("https://e.org/2024/05/03/rain.html"), find_date_in_address("https://e.org/2024/05/rain.html")
    ('2024-05-03', None)
    """
    match = _IN_ADDRESS.search(url)
    return _format_date(match[1], match[2], match[3]) if match else None


def _format_date(year: str, month: str | int, day: str) -> str | None:
    try:
        day_read = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return day_read.isoformat() if day_read.year in _YEARS else None


def _format_time(match: re.Match[str]) -> str | None:
    day = _format_date(match[1], match[2], match[3])
    if day is None or match[4] is None:
        return day
    offset = (match[7] or "").upper()
    if offset in ("Z", "UTC", "GMT"):
        offset = "+00:00"
    elif offset:
        digits = offset[1:].replace(":", "")
        offset = f"{offset[0]}{digits[:2]}:{digits[2:] or '00'}"
    try:
        return datetime.fromisoformat(f"{day}T{match[4]:0>2}:{match[5]}:{match[6] or '00'}{offset}").isoformat()
    except ValueError:
        return day


def _parse_mail_date(text: str) -> str | None:
    """The form of mail (RFC 5322), which old pages have in `meta` elements."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return moment.isoformat() if ":" in text and moment.year in _YEARS else None


def _parse_numbers(match: re.Match[str]) -> str | None:
    """Dots stand between day and month; slashes and hyphens stand both ways, so that one of the two
    must be above 12."""
    first, mark, second, year = match.groups()
    if mark == "." or int(first) > 12:
        return _format_date(year, second, first)
    return _format_date(year, first, second) if int(second) > 12 or first == second else None
