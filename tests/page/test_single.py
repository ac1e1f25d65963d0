"""`dripper.extract`: settings as keywords, and slips that are told."""

import multiprocessing
import os
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

import dripper
from dripper.config import load, split_settings
from dripper.errors import ErrorCode, InputError, MachineError, SettingsError
from support.warcs import page

HTML = page(3)[1]


def test_settings_by_key_as_a_value_and_by_option_are_one() -> None:
    wanted = load(assignments=["labeler.name=cpu", "labels.cpu.comments=include", "profile=paper"])
    assert split_settings(None, {"profile": "paper"}, {"comments": "include"}) == wanted
    assert split_settings(None, {"profile": "paper", "labels": {"cpu": {"comments": "include"}}}, {}) == wanted
    assert split_settings("cpu", wanted, {}) == wanted


def test_options_go_to_the_labeler_that_is_named_somewhere() -> None:
    assert split_settings(None, {"labeler.name": "lm"}, {"model": "/m"}).labels.lm.model == "/m"
    assert split_settings(None, {"labeler": {"name": "lm"}}, {"model": "/m"}).labels.lm.model == "/m"
    assert split_settings("lm", load(assignments=["labeler.name=cpu"]), {"model": "/m"}).labels.lm.model == "/m"


def test_settings_that_were_given_stay_as_they_were() -> None:
    given = {"labels": {"cpu": {"title": "include"}}}
    split_settings(None, given, {"comments": "include"})
    assert given == {"labels": {"cpu": {"title": "include"}}}


def test_settings_change_what_is_extracted() -> None:
    assert "Imprint" not in dripper.extract(HTML).markdown
    assert "Imprint" in dripper.extract(HTML, labeler="all").markdown
    assert "Imprint" in dripper.extract(HTML, settings={"labeler.name": "all"}).markdown


def test_settings_are_looked_at_anew_with_every_call() -> None:
    settings: dict[str, object] = {"labeler.name": "all", "markdown.links": "text"}
    first = dripper.extract("<p><a href=/x>Imprint</a>", settings=settings)
    settings["markdown.links"] = "keep"
    sections = {"labeler": {"name": "all"}, "markdown": {"links": "keep"}}
    kept = [dripper.extract("<p><a href=/x>Imprint</a>", settings=each) for each in (settings, settings, sections)]
    assert (first.markdown, {each.markdown for each in kept}) == ("Imprint\n", {"[Imprint](/x)\n"})
    assert dripper.extract(HTML, settings={"reading.list_prefix": 1}).markdown
    with pytest.raises(SettingsError, match="list_prefix=True"):
        dripper.extract(HTML, settings={"reading.list_prefix": True})


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"labeler": "lm"}, "set labels.lm.model"),
        ({"comment": "include"}, "did you mean labels.cpu.comments"),
        ({"settings": {"profile": "papper"}}, "profile='papper'"),
    ],
)
def test_what_is_missing_or_wrong_is_told(keywords: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        dripper.extract(HTML, **keywords)  # type: ignore[arg-type]


def test_the_name_of_a_file_and_an_address_are_no_pages(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(HTML)
    with pytest.raises(InputError, match="is the name of a file, not a page"):
        dripper.extract(str(tmp_path / "page.html"))
    with pytest.raises(InputError, match="is an address, not a page: fetch it first"):
        dripper.extract("https://example.org/a")
    with pytest.raises(TypeError, match="not PosixPath; of a file, pass what it holds"):
        dripper.extract(tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["a word", "/no/such/file.html", "x" * 5000, "see https://example.org/a"])
def test_other_short_texts_are_pages(text: str) -> None:
    assert dripper.extract(text).error_code is None


def test_what_is_no_html_has_a_code() -> None:
    assert dripper.extract(b"%PDF-1.7").error_code is ErrorCode.NOT_HTML


def test_a_guarded_page_is_the_same_and_its_process_is_kept() -> None:
    plain, guarded = dripper.extract(HTML, "https://e.org/"), dripper.extract(HTML, "https://e.org/", guard=True)
    assert guarded == plain
    before = {child.pid for child in multiprocessing.active_children()}
    assert dripper.extract("<p>one", guard=True).n_blocks == 1
    assert {child.pid for child in multiprocessing.active_children()} == before != set()


def test_a_page_that_ends_its_process_is_an_error_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "dripper.page.finish.write_markdown", lambda *_: os._exit(3) if multiprocessing.parent_process() else ""
    )
    extraction = dripper.extract(HTML, guard=True, settings={"limits.page_wall_seconds": 101})
    assert extraction.error_code is ErrorCode.CRASHED


def test_a_worker_that_may_not_start_processes_is_told() -> None:
    context = multiprocessing.get_context("fork")
    theirs, ours = context.Pipe()
    worker = context.Process(target=_extract_guarded, args=(theirs,), daemon=True)
    worker.start()
    assert "guard=True starts a process" in ours.recv()
    worker.join()


def _extract_guarded(pipe: Connection) -> None:
    try:
        dripper.extract("<p>one", guard=True)
    except MachineError as error:
        pipe.send(str(error))
