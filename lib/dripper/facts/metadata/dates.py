"""Finds dates in text, and converts them to ISO 8601.

Month names in 53 languages and regions are in `months.txt`, from Unicode's CLDR
(https://cldr.unicode.org, licence Unicode-3.0; `python -m dripper_lab.months` writes the file).
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from dripper.facts.metadata.words import CHANGES, compile_words

_YEARS = range(1900, 2101)
_BUDDHIST = 543
"""Number of years by which the Thai calendar is ahead."""
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "民國": 1911, "民国": 1911}
"""The year before the first year of each era."""
_LONGEST = 100
"""Maximum length, in characters, of text that is read as a single date. Longer text could contain
several dates."""
_LONGEST_TIME = 30

_ACCENTS = re.compile("[\u0300-\u036f.]")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Direction marks and zero-width characters."""
_MONTH = r"(?<![^\W\d_])(tháng\s*\d\d?|[^\W\d_][^\s\d,،;:()\[\]/|·–-]{1,19})"
_YEAR_LAST = r"(\d{4})(?!\d)"
_ISO = re.compile(
    r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)"
    r"(?:[T\s]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?)?(?!\d))?",
    re.IGNORECASE,
)
_SECONDS = re.compile(r"\A(1\d{9})(?:\d{3})?\Z")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})\s*[/.年년]\s*(\d{1,2})\s*[/.月월]\s*(\d{1,2})(?!\d)")
_COMPACT = re.compile(r"\A(\d{4})(\d{2})(\d{2})(?:T?\d{4,6}Z?)?\Z")
_ERA = re.compile(rf"({'|'.join(_ERAS)})\s*(\d{{1,3}}|元)\s*[年.]\s*(\d{{1,2}})\s*[月.]\s*(\d{{1,2}})(?!\d)")
_DAY_MONTH = re.compile(
    r"(?<!\d)(\d{1,2})(?:(?:st|nd|rd|th|er)\b|[º°ª])?[\s./-]*(?:(?:of|del?|d’|d')\s*)?"
    + _MONTH
    + r"(?:/[^\W\d_]+)?[\s.,،/-]*(?:(?:del?|năm|พ\.ศ\.)\s*)?"
    + _YEAR_LAST,
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(_MONTH + r"\s+(\d{1,2})(?:st|nd|rd|th)?(?:,\s*|\s+)" + _YEAR_LAST, re.IGNORECASE)
_YEAR_MONTH_DAY = re.compile(r"(?<!\d)(\d{4})[\s.-]+(?:m\.\s+)?" + _MONTH + r"[\s.-]+(\d{1,2})(?!\d)", re.IGNORECASE)
_NUMBERS = re.compile(r"(?<!\d)(\d{1,2})([./-])(\d{1,2})\2" + _YEAR_LAST)
_WEEKDAY = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)", re.IGNORECASE)
_SHORT_YEAR = re.compile(
    r"(?<![\d./:-])(\d\d?([/-])(?:\d\d?|[a-z]{3})\2|\d\d\.\d\d\.)([0-6]\d)(?![\d./:-])", re.IGNORECASE
)
_IN_ADDRESS = re.compile(r"/((?:19|20)\d\d)[/-](\d{1,2})[/-](\d{1,2})(?![\d])")


_LETTERS = re.compile(r"[^\W\d_]")


class Found(NamedTuple):
    """A date within text."""

    start: int
    end: int
    iso: str


def parse_date(text: str) -> str | None:
    """Return the date in a short `text`, with the time of day if given. Return None if the date is
    missing or ambiguous.

    >>> parse_date("2024-05-03T15:47:42.389+0200")
    '2024-05-03T15:47:42+02:00'
    >>> parse_date("Fri, May 3rd, 2024"), parse_date("03.05.2024"), parse_date("03/05/2024")
    ('2024-05-03', '2024-05-03', None)
    >>> [parse_date(text) for text in ("3 de mayo de 2024", "2024년 5월 3일", "3 พ.ค. 2567")]
    ['2024-05-03', '2024-05-03', '2024-05-03']
    """
    text = text.strip()
    return next((found.iso for found in _search(text)), None) if text and len(text) <= _LONGEST else None


def find_dates(text: str) -> list[Found]:
    """Return the dates in `text`, in order.

    >>> [found.iso for found in find_dates("Updated 7 April 2025, published May 3, 2024")]
    ['2025-04-07', '2024-05-03']
    """
    dates = list[Found]()
    for found in _search(text):
        if all(found.end <= other.start or other.end <= found.start for other in dates):
            dates.append(found)
    return sorted(dates)


def cut_dates(text: str) -> str:
    """Return `text` without its dates."""
    for found in reversed(find_dates(text)):
        text = f"{text[: found.start]} {text[found.end :]}"
    return text


def says_change(text: str) -> bool:
    """Return whether `text` mentions a change, such as "Last updated"."""
    return compile_words(CHANGES).search(text) is not None


def label_dates(line: str) -> list[tuple[str, bool]]:
    """Return a pair (date, is_change) for each date in a line. The words before a date show whether
    it is the date of a change. If the line begins with a date and ends with a word, the words after
    each date decide instead.

    >>> label_dates("Updated 7 April 2025, published May 3, 2024")
    [('2025-04-07', True), ('2024-05-03', False)]
    >>> label_dates("2024年5月3日 公開 2025年4月7日 更新")
    [('2024-05-03', False), ('2025-04-07', True)]
    """
    dates = find_dates(line)
    starts, ends = [0, *(found.end for found in dates)], [*(found.start for found in dates), len(line)]
    labels = [line[start:end] for start, end in zip(starts, ends, strict=True)]
    first = 1 if _LETTERS.search(labels[-1]) and not _LETTERS.search(labels[0]) else 0
    return [(found.iso, says_change(label)) for found, label in zip(dates, labels[first:], strict=False)]


