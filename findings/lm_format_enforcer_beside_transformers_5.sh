#!/bin/sh
# lm-format-enforcer says that transformers is not installed, although transformers 5 is.
#
# Its modules for transformers and for vLLM import a name from `transformers.tokenization_utils`, which
# transformers 5 does not have there. They catch the error and say that the package is missing. vLLM 0.32
# requires both lm-format-enforcer 0.11.3 and transformers 5. The engine itself works.
#
# lm-format-enforcer 0.11.3, transformers 5.19.0, Python 3.11; 28 November 2026. Seen:
#   transformers 5.19.0: ImportError: transformers is not installed. Please install it with "pip install …
#   the engine alone permits '1' after '<answer>': True
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
pip="python3 -m pip install --quiet --disable-pip-version-check --no-compile --target packages"
$pip transformers==5.19.0 pydantic==2.14.3
$pip --no-deps lm-format-enforcer==0.11.3 interegular==0.3.3
export PYTHONPATH=packages
python3 - <<'PY'
import transformers
from lmformatenforcer import RegexParser

try:
    import lmformatenforcer.integrations.transformers  # noqa: F401
except ImportError as error:
    said = str(error)
print(f"transformers {transformers.__version__}: ImportError: {said[:70]}…")
assert transformers.PreTrainedTokenizerBase.__name__ == "PreTrainedTokenizerBase"
assert said.startswith("transformers is not installed")

parser = RegexParser("<answer>1(main|other)</answer>")
for character in "<answer>":
    parser = parser.add_character(character)
permitted = "1" in parser.get_allowed_characters()
print(f"the engine alone permits '1' after '<answer>': {permitted}")
assert permitted
PY
