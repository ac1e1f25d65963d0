"""The export: the texts for annotators, and the pages that they are made from."""

import gzip
import hashlib
import json
from functools import partial
from pathlib import Path

import pytest

from dripper.errors import InputError
from dripper_lab.annotation.export import TEMPLATE, Export, export
from dripper_lab.annotation.folders import guidelines
from dripper_lab.annotation.sources import unlabelled_pages
from support.annotating import PAGES, make_export
from support.labelled import labelled_pages


def rows_of(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_every_page_is_there_with_its_blocks(exported: Export) -> None:
    assert [row["id"] for row in exported.rows.values()] == [page.id for page in labelled_pages()]
    for number, row in exported.rows.items():
        labelled, page = exported.page(number)
        assert hashlib.sha256(labelled.html).hexdigest() == row["html_sha256"]
        shown = dict(line.split("\t", 1) for line in exported.text(number).splitlines()[3:])
        assert [int(each.partition(" ")[0]) for each in shown] == [block.item_id for block in page.blocks if block.text]
        assert exported.text(number).startswith(f"page: {number}\nurl: {row['url']}\n")
    assert (exported.folder / "guidelines.md").read_text() == guidelines()
    template = rows_of(exported.folder / TEMPLATE)
    assert template == [{"page": number, "kind": "", "main": "", "sure": 0} for number in exported.rows]


def test_a_sample_is_the_same_every_time(tmp_path: Path) -> None:
    one, two = (make_export(tmp_path / name, sample=4) for name in "ab")
    assert len(one.rows) == 4
    assert one.rows == two.rows
    left_out = rows_of(tmp_path / "a" / "left_out.jsonl")
    assert [row["reason"] for row in left_out] == ["not sampled"] * 7


def test_what_cannot_be_annotated_is_counted_and_named(tmp_path: Path) -> None:
    source = tmp_path / "saved"
    source.mkdir()
    page = "<title>T</title><p>Text</p>"
    (source / "a.html").write_text(page)
    (source / "b.html.gz").write_bytes(gzip.compress(b"<p>Zipped</p>"))
    (source / "c.html").write_text(page)
    (source / "d.html").write_bytes(b"%PDF-1.4\nnothing")
    (source / "e.html").write_text("<p><img src=a.png></p>")
    (source / "f.html").write_text("".join(f"<p>paragraph {number}</p>" for number in range(1000)))
    told = export(partial(unlabelled_pages, [str(source)]), tmp_path / "out", 1000)
    assert (told.pages, told.written) == (6, 2)
    assert told.left_out == {
        "the same page again": 1,
        "not_html": 1,
        "empty_page": 1,
        "longer than the budget of tokens": 1,
    }
    assert len(rows_of(tmp_path / "out" / "left_out.jsonl")) == 4
    assert "1\tZipped" in (tmp_path / "out" / "pages" / "p00002.txt").read_text()


def test_what_rows_say_goes_along_but_for_an_older_truth(tmp_path: Path) -> None:
    source = tmp_path / "set"
    (source / "html").mkdir(parents=True)
    (source / "html" / "1.html").write_text("<p>Text</p>")
    row = {"id": "x/1", "file": "html/1.html", "url": "http://a.org/", "licence": "MIT", "sure": 1, "main_blocks": "1"}
    (source / "pages.jsonl").write_text(json.dumps(row) + "\n")
    export(partial(unlabelled_pages, [str(source)]), tmp_path / "out", 1000)
    (told,) = rows_of(tmp_path / "out" / "pages.jsonl")
    assert (told["id"], told["licence"], told["host"], told["n_blocks"]) == ("x/1", "MIT", "a.org", 1)
    assert "sure" not in told
    assert "main_blocks" not in told


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('{"id": "1"}', "line 1 lacks the text field id or file"),
        ("nonsense", "line 1 is not JSON"),
        ('{"id": "1", "file": "../secret.html"}', "not a file of this folder"),
        ('{"id": "1", "file": "1.html", "html_sha256": "0"}', "html_sha256 differs"),
    ],
)
def test_rows_that_do_not_fit_are_refused(tmp_path: Path, row: str, words: str) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "secret.html").write_text("<p>not ours")
    (tmp_path / "set" / "1.html").write_text("<p>Text")
    (tmp_path / "set" / "pages.jsonl").write_text(row + "\n")
    with pytest.raises(InputError, match=words):
        list(unlabelled_pages([str(tmp_path / "set")]))


def test_a_folder_that_is_there_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        export(partial(unlabelled_pages, [PAGES]), tmp_path, 1000)
    with pytest.raises(InputError, match="is not an export"):
        Export.read(tmp_path)


def test_an_export_that_somebody_changed_is_told(tmp_path: Path) -> None:
    made = make_export(tmp_path / "work", sample=1)
    (number,) = made.rows
    (made.folder / "pages" / f"{number}.txt").unlink()
    with pytest.raises(InputError, match=r"p00001\.txt cannot be read: No such file"):
        made.text(number)
    (made.folder / "html" / f"{number}.html").write_text("")
    with pytest.raises(InputError, match="html_sha256 differs"):
        made.page(number)
    (made.folder / "pages.jsonl").write_text('{"id": "1", "file": "html/1.html"}\n')
    with pytest.raises(InputError, match="is not as an export wrote it"):
        Export.read(made.folder)


def test_standard_input_is_refused() -> None:
    with pytest.raises(InputError, match="standard input only once"):
        list(unlabelled_pages(["-"]))


def test_a_page_that_has_other_blocks_today_is_told(tmp_path: Path, exported: Export) -> None:
    number = next(iter(exported.rows))
    changed = Export(exported.folder, {number: {**exported.rows[number], "n_blocks": 5}})
    with pytest.raises(InputError, match=r"blocks now, and had 5 when it was exported: export it again"):
        changed.page(number)
