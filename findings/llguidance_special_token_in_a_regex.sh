#!/bin/sh
# llguidance permits only a token that it then refuses, where a regular expression has the text of a
# special token.
#
# Checkpoints often have tags such as `<answer>` as special tokens, and a grammar that forces the text
# `<answer>1` is natural for them. llguidance offers the special token alone (not `<`, which is a token as
# well), and consuming it is an error: no answer can be written. xgrammar takes the special token. Without
# the special token in the vocabulary llguidance writes the same expression.
#
# llguidance 1.7.6 and 1.9.1, tokenizers 0.23.3, transformers 5.19.0, Python 3.11; 28 November 2026. Seen,
# with each of them:
#   tags are text: permits '<', and takes it
#   tags are special tokens: permits ['<answer>'], and refuses it: doesn't satisfy the grammar
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages tokenizers==0.22.2 transformers==5.19.0
for version in 1.7.6 1.9.1; do
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "guidance-$version" "llguidance==$version"
PYTHONPATH="guidance-$version:packages" python3 - <<'PY' 2> /dev/null
from importlib.metadata import version

import llguidance
from llguidance import hf
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def make_tokenizer(specials):
    model = Tokenizer(models.BPE({piece: n for n, piece in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, []))
    model.pre_tokenizer, model.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    model.add_special_tokens([AddedToken(name) for name in ("<|end|>", *specials)])
    return PreTrainedTokenizerFast(tokenizer_object=model, eos_token="<|end|>")


def begin(specials):
    """Return the tokens that are permitted first, and what comes of taking the first of them."""
    tokenizer = make_tokenizer(specials)
    size = len(tokenizer)
    grammar = llguidance.grammar_from("regex", "<answer>1(main|other)</answer>")
    matcher = llguidance.LLMatcher(hf.from_tokenizer(tokenizer, size), grammar, log_level=0)
    mask = matcher.compute_bitmask()
    permitted = [n for n in range(size) if mask[n // 8] >> n % 8 & 1]
    taken = matcher.consume_token(permitted[0])
    return tokenizer.convert_ids_to_tokens(permitted), taken, matcher.get_error()


print("llguidance", version("llguidance"))
permitted, taken, _ = begin(())
print(f"tags are text: permits {permitted}, takes it: {taken}")
assert permitted == ["<"] and taken
permitted, taken, error = begin(("<answer>", "</answer>"))
print(f"tags are special tokens: permits {permitted}, takes it: {taken}, {error[:80]!r}")
assert permitted == ["<answer>"] and not taken and "doesn't satisfy the grammar" in error
PY
done
