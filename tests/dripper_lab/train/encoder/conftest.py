"""The committed pages as a tiny encoder reads them."""

import pytest

from dripper_lab.train.encoder.examples import Example, read_examples
from dripper_labelers.encoder.reading import Reading
from dripper_labelers.encoder.sequence import Sequencer
from support.labelled import labelled_pages
from support.tiny_encoder import CONTEXT, make_tokenizer


@pytest.fixture(scope="module")
def sequencer(tmp_path_factory: pytest.TempPathFactory) -> Sequencer:
    tokenizer = make_tokenizer(tmp_path_factory.mktemp("tokenizer"), "outline")
    return Sequencer(tokenizer, Reading(form="outline", block_tokens=12), CONTEXT)


@pytest.fixture(scope="module")
def examples(sequencer: Sequencer) -> list[Example]:
    return list(read_examples(labelled_pages(), sequencer))
