"""Tells pages that say nothing from others: placeholders of what scripts would have written, and
refusals. Where such a page declares its text in JSON-LD, that is read in its place.

Of 4,632 labelled and collected pages the main text of 3 is such a sentence; none of these has a
main content by its truth, and none of the others is one.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

from dripper.html import preprocess_utf8
from dripper.html.blocks.page import Page
from dripper.html.profiles.registry import find_profile
from dripper.html.tree.plain import fold
from dripper.html.tree.tree import escape

METHOD = "declared"
"""The value of the column `method` for a text that was read in JSON-LD."""
_LONGEST = 400
"""Characters of a sentence that stands for a page."""
_SHORTEST = 250
"""Characters of a declared text: a paragraph."""
_BEGINNING = 40
"""Letters by which a declared text is found on its page."""
_ASKING = "enabl|disabl|requir|need|turn|allow|activ|aktiv|ativ|habilit|abilit|inschakel|включ|有効|启用|啟用"
_NOTHING = re.compile(
    rf"""\bjava\s?script\b.{{0,80}}(?:{_ASKING})|(?:{_ASKING}).{{0,60}}\bjava\s?script
    |^\W*(?:loading|please\ wait|(?:just\ a|one)\ moment|redirecting|chargement|wird\ geladen|cargando|загрузка|加载中
      |読み込み中).{{0,40}}$
    |^\W*(?:error|http|status|code)?\W*(?:40[0-9]|410|429|50[0-4])\b
    |\baccess\ (?:is\ |has\ been\ |was\ )?(?:denied|forbidden|blocked)|\brequest\ forbidden
    |\b(?:page|file|url|resource|document|address)\b.{{0,40}}\b(?:not\ (?:be\ )?found|cannot\ be\ found|can't\ be\ found
      |does(?:\ not|n't)\ exist|no\ longer\ (?:exists|available))
    |\b(?:seite\ nicht\ gefunden|page\ (?:introuvable|non\ trouvée)|página\ no\ (?:se\ )?encontrada)|страница\ не\ найдена
    |页面不存在|ページが見つかりません
    |\bchecking\ (?:if\ the\ site|your\ browser)|\bunusual\ traffic
    |\b(?:verify|confirm|prove)\ (?:that\ )?you(?:'re|\ are)\ (?:a\ |not\ a\ )?(?:human|robot|bot)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TAG = re.compile("</?[a-z][^<>]*>", re.IGNORECASE)


def says_nothing(text: str) -> bool:
    """Tell whether a page's main text is no more than a placeholder or a refusal.

    >>> says_nothing("You need JavaScript to go on."), says_nothing("JavaScript was new then.")
    (True, False)
    """
    return len(text) <= _LONGEST and _NOTHING.search(" ".join(text.replace("\u2019", "'").split())) is not None


def find_placeholder(texts: Sequence[str], main: Sequence[bool]) -> str:
    """Return what stands in place of a page's content: its main text, or one of its blocks where
    all of them together are no longer than that. Empty where the page says something.

    Args:
        texts: Of its blocks.
        main: Which of them are main.
    """
    said = "\n".join(compress(texts, main))
    if says_nothing(said):
        return said
    return next(filter(says_nothing, texts), "") if sum(map(len, texts)) <= _LONGEST else ""


def read_declared(page: Page) -> Page:
    """Return the page of the text that a page declares, where it shows none of it and little else,
    or a placeholder; else the page itself."""
    declared = page.hints.declared.strip()
    if len(declared) < _SHORTEST or not find_profile(page.profile).keeps_units:
        return page
    texts = [block.text for block in page.blocks]
    if sum(map(len, texts)) > _LONGEST and not any(map(says_nothing, texts)):
        return page
    if fold(_TAG.sub(" ", declared))[:_BEGINNING] in fold(" ".join(texts)):
        return page
    is_markup = _TAG.search(declared) is not None
    body = declared if is_markup else "".join(f"<p>{escape(line)}</p>" for line in declared.splitlines())
    read = preprocess_utf8(body.encode("utf-8", "ignore"), page.profile)
    hints = page.hints._replace(body="\n".join(block.text for block in read.blocks))
    return replace(read, title=page.title, hints=hints, metadata=page.metadata) if read.blocks else page


def is_declared(page: Page) -> bool:
    """Tell whether a page is one that was read in JSON-LD: it says all that it declares, and
    nothing else."""
    return len(page.hints.body) >= _SHORTEST and page.hints.body == "\n".join(block.text for block in page.blocks)
