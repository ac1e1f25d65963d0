"""Finds blocks that are never main content, although they look like tables of facts: consent
dialogs, and lists of dialling codes that a script turns into a form field.

Of 2,914 training pages of all kinds, 38 have such a list, and on 12, a dialog contains most of the
page's text. On 6 of the 38, the predicted main content was little more than a list of 30 to 235
countries. No ground truth contains such a list or dialog. Of 5,375 pages, another 139 have dialogs
with "cookie" or "consent" in their names. The dialogs contain 25,892 words. None of these words is
in the ground truth, but the networks kept 6,846.
"""

import re
from bisect import bisect_left
from itertools import pairwise

import numpy as np

from dripper.blocks.page import Page
from dripper.facts.metadata.words import COMMENTS, compile_words
from dripper.labels.arrays import BoolArray
from dripper.tree.elements import CONSENT, words

_FEWEST = 30
"""Minimum number of choices in a list. Main content has fewer numbers in a row."""
_LONGEST = 80
"""Maximum number of characters in a choice, that is, in a country's name and code."""
_GAP = 4
"""Maximum distance in blocks between two choices. Some countries have no code, or their name and
code are in separate blocks."""
_CODE = r"\(?\+\s?\d{1,4}(?:[\s-]\d{1,4})?\)?"
_CHOICE = re.compile(rf"\D*{_CODE}|{_CODE}\D*")
_DIALOG = re.compile(
    r"(?:^|\s)(?:cky-|(?:cookies?|consent|gdpr)[_-]?"
    r"(?:banner|bar|notice|notif|modal|popup|message|dialog|overlay|declaration|consent|law|preference|setting|warning|alert))"
    r"(?![\w-]*(?:open|active|visible|shown|enabled))",
    re.IGNORECASE,
)
"""Names of dialogs and cookie lists. Does not match names such as `cookie-banner-open`, which mark
a page with an open dialog."""
_LONGEST_NAME = 40
_WHOLE = words("html body main article")
_SHARE = 0.4
"""Minimum fraction of lines with a code, if a single block contains the whole list. Often, the name
of a country is on a separate line."""


def find_furniture(page: Page) -> BoolArray | None:
    """Return which blocks are never main, shape (n_blocks,), or None if there are no such
    blocks."""
    found = np.zeros(len(page.blocks), dtype=bool)
    _mark_pickers(page, found)
    _mark_dialogs(page, found)
    return found if found.any() else None


def find_comments(page: Page) -> BoolArray | None:
    """Return which blocks are readers' comments, shape (n_blocks,), or None if there are none.
    These are headings such as "Comments", and the blocks below such headings.

    If these blocks are left out, ROUGE-5 F1 is higher on 6 of 4,452 training pages and lower on 2.
    """
    comments, found = compile_words(COMMENTS), np.zeros(len(page.blocks), dtype=bool)
    for heading in page.headings:
        name = page.blocks[heading.first].text
        if heading.level > 1 and len(name) < _LONGEST_NAME and comments.fullmatch(name):
            found[heading.first : heading.last] = True
    return found if found.any() else None


def _mark_pickers(page: Page, found: BoolArray) -> None:
    texts = [block.text for block in page.blocks]
    if sum(text.count("+") for text in texts) < _FEWEST:
        return
    for index, text in enumerate(texts):
        found[index] = _has_choices(text)
    run: list[int] = []
    choices = [index for index, text in enumerate(texts) if _is_choice(text)]
    for choice, following in pairwise([*choices, len(texts) + _GAP]):
        run.append(choice)
        between = texts[choice + 1 : following] if following - choice <= _GAP else [""]
        if following - choice > _GAP or any(len(text) > _LONGEST for text in between):
            if len(run) >= _FEWEST:
                found[run[0] : run[-1] + 1] = True
            run = []


def _has_choices(text: str) -> bool:
    """Return whether a single block contains a list of choices."""
    if text.count("+") < _FEWEST:
        return False
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    return sum(map(_is_choice, lines)) >= max(_FEWEST, _SHARE * len(lines))


def _is_choice(text: str) -> bool:
    return "+" in text and len(text) <= _LONGEST and _CHOICE.fullmatch(text) is not None


def _mark_dialogs(page: Page, found: BoolArray) -> None:
    tree = page.elements
    ids = tree.values("id")
    tags = {tag for tag, name in ids.items() if name in CONSENT}
    if "ookie" not in page.title:  # A page about cookies may have a list of cookies as content.
        for values in (ids, tree.values("class")):
            joined = " ".join(values.values())
            signs = [sign for sign in ("ookie", "onsent", "gdpr", "cky-") if sign in joined]
            said = {tag for sign in signs for tag, name in values.items() if sign in name}
            tags.update(tag for tag in said if tree.names[tag] not in _WHOLE and _DIALOG.search(values[tag]))
    dialogs = tree.tagged(tags)
    firsts = [block.first for block in page.blocks] if dialogs else []
    for dialog in dialogs:
        found[bisect_left(firsts, tree.opens[dialog]) : bisect_left(firsts, tree.closes[dialog])] = True
