"""The expressions of answer forms in the four grammar engines among which vLLM's servers choose,
each called as vLLM calls it."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.template import HOLE, Templates

transformers = pytest.importorskip("transformers", reason="needs the extra [lm]")
N_BLOCKS = 12
SPECIAL = ("<answer>", "</answer>")


@cache
def make_tokenizer(special: bool = False) -> Any:
    """Return a tokenizer of bytes in which words and the separators of labels are tokens too.

    special: whether the tags of the tagged forms are special tokens.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    words = ("main", "other", '":', '",', '{"', '"}', 'Ġ"', "Ċ")
    merges: list[tuple[str, str]] = []
    for word in words:
        merges += [(word[:end], word[end]) for end in range(1, len(word)) if (word[:end], word[end]) not in merges]
    pieces = sorted(pre_tokenizers.ByteLevel.alphabet()) + [one + two for one, two in merges]
    model = Tokenizer(models.BPE({piece: number for number, piece in enumerate(pieces)}, merges))
    model.pre_tokenizer, model.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    model.add_special_tokens([AddedToken(name) for name in ("<|end|>", *(SPECIAL if special else ()))])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, eos_token="<|end|>", pad_token="<|end|>")


Grammar = Iterator[set[int]]
"""Gives the permitted tokens, and is sent the next one."""


def by_xgrammar(tokenizer: Any, expression: str) -> Any:
    xgrammar = pytest.importorskip("xgrammar", reason="comes with vLLM: make test-vllm")
    size = len(tokenizer)
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=size))
    matcher = xgrammar.GrammarMatcher(compiler.compile_regex(expression))
    mask = xgrammar.allocate_token_bitmask(1, size)
    while True:
        matcher.fill_next_token_bitmask(mask, 0)
        token = yield {n for n in range(size) if mask[0][n // 32].item() >> n % 32 & 1}
        assert matcher.accept_token(token)


def by_llguidance(tokenizer: Any, expression: str) -> Any:
    llguidance = pytest.importorskip("llguidance", reason="comes with vLLM: make test-vllm")
    from llguidance import hf

    size = len(tokenizer)
    matcher = llguidance.LLMatcher(
        hf.from_tokenizer(tokenizer, size), llguidance.grammar_from("regex", expression), log_level=0
    )
    while True:
        mask = matcher.compute_bitmask()
        token = yield {n for n in range(size) if mask[n // 8] >> n % 8 & 1}
        assert matcher.consume_token(token), matcher.get_error()


def by_outlines(tokenizer: Any, expression: str) -> Any:
    outlines = pytest.importorskip("outlines_core", reason="comes with vLLM: make test-vllm")
    end = tokenizer.eos_token_id
    words: dict[bytes, list[int]] = {}
    for number in range(len(tokenizer)):
        if number != end:
            words.setdefault(tokenizer.decode([number]).encode(), []).append(number)
    guide = outlines.Guide(outlines.Index(expression, outlines.Vocabulary(end, words)))
    while True:
        token = yield set(guide.get_tokens())
        guide.advance(token)


def by_lm_format_enforcer(tokenizer: Any, expression: str) -> Any:
    enforcer_of = pytest.importorskip("lmformatenforcer", reason="comes with vLLM: make test-vllm")
    from lmformatenforcer.tokenenforcer import TokenEnforcerTokenizerData

    # As in its module for transformers, which cannot be imported with transformers 5.
    regular = [n for n in range(len(tokenizer)) if n not in tokenizer.all_special_ids]
    words = [(n, tokenizer.decode([n]), tokenizer.decode([n])[:1] == " ") for n in regular]
    data = TokenEnforcerTokenizerData(words, tokenizer.decode, tokenizer.eos_token_id, False, len(tokenizer))
    enforcer = enforcer_of.TokenEnforcer(data, enforcer_of.RegexParser(expression))
    written: list[int] = []
    while True:
        written = [*written, (yield set(enforcer.get_allowed_tokens(written).allowed_tokens))]


ENGINES: tuple[Callable[..., Any], ...] = (by_xgrammar, by_llguidance, by_outlines, by_lm_format_enforcer)
REFUSED = {(by_llguidance, "json_machine")}
"""If the text is fixed, llguidance permits only the longest token: `{"`, and not `{`."""


@pytest.mark.parametrize(
    ("engine", "name"), [(one, name) for one in ENGINES for name in FORMS if (one, name) not in REFUSED]
)
def test_an_engine_permits_both_labels_and_nothing_else(engine: Callable[..., Any], name: str, capfd: Any) -> None:
    """At a block; before it at least the token of the answer, and at the end the end."""
    tokenizer = make_tokenizer()
    templates = Templates(FORMS[name], lambda text: tokenizer.encode(text, add_special_tokens=False))
    template = templates.of(N_BLOCKS)
    labels = iter([templates.main, templates.other] * N_BLOCKS)
    tokens = [int(token) if token != HOLE else next(labels) for token in template.tokens]
    made_of = {*map(int, template.tokens), templates.main, templates.other}
    grammar = engine(tokenizer, FORMS[name].regex(N_BLOCKS))
    permitted = next(grammar)
    for at, token in enumerate(tokens):
        assert token in permitted, (at, tokens)
        if template.tokens[at] == HOLE:
            assert permitted & made_of == {templates.main, templates.other}
        permitted = grammar.send(token)
    assert tokenizer.eos_token_id in permitted
    assert "arning" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["tagged", "tagged_tight"])
def test_one_engine_refuses_tags_that_are_special_tokens(name: str) -> None:
    """Therefore `ServerDecoder.try_form` asks a server before its first page."""
    tokenizer = make_tokenizer(special=True)
    tag = tokenizer.convert_tokens_to_ids("<answer>")
    expression = FORMS[name].regex(1)
    grammar = by_llguidance(tokenizer, expression)
    assert next(grammar) == {tag}
    with pytest.raises(AssertionError, match="doesn't satisfy the grammar"):
        grammar.send(tag)
    other = by_xgrammar(tokenizer, expression)
    assert tag in next(other)
    other.send(tag)
