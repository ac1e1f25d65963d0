#!/bin/sh
# For a regular expression with the text of a special token, llguidance permits a token that it then refuses.
#
# Checkpoints often have tags such as `<answer>` as special tokens, and an expression that begins with
# such a tag is natural for them. llguidance permits the special token alone, not `<`, which is a token as
# well. To consume the special token is an error, so no answer can be written. If the tags are ordinary
# text, the same expression works.
#
# llguidance 1.7.6, tokenizers 0.22.2, Python 3.11; 28 November 2026. Seen:
#   tags are text: permits ['<'], takes it
#   tags are special tokens: permits ['<answer>'], refuses it: doesn't satisfy the grammar
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target packages llguidance==1.7.6 tokenizers==0.22.2
export PYTHONPATH=packages
python3 - <<'PY'
from llguidance import LLMatcher, LLTokenizer, grammar_from
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

PATTERN = "<answer>1(main|other)</answer>"


def begin(tags):
    """Return the tokens that are permitted first, whether the first of them is taken, and the error."""
    vocabulary = {piece: number for number, piece in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name) for name in ("<|end|>", *tags)])
    size = tokenizer.get_vocab_size()
    own = LLTokenizer(tokenizer.to_str(), eos_token=tokenizer.token_to_id("<|end|>"))
    matcher = LLMatcher(own, grammar_from("regex", PATTERN), log_level=0)
    mask = matcher.compute_bitmask()
    permitted = [number for number in range(size) if mask[number // 8] >> number % 8 & 1]
    taken = matcher.consume_token(permitted[0])
    return [tokenizer.id_to_token(number) for number in permitted], taken, matcher.get_error()


permitted, taken, error = begin(())
print(f"tags are text: permits {permitted}, takes it")
assert permitted == ["<"]
assert taken and not error
permitted, taken, error = begin(("<answer>", "</answer>"))
print(f"tags are special tokens: permits {permitted}, refuses it: {error.splitlines()[0]}")
assert permitted == ["<answer>"]
assert not taken and "doesn't satisfy the grammar" in error
PY
