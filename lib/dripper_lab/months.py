"""Writes the names of months that `dripper.html.metadata.dates` knows, from Unicode's CLDR.

    python -m dripper_lab.months > lib/dripper/html/metadata/months.txt

A line holds the names of one month, January first: whole and short, alone and within a date, as
`fold_month` writes them. Of two languages that use one name for two months, the first of LANGUAGES
decides.
"""

import sys

from babel import Locale

from dripper.html.metadata.dates import fold_month

LANGUAGES = (
    *(
        "en",
        "de",
        "de_AT",
        "fr",
        "es",
        "it",
        "pt",
        "nl",
        "pl",
        "ru",
        "tr",
        "sv",
        "da",
        "nb",
        "id",
        "hu",
        "fi",
        "cs",
        "el",
    ),
    *("uk", "vi", "ar", "ar_LB", "ar_DZ", "ar_MA", "th", "ro", "ca", "sk", "bg", "he", "lt", "lv", "et", "sl"),
    *("sr", "sr_Latn", "mk", "is", "ms", "hi", "bn", "mr", "ta", "te", "ur", "hy", "ka", "az", "kk", "be", "gl", "eu"),
)

WRITTEN = {"mrz": 3}
"""Short names that people write and CLDR lacks."""


def list_months() -> list[str]:
    """Return the twelve lines."""
    months = dict(WRITTEN)
    for language in LANGUAGES:
        for widths in Locale.parse(language).months.values():
            for width in ("wide", "abbreviated"):
                for number, name in widths[width].items():
                    if len(word := fold_month(name)) > 1 and not word.isdigit():
                        months.setdefault(word, number)
    return [" ".join(sorted(name for name in months if months[name] == number)) for number in range(1, 13)]


if __name__ == "__main__":
    sys.stdout.write("\n".join(list_months()) + "\n")
