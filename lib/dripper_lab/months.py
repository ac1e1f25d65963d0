"""Writes the month names for `dripper.facts.metadata.dates`, from Unicode's CLDR.

    python -m dripper_lab.months > lib/dripper/facts/metadata/months.txt

Each line contains the names of one month, January first, as normalized by `fold_month`: full and
abbreviated names, standalone and within dates. If two languages use the same name for different
months, the first one in LANGUAGES wins.
"""

import sys

from babel import Locale

from dripper.facts.metadata.dates import fold_month

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
"""Common abbreviations that are missing in CLDR."""


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
