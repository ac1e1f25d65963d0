"""The commands `dripper extract` and `dripper prompts fetch`."""

import gzip
import io
import json
import os
import random
from collections.abc import Callable
from multiprocessing import parent_process
from pathlib import Path

import pytest
import zstandard

from dripper.__main__ import main
from dripper.errors import MachineError
from dripper.write.markdown.output import Markdown
from support.warcs import page, pages, write_warc


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "page.html"
    made.write_bytes(page(7)[1])
    return made


def test_markdown(file: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["extract", str(file)]) == 0
    out = capsysbinary.readouterr().out.decode()
    assert "the ferry leaves the harbour" in out
    assert "Imprint" not in out


def test_html_and_json(file: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["extract", str(file), "--format", "html"]) == 0
    assert b"<p>" in capsysbinary.readouterr().out
    assert main(["extract", str(file), "--format", "json"]) == 0
    told = json.loads(capsysbinary.readouterr().out)
    assert told["title"] == "Article 7"
    assert 0 < told["n_main"] < told["n_blocks"]
    assert told["charset"] == "utf-8"


def test_text_and_what_markdown_looks_like(file: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    file.write_bytes(file.read_bytes().replace(b"the pier waves", b"<a href=/pier>the pier</a> waves"))

    def printed(*flags: str) -> bytes:
        assert main(["extract", str(file), *flags]) == 0
        return capsysbinary.readouterr().out

    assert b"nobody on the pier waves" in printed("--format", "text")
    assert b"[the pier](" in printed()
    assert b"nobody on the pier waves" in printed("--links", "text")
    assert b"# Article 7" in printed("--title", "include")
    assert b"# Article 7" not in printed("--title", "exclude")


def test_one_line_and_tei(file: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["extract", str(file), "--format", "jsonl", "--url", "http://e.org/7"]) == 0
    (line,) = capsysbinary.readouterr().out.splitlines()
    assert (json.loads(line)["title"], json.loads(line)["url"]) == ("Article 7", "http://e.org/7")
    assert main(["extract", str(file), "--format", "xml-tei", "--url", "http://e.org/7"]) == 0
    tei = capsysbinary.readouterr().out
    assert tei.startswith(b'<?xml version="1.0" encoding="UTF-8"?>\n<TEI ')
    assert b'<title type="main">Article 7</title>' in tei
    assert b'target="http://e.org/7"' in tei


def test_what_a_page_declares_is_shown(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    page = tmp_path / "a.html"
    page.write_text('<meta name="author" content="Ann Lee"><meta name="date" content="2024-05-03"><p>Rain all day.')
    assert main(["extract", str(page), "--format", "json"]) == 0
    metadata = json.loads(capsysbinary.readouterr().out)["metadata"]
    assert (metadata["authors"], metadata["published"], metadata["site"]) == (["Ann Lee"], "2024-05-03", None)
    assert main(["extract", str(page), "--format", "xml-tei"]) == 0
    tei = capsysbinary.readouterr().out
    assert b"<author>Ann Lee</author>" in tei
    assert b"<date>2024-05-03</date>" in tei


def test_standard_input(
    file: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    assert main(["extract", "-"]) == 0
    assert b"ferry" in capsysbinary.readouterr().out


def test_a_page_without_content_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.html").write_text("<script>x()</script>")
    assert main(["extract", str(tmp_path / "empty.html")]) == 1
    assert "has no extraction (empty_page" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/nowhere/page.html"], "/nowhere/page.html: No such file"),
        (["https://e.org/a?b=1&c"], "| dripper extract - --url 'https://e.org/a?b=1&c'"),
        (["https://e.org/a", "https://e.org/b", "--out", "{file}.jsonl"], "only archives are read over HTTP"),
        (["htps://e.org/a"], "htps://e.org/a is an address, not a page: fetch it first"),
        (["https:/e.org/a"], "write https://e.org/a, or"),
        (["{file}", "--url", "e.org/a"], "--url e.org/a: write the whole address, such as https://e.org/a"),
        (
            ["{file}", "--out", "-", "--columns", "url,titel"],
            "--columns titel: there is no such column; did you mean title?",
        ),
        (["/"], "/ is a folder: say where the rows of its pages go"),
        (["{file}", "--labeler", "cpuu"], "did you mean 'cpu'"),
        (["{file}", "{file}"], "these are many pages: say where their rows go, --out pages.jsonl"),
        (["*.html"], "these are many pages"),
        (["{file}", "--out", "pages.csv"], "must end in .jsonl or .parquet"),
        (["{file}", "--out", "pages.jsonl", "--url", "http://a.b"], "--url is for one page"),
        (["-", "--out", "pages.jsonl"], "standard input"),
        (["{file}", "--set", "lables.x=1"], "unknown setting lables.x"),
        (["{file}", "--conf", "/nowhere.yml"], "settings file /nowhere.yml: No such file"),
        (["{file}", "--labeler", "lm"], "set labels.lm.model to the folder of a checkpoint"),
        (["{file}", "--labeler", "lm", "--set", "labels.lm.model=/nowhere"], "/nowhere: there is no such folder"),
    ],
)
def test_a_typo_is_one_sentence(
    file: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["extract", *(argument.replace("{file}", str(file)) for argument in arguments)]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["extrct", "page.html"], "'extrct'"),
        (["extract", "page.html", "--fromat", "text"], "--fromat text; did you mean --format?"),
        (["extract", "page.html", "--format", "txt"], "did you mean text?"),
    ],
)
def test_a_mistyped_flag_is_told_the_nearest(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image"),
        (gzip.compress(b"WARC/1.0\r\nWARC-Type: warcinfo\r\n"), "a WARC archive"),
        (random.Random(1).randbytes(3000), "binary data"),
        (b'{"title": "not a page"}', "JSON"),
    ],
)
def test_what_is_no_html_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes, what: str) -> None:
    (tmp_path / "page").write_bytes(data)
    assert main(["extract", str(tmp_path / "page")]) == 1
    told = capsys.readouterr()
    assert told.err == f"dripper: {tmp_path / 'page'} has no extraction (not_html: it is {what})\n"
    assert told.out == ""


