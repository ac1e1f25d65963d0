"""Splits text in any script into words. Blocks are weighed by their number of words."""

import re

# In scripts written without spaces, each character counts as a word, roughly as in ROUGE tokenisers
# for these scripts. Otherwise a Chinese sentence would be one word, and weigh nothing beside an
# English one. Hangul has spaces, but a single syllable can carry the meaning of a word.
UNSPACED_RANGES = (
    ("\u0e00", "\u0e7f"),  # Thai
    ("\u3040", "\u30ff"),  # Hiragana, Katakana
    ("\u3400", "\u9fff"),  # CJK ideographs
    ("\uac00", "\ud7af"),  # Hangul syllables
    ("\uf900", "\ufaff"),  # CJK compatibility ideographs
    ("\U00020000", "\U0003ffff"),  # CJK extensions
)
_UNSPACED = "".join(f"{first}-{last}" for first, last in UNSPACED_RANGES)
# Five times as fast as the regular expression, and most blocks of most pages are ASCII.
_ASCII_WORDS = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))
_WORD = re.compile(f"(?=[^\\W_])[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")


def words_of(text: str) -> list[str]:
    """Return the lower-cased words of a text: runs of letters and digits, and single characters of
    unspaced scripts.

    >>> words_of("Don't 你好_x")
    ['don', 't', '你', '好', 'x']
    """
    if text.isascii():
        return text.translate(_ASCII_WORDS).split()
    return _WORD.findall(text.lower())
