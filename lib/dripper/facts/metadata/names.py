"""Cleans the names of authors, tags and sites."""

import re
from collections.abc import Callable, Iterable
from html import unescape
from itertools import takewhile

_LONGEST = 100
_MOST = 30
_TAG = re.compile(
    r"</?(?:(a|abbr|b|em|font|i|img|mark|small|span|strong|sub|sup|u)|br|div|h[1-6]|hr|li|ol|p|ul)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
"""The group matches inline elements, which are removed without leaving a space."""
_ENDS = " -–—|·•,:;»«"
"""Characters between a name and the text beside it."""
_BEFORE = re.compile(
    r"(?:(?:this \w+ was\s+)?(?:added|asked|answered|created|post|posted|published|review|reviewed|story|submitted|text|words|"
    r"written)\s+)?by\b[\s:–-]*"
    r"|(?:(?:本報|本报)?(?:作者|著者|執筆者?|文責|撰文|文字|記者|记者|責任編輯|责任编辑|編集|编辑)|글|기자|작성자|문|文)\s*[:：/／]\s*"
    r"|via\s+|authors?\b\s*:?\s*|(?-i:Von|Par|Por|Door|Av)\s+(?=\S+\s+\S)",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"(?<=\w)\s*[|•·–—]|\s+-\s|\s*\b(?:on|says|said|updated|published|posted)\b|\s*\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\s*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d|(?<!\w)\d|\s+\d",
    re.IGNORECASE,
)
"""The start of the text that follows a name on a line: a date, a count or a word such as "on"."""
_APART = re.compile(
    r"\s*[;|•/、，；]\s*|\s+·\s+|\s+(?:and|und|et|y|e|i|a|og|och|en|ja|ve|и|і|και|và)\s+|\s*&\s*|\s*,\s*(?:and\s+)?",
    re.IGNORECASE,
)
_FIRM = re.compile(
    r"(?:&|\b(?:and|und|et)\b)[^,;|/]*\s(?:inc|ltd|llc|llp|plc|pllc|pc|gmbh|kg|ohg|ag|sa|corp|co|partners?|associates|sons|brothers|"
    r"attorneys|solicitors|lawyers)\.?$",
    re.IGNORECASE,
)
"""A firm that is named after several people."""
_WHOLE = re.compile(r"[\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3・·]{2,10}")
"""A first and last name in Han, kana or hangul, without a space between them."""
_OFFICE_BEHIND = re.compile(r"(?<=[\u3400-\u9fff\uac00-\ud7a3])\s*(?:기자|특파원|記者|记者|編集者)$")
_NO_NAME = re.compile(
    r"https?:|www\.|@|\.(?:com|org|net)/|^[(\[].*[)\]]$|^[\W\d_]*$|[©®]|\be-?mail\b|^user\s?name\b"
    r"|^(?:for|special to|from|exclusive)\b",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\b(?:(?:vice )?president|chair(?:man|woman)?|c[efot]o|chief|director|head of|manager|officer|founder|partner at|professor|"
    r"lecturer|fellow|editor|reporter|correspondent|columnist|contributor|writer|journalist|analyst|engineer|scientist|"
    r"researcher|consultant|specialist|division)\b",
    re.IGNORECASE,
)
"""Titles and positions after a name and a comma. The rest of the text is also about that person."""
_MORE = re.compile(r",?\s+(?:et al\b|u\.\s?a\.|and others).*|\s+@\s.*", re.IGNORECASE)
"""Text after a name: further authors, or the place that the author writes from."""
_NOBODY = re.compile(
    r"ph\.?d|m\.?d|dr|mba|esq|(?:(?:site|web) ?)?admin|administrator|(?:the |about the )?author|authors|webmaster|super ?user|user|"
    r"unknown|none|null|undefined|by|von|par|por|staff|guest|editors?|contributor|anonymous|wordpress|joomla|drupal|typo3|"
    r"wix|shopify|squarespace|blogger|moderator|member|root|system|"
    r"管理[员員者]|佚名|匿名|未知|小[编編]|编辑|編集者?|本站|原创|관리자|운영자|익명"
)
"""Lower-case words that some pages have in place of an author's name."""


def join_lines(text: str) -> str:
    """Return the text with its white space collapsed."""
    return " ".join(text.split())


def remove_tags(text: str) -> str:
    """Remove HTML tags, escaped or not, that a site's editor left in `text`.

    >>> join_lines(remove_tags("<p>Rain in <b>Bergen</b>.</p>&lt;br&gt;Sun in Oslo, x < y."))
    'Rain in Bergen. Sun in Oslo, x < y.'
    """
    return _TAG.sub(lambda tag: "" if tag[1] else " ", unescape(text)) if "<" in text or "&lt;" in text else text


def split_authors(texts: Iterable[str], is_one: Callable[[str], bool] = lambda text: False) -> tuple[str, ...]:
    """Return the names in `texts`. Each string names one or more authors.

    Args:
        is_one: Returns whether a whole string is one name, such as the site's name.

    >>> split_authors(["By Ann Lee and Bo  Ray", "https://e.org/ann", "admin", "Lee, Ann"])
    ('Ann Lee', 'Bo Ray', 'Lee, Ann')
    """
    names: dict[str, str] = {}
    for text in texts:
        line = _MORE.sub("", _cut_before(join_lines(text)))
        stated = _APART.split(line)
        parts = list(takewhile(lambda part: not _ROLE.search(part), stated)) or [line]
        line = line if len(parts) == len(stated) else ", ".join(parts)
        # "Lee, Ann" and "Marks & Spencer" are one name each. A string with several names has a
        # first and a last name for each.
        are_several = all(map(_may_be_name, parts)) and not is_one(line) and not _FIRM.search(line)
        for name in (_OFFICE_BEHIND.sub("", part.strip(_ENDS)) for part in (parts if are_several else [line])):
            is_name = 1 < len(name) <= _LONGEST and not _NO_NAME.search(name)
            if is_name and not _NOBODY.fullmatch(name.casefold().rstrip(".")):
                names.setdefault(name.casefold(), name)
    return tuple(names.values())[:_MOST]


def is_whole(text: str) -> bool:
    """Return whether `text` has a first and a last name, or more words.

    >>> [is_whole(text) for text in ("Ann Lee", "Ann", "山田太郎", "김철수")]
    [True, False, True, True]
    """
    return " " in text or _WHOLE.fullmatch(text) is not None


def _may_be_name(text: str) -> bool:
    """Return whether `text` could be a person's first and last name: at most six words and no
    digit."""
    return is_whole(text) and text.count(" ") < 6 and not any(map(str.isdigit, text))


_ORGANISATION = re.compile(
    r"\b(?:inc|ltd|llc|llp|plc|gmbh|mbh|corp|corporation|company|co\. kg|s\.?a\.?s|s\.?r\.?l|sp\. z o\.\s?o|team|staff|"
    r"editors|editorial|redaktion|redacci[oó]n|r[ée]daction|redazione|redactie|newsroom|newsdesk|news|press|presse|media|"
    r"office|department|\w*minister(?:ium|stvo)|minist(?:ry|[èe]re|[eé]rio|erio|ero)|министерство|university|universit[äéà]t?|college|school|institute?|association|project|foundation|stiftung|verein|"
    r"society|council|commission|committee|ministry|agency|agentur|agence|magazine|journal|blog|online|group|network|"
    r"studios?|services?|center|centre|library|museum|club|store|reuters|afp|dpa|admin|board|bureau|federation|publishing|"
    r"publications|productions|solutions|technologies|partners|associates|attorneys|solicitors|lawyers|uk|usa)\b|^the\s|(?-i:^[A-Z]{3,5}$)"
    r"|^[\w-]++(?:\.[\w-]++)*\.[a-z]{2,12}$|(?:新聞|新闻|网络|科技|传媒|通信社|通讯社|编辑部|編集部|株式会社|公司|신문|뉴스|방송|일보|협회|위원회)|(?:[網网報报社局站]|편집부|팀)$",
    re.IGNORECASE,
)
"""Matches host names, and words that do not occur in people's names."""


def is_organisation(name: str) -> bool:
    """Return whether a name belongs to an organisation, judging by its words.

    >>> [is_organisation(name) for name in ("Office of Public Affairs", "daily.example.com")]
    [True, True]
    """
    return _ORGANISATION.search(name) is not None


_BESIDE_NAME = re.compile(r"\s+[|–—/-]\s+|\s+\((?=[^()]{2,60}\)$)")


def cut_company(name: str, is_site: Callable[[str], bool] = lambda text: False) -> str:
    """Remove text after a separator, or in brackets, from the end of a person's name.

    Args:
        is_site: Returns whether a string is the site's name.

    >>> list(map(cut_company, ("Ann Lee | The Daily", "Ann Lee (Editor)", "The Daily - Sport")))
    ['Ann Lee', 'Ann Lee', 'The Daily - Sport']
    """
    first, *beside = _BESIDE_NAME.split(name, maxsplit=1)
    is_person = " " in first or any(map(is_site, beside))
    return first if is_person and not is_organisation(first) and not first.lower().startswith("the ") else name


def read_byline(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names in the first string that contains any. Dates and counts beside the names are
    removed. Later strings are ignored, because they belong to comments, answers and other articles.

    >>> read_byline(["", "By Ann Lee on 3 May 2024 | 5 min read", "Bo Ray"])
    ('Ann Lee',)
    """
    lines = (_BESIDE.split(_cut_before(join_lines(text)), maxsplit=1)[0] for text in texts)
    return next((names for line in lines if (names := split_authors([line]))), ())


def _cut_before(line: str) -> str:
    start = _BEFORE.match(line)
    return line[start.end() :] if start else line


def split_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the keywords in `texts`. Each string holds one keyword, or several separated by
    commas.

    >>> split_tags(["rain, Bergen", "Rain"])
    ('rain', 'Bergen')
    """
    tags: dict[str, str] = {}
    for text in texts:
        for tag in map(join_lines, re.split("[,;，、]", text)):
            if tag and len(tag) <= _LONGEST:
                tags.setdefault(tag.casefold(), tag)
    return tuple(tags.values())[:_MOST]
