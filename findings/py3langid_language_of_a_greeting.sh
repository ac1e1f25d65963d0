#!/bin/sh
# py3langid calls a short text a language that few people write, with no sign of doubt.
#
# Crawls have many short texts. py3langid 0.4 knows more than a thousand languages, and gives one for any
# text: Afrikaans for an empty one, Fulfulde for "Hello world", Bulgarian for Russian, Southern Uzbek for
# Persian, Cantonese for four characters that Mandarin and Cantonese share. The score is an
# unnormalised logarithm, which grows with the text, so no fixed threshold can filter these out.
#
# py3langid 0.4.0, numpy 2.4.6, Python 3.11; 28 November 2026. Seen:
#   '' af, 'Hello world' fuv, 'Привет, мир' bg, 'سلام دنیا' uzs, '你好世界' yue
#   a paragraph of English: en
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages py3langid==0.4.0 numpy==2.4.6
export PYTHONPATH=packages
python3 - <<'PY'
import py3langid

SEEN = {"": "af", "Hello world": "fuv", "Привет, мир": "bg", "سلام دنیا": "uzs", "你好世界": "yue"}
LONG = (
    "The mill at the river bend had been empty for thirty years when the village bought it, and nobody knew "
    "whether the wheel would ever turn again."
)
found = {text: py3langid.classify(text)[0] for text in SEEN}
print(", ".join(f"{text!r} {language}" for text, language in found.items()))
print("a paragraph of English:", py3langid.classify(LONG)[0])
assert found == SEEN
assert py3langid.classify(LONG)[0] == "en"
PY
