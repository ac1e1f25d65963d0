"""Compiles regular expressions with words in many languages. `words.txt` has one section for each
meaning: a line with the name of the meaning, and then its words, one per line."""

import re
from functools import cache
from importlib.resources import files

_MEANING = re.compile("<([a-z ]+)>")

COMMENTS = r"[\W\d]*(?:[^\W\d_]+\s+){0,2}(?:<comments>)[\W\d]*"
"""Headings above readers' comments."""
REMARKS = r"[\W\d]*(?:[^\W\d_]+\s+){0,2}(?:<comments>|<remarks>)[\W\d]*(?:\s[^\W\d_]+){0,4}[\W\d]*"
"""Headings above comments, answers or reviews."""
CHANGES = r"(?:\b|_|(?<=last)|(?<=post))(?:<changes>)|<changes anywhere>"
"""Words for a change to a page."""


@cache
def compile_words(form: str) -> re.Pattern[str]:
    """Compile a regular expression, ignoring case. Each `<meaning>` in it is replaced by the words
    with that meaning.

    >>> [compile_words(COMMENTS).fullmatch(text) is None for text in ("Comments", "Comments on it")]
    [False, True]
    """
    text = files("dripper.facts.metadata").joinpath("words.txt").read_text("utf-8")
    sections = (section.splitlines() for section in text.split("\n\n"))
    words = {name.strip("[]"): "|".join(alternatives) for name, *alternatives in sections}
    return re.compile(_MEANING.sub(lambda meaning: words[meaning[1]], form), re.IGNORECASE)
