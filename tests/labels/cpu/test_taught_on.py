"""The weights that ship read the blocks and features that they were taught on."""

import re
from pathlib import Path

from dripper_lab.train.digest import SAMPLE, sample_digest
from dripper_lab.train.examples import read_examples
from support.labelled import labelled_pages

CARD = Path(__file__).parents[3] / "docs" / "model_card_cpu.md"
COMMAND = (
    "blocks or features of the pages in tests/data/labelled are not those that the weights of the labeler cpu were "
    "taught on: run `make cpu` (10 minutes, needs the labelled pages), or take the change back"
)


def test_blocks_and_features_are_those_that_the_weights_were_taught_on() -> None:
    recorded = re.search(r"pages are in tests/data/labelled:\s+`([0-9a-f]{16})`", CARD.read_text(encoding="utf-8"))
    assert recorded, f"{CARD} has no digest of the pages in tests/data/labelled"
    assert sample_digest(read_examples(labelled_pages())) == recorded[1], COMMAND


def test_the_digest_is_of_all_labelled_pages_here() -> None:
    assert {page.id for page in labelled_pages()} == SAMPLE
