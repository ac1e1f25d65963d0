"""Detects an extraction's language with py3langid (BSD-3-Clause, 4.6 MB with its model). The prior
probabilities come from the page's declared language and the frequency of languages.

py3langid was chosen over detectors that need a download (fastText's lid.176) or a compiled part.
"""

from functools import cache

from dripper.facts.language_model import load_identifier

SAMPLE_CHARACTERS = 800
"""Maximum number of characters to read. More characters take more time, and reading 10,000 changes
the answer on only 2 of 724 pages in 20 languages."""

_FIRST_CHARACTERS, _SURE = 200, 0.8
"""If the first 200 characters give a language at least this probability, no more are read. This is
the case on 93 of 100 pages. Reading 10,000 characters would change the answer on 4 of 3,000
labelled pages, and on 3 of 1,042 pages that are neither English nor Chinese. With a bound of 0.98,
or without this early stop, the same number of answers would change, and detection would take twice
as long."""

_MINIMUM_LETTERS = 20
"""Minimum number of letters in the text. With fewer, the detector answers `sr` or `zxx` with a
probability under 0.03, which is worse than no answer.
"""

_LEAST = 0.5
"""Below this probability the language is unknown. The bound and the weights below were chosen on
1,990 lines of 20 to 60 letters. Each line is from a page on which the language of the whole text is
certain. They were tested on 1,948 lines of other pages; all following percentages are of these
lines. The detector alone is wrong for 14.8 % (mostly `pcm`, `lb`, `bcl`). With this bound and these
weights, it is wrong for 1.0 % and gives no answer for 29 %. If the declared language of the page is
used too, it is wrong for 0.8 % and gives no answer for 6 %. If every page declared English (three
in ten lines are not English), it would be wrong for 2.3 %."""
_DECLARED_WEIGHT = 10.0
_RARE_WEIGHT, _RAREST_WEIGHT = 0.02, 0.002
"""Weights of languages outside _COMMON, with and without a two-letter code."""
_COMMON_CODES = """
    af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja
    ka kk km kn ko lo lt lv mk ml mn mr ms my ne nl no pa pl pt ro ru si sk sl sq sr sv sw ta te th tl
    tr uk ur uz vi zh
"""
_COMMON = frozenset(_COMMON_CODES.split())
"""Languages of many pages, according to the statistics of W3Techs and Common Crawl, and languages
that are not easily confused with others."""
_SAME = {"fil": "tl", "in": "id", "iw": "he", "kik": "ki", "nb": "no", "sh": "sr", "uzs": "uz"}
"""Language codes → the equivalent codes that this module uses."""
_NO_LANGUAGE = "zxx"
_NEGLIGIBLE = 1e-4
"""Languages below this probability are ignored. The most likely of the 142 languages is always
above this value."""


_load_model = cache(load_identifier)


def detect(text: str, declared: str | None = None) -> tuple[str | None, float | None]:
    """Return the language of `text` and its probability; (None, None) if the text has fewer than 20
    letters, or no language is probable enough.

    The code is from ISO 639-1, or from ISO 639-3 if 639-1 has none (`yue`).

    Args:
        declared: The language that the page declares, such as `en-GB`. The declared language
            decides only if the text leaves doubt.

    >>> detect("This is a plain English sentence about the weather.")[0]
    'en'
    >>> detect("Anna Berg, Jon Dahl, Ole Lind, Per Vik"), detect("12345")
    ((None, None), (None, None))
    """
    code, probability = None, 0.0
    for size in (_FIRST_CHARACTERS, SAMPLE_CHARACTERS):
        sample = " ".join(text[: 4 * size].split())[:size]
        if sum(map(str.isalpha, sample)) >= _MINIMUM_LETTERS:
            code, probability = _weigh(sample, read_code(declared))
            if probability >= _SURE or len(text) <= size:
                break
    if code is None or code == _NO_LANGUAGE or probability < _LEAST:
        return None, None
    return code, round(probability, 4)


def read_code(declared: str | None) -> str | None:
    """Return the language code in a declared tag (RFC 5646), in the form that this module uses.

    >>> read_code("nb_NO"), read_code("Zh-Hant"), read_code("")
    ('no', 'zh', None)
    """
    code = (declared or "").strip().lower().replace("_", "-").partition("-")[0]
    return _SAME.get(code, code) or None


def _weigh(sample: str, declared: str | None) -> tuple[str, float]:
    """Return the likeliest language, and its probability relative to the others."""
    probabilities = dict[str, float]()
    for code, probability in _load_model().rank(sample):
        if probability < _NEGLIGIBLE:
            break
        same = _SAME.get(code, code)
        weight = _DECLARED_WEIGHT if same == declared else 1.0
        if same not in _COMMON:
            weight *= _RARE_WEIGHT if len(same) == 2 else _RAREST_WEIGHT
        probabilities[same] = probabilities.get(same, 0.0) + float(probability) * weight
    best = max(probabilities, key=probabilities.__getitem__)
    return best, probabilities[best] / sum(probabilities.values())
