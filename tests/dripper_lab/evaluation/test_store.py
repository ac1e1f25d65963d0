import json
from pathlib import Path

import pytest

from dripper_lab.datasets import LabelledPage
from dripper_lab.evaluation.store import (
    Output,
    Outputs,
    decode_page,
    page_digest,
    read_lines,
    read_outputs,
    write_lines,
)
from support.small_set import fake, labelled, perfect

OUTPUT = Output("1", "abc", "text \ud800 with\u2028odd\x85characters\n", 1.5, "internal", "why")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, "dragnet", fake("gne", perfect))
    with outputs:
        outputs.add(OUTPUT)
    assert outputs.read() == {"1": OUTPUT}
    assert outputs.path.parent == tmp_path / "outputs" / "dragnet"
    assert outputs.path.name.startswith("gne@")
    assert outputs.path.read_text(encoding="ascii").count("\n") == 1


def test_the_last_line_of_a_page_counts(tmp_path: Path) -> None:
    outputs = Outputs(tmp_path, "dragnet", fake("gne", perfect))
    for text in ("old", "new"):
        with outputs:
            outputs.add(Output("1", "abc", text, 0.0))
    assert outputs.read()["1"].text == "new"


def test_lines_are_appended_even_behind_a_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lines.jsonl"
    assert list(read_lines(path)) == []
    write_lines(path, iter([{"id": 1}, {"id": 2}]))
    path.write_bytes(path.read_bytes()[:-4])
    write_lines(path, iter([{"id": 3}]))
    assert list(read_lines(path)) == [{"id": 1}, {"id": 3}]
    assert read_outputs(tmp_path / "absent") == {}


def test_each_line_is_on_disk_before_the_next_is_made(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"

    def rows() -> object:
        yield {"id": 1}
        assert json.loads(path.read_text()) == {"id": 1}
        yield {"id": 2}

    write_lines(path, rows())  # type: ignore[arg-type]
    assert len(list(read_lines(path))) == 2


@pytest.mark.parametrize("change", ["html", "truth_text"])
def test_digest_depends_on_page_and_truth(change: str) -> None:
    page = labelled(1)
    values = {name: getattr(page, name) for name in page.__slots__}
    other = LabelledPage(**(values | {change: b"x" if change == "html" else "x"}))
    assert page_digest(page) == page_digest(labelled(1))
    assert page_digest(other) != page_digest(page)


@pytest.mark.parametrize(
    ("html", "encoding", "text"),
    [
        ("<p>größe".encode(), "utf-8 (stored as JSON string)", "<p>größe"),
        ('<meta charset="iso-8859-1"><p>größe'.encode("latin-1"), None, '<meta charset="iso-8859-1"><p>größe'),
        ("<p>größe und noch mehr Wörter mit Umlauten".encode(), "wrong", "<p>größe und noch mehr Wörter mit Umlauten"),
    ],
)
def test_pages_are_decoded_as_browsers_do(html: bytes, encoding: str | None, text: str) -> None:
    assert decode_page(LabelledPage("1", "set", None, html, encoding, "t")) == text
