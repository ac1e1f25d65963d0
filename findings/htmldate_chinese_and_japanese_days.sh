#!/bin/sh
# htmldate reads the date of a Chinese or Japanese page as 1 January of its year.
#
# Where a page states its date only in its text, as 2024年5月1日 (the same writing in both languages),
# `find_date` returns the year and makes up month and day. The Korean form with blanks and the Hungarian
# one are read to the day, so the made-up day cannot be told from a real one.
#
# htmldate 1.11.0, Python 3.11; 28 November 2026. Seen:
#   zh 2024-01-01, ja 2024-01-01, ko 2024-05-01, hu 2024-05-05
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages htmldate==1.11.0
export PYTHONPATH=packages
python3 - <<'PY'
from htmldate import find_date

WORDS = {
    "zh": ("河边的旧磨坊空置了三十年，去年由镇政府重新买回并修缮一新。", "2024年5月1日"),
    "ja": ("川辺の古い水車小屋は三十年のあいだ空き家だったが、町が買い戻した。", "2024年5月1日"),
    "ko": ("강가의 오래된 물레방앗간은 삼십 년 동안 비어 있었다.", "2024년 5월 1일"),
    "hu": ("A régi malom harminc évig üresen állt a folyó kanyarulatában.", "2024. május 5."),
}


def page(language):
    words, date = WORDS[language]
    text = "".join(f"<p>{words * 3}</p>" for _ in range(5))
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"><title>{words[:8]}</title></head>'
        f"<body><article><h1>{words[:8]}</h1><p>{date}</p>{text}</article></body></html>"
    )


seen = {language: find_date(page(language)) for language in WORDS}
print(", ".join(f"{language} {date}" for language, date in seen.items()))
assert seen == {"zh": "2024-01-01", "ja": "2024-01-01", "ko": "2024-05-01", "hu": "2024-05-05"}
PY
