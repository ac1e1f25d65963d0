#!/bin/sh
# lm-format-enforcer says that transformers is not installed, beside transformers 5.
#
# Its modules for transformers and for vLLM import a name from `transformers.tokenization_utils`, which
# transformers 5 does not have there. They catch the error and say that the package is missing. vLLM 0.33
# demands both lm-format-enforcer 0.11.3 and transformers 5, so a server that is started with the grammar
# engine `lm-format-enforcer` cannot use it. The engine itself, without these modules, works.
#
# lm-format-enforcer 0.11.3, transformers 5.19.0, Python 3.11; 28 November 2026. Seen:
#   transformers 5.19.0: ImportError: transformers is not installed. Please install it with "pip install
#   transformers[torch]"
#   the engine alone permits '1' after '<answer>': True
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages lm-format-enforcer==0.11.3 transformers==5.19.0
export PYTHONPATH=packages
python3 - <<'PY' 2> /dev/null
import transformers
from lmformatenforcer import RegexParser

try:
    import lmformatenforcer.integrations.transformers as module
except ImportError as error:
    said = str(error)
print(f"transformers {transformers.__version__}: ImportError: {said}")
assert transformers.AutoTokenizer and transformers.PreTrainedTokenizerBase
assert said.startswith("transformers is not installed")

parser = RegexParser("<answer>1(main|other)</answer>")
for character in "<answer>":
    parser = parser.add_character(character)
permitted = "1" in parser.get_allowed_characters()
print(f"the engine alone permits '1' after '<answer>': {permitted}")
assert permitted
PY