@pytest.mark.parametrize("squeeze", [gzip.compress, zstandard.compress])
def test_a_compressed_page_is_inflated(
    file: Path, capsysbinary: pytest.CaptureFixture[bytes], squeeze: Callable[[bytes], bytes]
) -> None:
    file.write_bytes(squeeze(file.read_bytes()))
    assert main(["extract", str(file)]) == 0
    assert b"ferry" in capsysbinary.readouterr().out


def test_settings_come_from_files_and_flags(
    file: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "my.yml").write_text("labeler: {name: all}")
    assert main(["extract", str(file), "--conf", str(tmp_path / "my.yml")]) == 0
    assert b"Imprint" in capsysbinary.readouterr().out
    assert main(["extract", str(file), "--conf", str(tmp_path / "my.yml"), "--set", "labeler.name=cpu"]) == 0
    assert b"Imprint" not in capsysbinary.readouterr().out


def test_many_pages_become_rows(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "noise.html").write_bytes(b"%PDF-1.7")
    command = ["extract", str(file), str(tmp_path), "--out", str(tmp_path / "pages.jsonl"), "--jobs", "1"]
    assert main(command) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith(f"pages written to {tmp_path}/pages.jsonl: 2 (")
    assert told[1:] == [
        "without extraction: 1 not_html",
        f"NO CONTENT: {tmp_path}/noise.html: not_html (it is a PDF document)",
    ]
    rows = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert sorted((row["title"] or "", row["error_code"]) for row in rows) == [("", "not_html"), ("Article 7", None)]
    assert main(command) == 0
    assert capsys.readouterr().err.splitlines()[:2] == [
        f"pages written to {tmp_path}/pages.jsonl: 0",
        "pages that were there already: 2",
    ]


def test_work_that_is_left_ends_with_3(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = ["http://127.0.0.1:9/x.warc.gz", "--set", "reading.s3.max_attempts=1"]
    assert main(["extract", str(file), *missing, "--out", str(tmp_path / "pages.jsonl")]) == 3
    assert "files that could not be read to their end: 1; the same command tries them again" in capsys.readouterr().err


def test_archives_that_are_none_or_not_whole_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = write_warc(tmp_path / "cut.warc.gz", pages(1, 2)).read_bytes()
    (tmp_path / "cut.warc.gz").write_bytes(whole[:-50])
    (tmp_path / "text.warc.gz").write_text("this is no archive")
    command = ["extract", str(tmp_path), "--out", str(tmp_path / "pages.jsonl"), "--jobs", "1"]
    for _ in range(2):  # A second run reads them again.
        assert main(command) == 4
        told = capsys.readouterr().err
        assert (
            f"faults found in archives: 3 in 2 files: {tmp_path}/text.warc.gz (2), {tmp_path}/cut.warc.gz (1)\n" in told
        )
        assert f"BAD INPUT: {tmp_path}/cut.warc.gz: it is cut short; the pages before the cut are rows\n" in told
        assert f"BAD INPUT: {tmp_path}/text.warc.gz: no WARC or ARC record is in it\n" in told


def test_unknown_flags_show_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["extract", "a.html", "--fromat", "html"])
    assert caught.value.code == 2
    assert "usage: dripper" in capsys.readouterr().err


def test_fetched_prompts_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dripper.labels.lm.prompt.fetch_prompts", lambda folder: [folder / "v0.txt", folder / "v1.txt"])
    assert main(["prompts", "fetch", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'v0.txt'}\n{tmp_path / 'v1.txt'}\n"


def test_prompts_that_cannot_be_fetched_are_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(_folder: Path) -> list[Path]:
        raise MachineError("pip could not download it")

    monkeypatch.setattr("dripper.labels.lm.prompt.fetch_prompts", fetch)
    assert main(["prompts", "fetch"]) == 2
    assert capsys.readouterr().err == "dripper: pip could not download it\n"


def test_one_page_is_worked_on_in_a_process_of_its_own(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "dripper.page.finish.write_markdown", lambda *_, **__: os._exit(3) if parent_process() else Markdown([])
    )
    assert main(["extract", str(file), "--set", "limits.page_cpu_seconds=19"]) == 1
    assert "has no extraction (crashed" in capsys.readouterr().err
