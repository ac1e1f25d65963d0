"""Answers as tokens, under tokenizers that fit and that do not."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.errors import MachineError
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.template import HOLE, Templates
from support.tiny_lm import MAIN, OTHER, tokenizer_folder

Encode = Callable[[str], list[int]]


def tokenizer(pattern: str) -> Encode:
    """A tokenizer that splits by a pattern and numbers new words."""
    vocabulary: dict[str, int] = {}
    return lambda text: [vocabulary.setdefault(token, len(vocabulary)) for token in re.findall(pattern, text)]


WORDS = r"\d{1,3}|[a-z]+|[^\da-z]+"
DIGITS = r"\d|[a-z]+|[^\da-z]"


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.name)
@pytest.mark.parametrize("pattern", [WORDS, DIGITS])
@given(labels=st.lists(st.booleans(), min_size=1, max_size=200))
def test_filled_templates_are_the_answers_tokens(form, pattern: str, labels: list[bool]) -> None:  # type: ignore[no-untyped-def]
    encode = tokenizer(pattern)
    templates = Templates(form, encode)
    template = templates.of(len(labels))
    pieces = form.pieces(form.text(labels))
    assert "".join(pieces) == form.text(labels)
    assert template.fill(templates.labels(np.array(labels))) == [token for piece in pieces for token in encode(piece)]
    assert (template.tokens[template.holes] == HOLE).all()
    assert (template.tokens == HOLE).sum() == len(labels)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r".", "one token each"),
        (r"\d+[a-z]+", "places for labels|one token each|other tokens"),
        (r"main\d|\d|[a-z]+", "places for labels|one token each|fixed length"),
    ],
)
def test_a_tokenizer_that_does_not_fit_is_named(pattern: str, words: str) -> None:
    with pytest.raises(MachineError, match=rf"odd cannot label blocks in the answer form 'compact': .*({words})"):
        Templates(FORMS["compact"], tokenizer(pattern), "odd")


def test_a_label_whose_tokens_depend_on_the_one_before_is_found() -> None:
    encode = tokenizer(r"other\d+main|\d|main|other")
    with pytest.raises(MachineError, match="when the label before it changes"):
        Templates(FORMS["compact"], encode, "odd")


@pytest.mark.parametrize(("name", "per_block", "at_end"), [("json", 5, 0), ("json_v0", 4, 1), ("compact", 1, 0)])
def test_qwen3(name: str, per_block: int, at_end: int) -> None:
    from dripper.labels.lm.tokenizer import ChatTokenizer

    encode = ChatTokenizer.load(tokenizer_folder(), "none").encode
    templates = Templates(FORMS[name], encode)
    assert (templates.main, templates.other) == (MAIN, OTHER)
    digits = sum(len(str(item)) for item in range(1, 801))
    # The quote that opens the first key is in one token with the brace. Without a space after the
    # comma, quotes and comma between two blocks are one token too, and the last block ends alone.
    assert len(templates.of(800).tokens) == digits + per_block * 800 + at_end
    mixed = np.arange(800) % 7 < 3
    assert templates.of(800).fill(templates.labels(mixed)) == encode(FORMS[name].text(mixed.tolist()))
