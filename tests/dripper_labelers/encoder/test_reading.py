"""A checkpoint's description of its input."""

from pathlib import Path

import pytest

from dripper.errors import MachineError
from dripper_labelers.encoder.reading import FILE, Reading


def test_without_a_file_it_is_pulpies_way(tmp_path: Path) -> None:
    assert Reading.load(tmp_path) == Reading("html", 0, 8192, 0, 0.5, "<|sep|>")


def test_it_is_read_as_written(tmp_path: Path) -> None:
    reading = Reading("outline", 24, 512, 8, 0.35)
    reading.save(tmp_path)
    assert Reading.load(tmp_path) == reading


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be used"),
        ("[1]", "holds no object"),
        ('{"froms": 1}', "froms=1: .*it may hold: form,"),
        ('{"form": "x"}', "form='x': input should be 'html' or 'outline'"),
        ('{"threshold": "x"}', "threshold='x': input should be a valid number"),
        ('{"threshold": 1.5}', "threshold=1.5: input should be less than 1"),
        ('{"block_tokens": -1}', "block_tokens=-1: input should be greater than or equal to 0"),
        ('{"overlap_blocks": 1.5}', "overlap_blocks=1.5: input should be a valid integer"),
    ],
)
def test_a_file_that_says_something_else_is_named(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(MachineError, match=f"{FILE}.*{words}"):
        Reading.load(tmp_path)