def _search(text: str) -> Iterator[Found]:
    text = text if text.isascii() else _INVISIBLE.sub(lambda mark: " ", text)
    for pattern, read in _FORMS:
        for match in pattern.finditer(text):
            if (iso := read(match)) is not None:
                yield Found(match.start(), match.end(), iso)


def fold_month(name: str) -> str:
    """Return a month name as `months.txt` spells it: in lower case, without accents, dots or
    spaces."""
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", name.casefold())).replace(" ", "")


@cache
def _months() -> dict[str, int]:
    lines = files("dripper.facts.metadata").joinpath("months.txt").read_text("utf-8").splitlines()
    return {name: number for number, line in enumerate(lines, 1) for name in line.split()}


def _name_day(year: str, month: str, day: str) -> str | None:
    number = _months().get(fold_month(month))
    return _format_date(year, number, day) if number else None


def _read_mail(match: re.Match[str]) -> str | None:
    """Read a date such as "3 May 2024", and the time after it if both are in the mail format (RFC
    5322). Old pages use this format in `meta` elements."""
    day = _name_day(match[3], match[2], match[1])
    rest = match.string[match.start() : match.end() + _LONGEST_TIME]
    if day is None or ":" not in rest:
        return day
    try:
        return parsedate_to_datetime(rest).isoformat()
    except (ValueError, TypeError, IndexError):
        return day


def _read_era(match: re.Match[str]) -> str | None:
    return _format_date(_ERAS[match[1]] + (1 if match[2] == "元" else int(match[2])), match[3], match[4])


def _read_time(match: re.Match[str]) -> str | None:
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


def _read_numbers(match: re.Match[str]) -> str | None:
    """Read a numeric date. With dots, the day comes first. With slashes or hyphens, the day or the
    month may come first, so one number must be above 12, or both must be the same."""
    first, mark, second, year = match.groups()
    if mark == "." or int(first) > 12:
        return _format_date(year, second, first)
    return _format_date(year, first, second) if int(second) > 12 or first == second else None


def _format_date(year: str | int, month: str | int, day: str) -> str | None:
    number = int(year)
    number -= _BUDDHIST if number - _BUDDHIST in _YEARS else 0
    try:
        day_read = date(number, int(month), int(day))
    except ValueError:
        return None
    return day_read.isoformat() if day_read.year in _YEARS else None


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]], ...] = (
    (_ISO, _read_time),
    (_SECONDS, lambda match: datetime.fromtimestamp(int(match[1]), UTC).isoformat()),
    (_YEAR_FIRST, lambda match: _format_date(match[1], match[2], match[3])),
    (_COMPACT, lambda match: _format_date(match[1], match[2], match[3])),
    (_DAY_MONTH, _read_mail),
    (_MONTH_DAY, lambda match: _name_day(match[3], match[1], match[2])),
    (_YEAR_MONTH_DAY, lambda match: _name_day(match[1], match[2], match[3])),
    (_ERA, _read_era),
    (_NUMBERS, _read_numbers),
)
"""Date patterns, the most certain first. Each has a function that reads its matches."""


def parse_dates(texts: Sequence[str]) -> list[str | None]:
    """Return the dates of a page's posts. All dates are assumed to have the same format, so the
    other dates or the weekdays resolve ambiguous dates. Years may have two digits.

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


_YEAR_MONTH = re.compile(r"((?:19|20)\d\d)[-/.]?(\d{2})")
_MONTH_YEAR = re.compile(_MONTH + r"\s+((?:19|20)\d\d)", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_PRECISIONS = {4: "year", 7: "month", 10: "day"}


def parse_any_date(text: str) -> str | None:
    """Return the date in a short `text`. Unlike `parse_date`, also accept a month or a year alone.
    Meant for values that are declared to be dates.

    >>> [parse_any_date(text) for text in ("2024/05", "May 2024", "2024", "202413")]
    ['2024-05', '2024-05', '2024', None]
    """
    if whole := parse_date(text):
        return whole
    text = text.strip()
    if match := _YEAR_MONTH.fullmatch(text):
        return f"{match[1]}-{match[2]}" if 1 <= int(match[2]) <= 12 else None
    if match := _MONTH_YEAR.fullmatch(text):
        number = _months().get(fold_month(match[1]))
        return f"{match[2]}-{number:02}" if number else None
    return text if _YEAR.fullmatch(text) else None


def find_precision(iso: str | None) -> str | None:
    """Return the precision of a date: year, month, day or time."""
    return _PRECISIONS.get(len(iso), "time") if iso else None


def first_day(iso: str | None) -> date | None:
    """Return the day of a date, or the first day of a date that is only a month or a year.

    >>> first_day("2024-05"), first_day("2024-05-03T15:47:42+02:00"), first_day(None)
    (datetime.date(2024, 5, 1), datetime.date(2024, 5, 3), None)
    """
    return date.fromisoformat((iso + "-01-01"[-(10 - len(iso)) :] if len(iso) < 10 else iso)[:10]) if iso else None


def find_date_in_address(url: str) -> str | None:
    """Return the date in the path of a URL.

    >>> find_date_in_address("https://e.org/2024/05/03/rain.html"), find_date_in_address("https://e.org/2024/05/rain.html")
    ('2024-05-03', None)
    """
    match = _IN_ADDRESS.search(url)
    return _format_date(match[1], match[2], match[3]) if match else None
