"""Which settings make a run staged, and which cannot be."""

import pytest

from dripper.errors import SettingsError
from dripper.labels.config import load
from dripper.spark.workers.routing import is_staged


@pytest.mark.parametrize(
    ("words", "assignments"),
    [
        ("layouts.enabled is for a chain of two labelers", ["labeler.name=cpu"]),
        ("layouts.enabled is for a chain of two labelers", ["labeler.name=cpu,web2text,all"]),
        ("labeler.staged=false forbids it", ["labeler.name=cpu,all", "labeler.staged=false"]),
        ("labeler.escalate_share is for chains without", ["labeler.name=cpu,all", "labeler.escalate_share=0.1"]),
        ("goes by probabilities and a confidence", ["labeler.name=trafilatura,all"]),
    ],
)
def test_settings_that_layouts_cannot_use_are_one_sentence(words: str, assignments: list[str]) -> None:
    with pytest.raises(SettingsError, match=words):
        is_staged(load(assignments=["layouts.enabled=true", *assignments]))


def test_a_chain_by_layout_is_staged() -> None:
    assert is_staged(load(assignments=["layouts.enabled=true", "labeler.name=cpu,all"]))
    assert not is_staged(load(assignments=["labeler.name=cpu,web2text"]))
