"""The extraction of one page without Spark: guarantees of every result."""

import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dripper
from dripper.blocks.page import Page
from dripper.errors import ErrorCode, InputError, MachineError, SettingsError
from dripper.html import prune_page
from dripper.labels import Labels
from dripper.labels.config import load, split_settings
from dripper.page import extraction
from dripper.page.extraction import Extractor
from dripper.settings import LabelerSettings, Settings
from dripper.write.markdown.output import Markdown
from support.warcs import page

HTML = page(3)[1]


class Nothing:
    """A labeler that finds nothing."""

    name = "nothing"
    version = "1"

    def label(self, pages: list[Page]) -> list[Labels]:
        return [Labels.certain(np.zeros(len(page.blocks), bool)) for page in pages]


def test_the_article_is_kept_and_the_rest_is_not() -> None:
    result = dripper.extract(HTML, url="http://example.org/3")
    assert result.error_code is None
    assert result.markdown.count("ferry leaves the harbour") == 6
    assert "Section 4" not in result.markdown
    assert (result.title, result.language, result.method) == ("Article 3", "en", "cpu")
    assert 6 <= result.n_main < result.n_blocks
    assert "_item_id" not in result.main_html
    assert "cc-alg-uc-text" not in result.main_html


def test_text_and_bytes_give_the_same() -> None:
    text, data = dripper.extract(HTML.decode()), dripper.extract(HTML)
    assert (text.charset, data.charset) == (None, "utf-8")
    assert text.main_html == data.main_html


def test_the_same_page_gives_the_same_result() -> None:
    digests = {hashlib.sha256(repr(dripper.extract(HTML).to_dict()).encode()).hexdigest() for _ in range(3)}
    assert len(digests) == 1


def test_a_result_is_shown_in_one_line_and_as_markdown() -> None:
    result, failed = dripper.extract(HTML), dripper.extract("")
    assert repr(result).startswith("Extraction(title='Article 3', n_main=")
    assert repr(failed) == "Extraction(error_code='empty_page', error_detail='no visible text')"
    long = dripper.extract(f"<title>{'rain ' * 100}</title><p>It rained all day in Bergen.")
    assert len(repr(long)) < 200
    assert result._repr_markdown_() == result.markdown
    assert failed._repr_markdown_() == f"`{failed!r}`"


def test_a_result_is_a_json_object() -> None:
    told = json.loads(json.dumps(dripper.extract(HTML, "https://example.org/3").to_dict()))
    assert (told["title"], told["url"], told["error_code"]) == ("Article 3", "https://example.org/3", None)
    assert json.loads(json.dumps(dripper.extract("").to_dict()))["error_code"] == "empty_page"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"output_format": "markdown"}, "output_format: a result has markdown, text"),
        ({"include_links": False}, "markdown.links"),
        ({"favor_recall": True}, "focus='recall'"),
        ({"settings": {"include_images": True}}, "markdown.images"),
    ],
)
def test_keywords_of_other_extractors_are_answered(options: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        dripper.extract(HTML, **options)


@pytest.mark.parametrize("html", ["", " \n", "<script>x</script>", b"", b"<p>\x00\x00"])
def test_no_text_is_an_error_code(html: str | bytes) -> None:
    result = dripper.extract(html)
    assert result.error_code is ErrorCode.EMPTY_PAGE
    assert (result.main_html, result.markdown, result.n_blocks) == ("", "", 0)


@pytest.mark.parametrize(
    ("fallback", "method", "has_text"),
    [
        ("trafilatura", "fallback:trafilatura", True),
        ("body", "fallback:body", True),
        ("empty", "fallback:empty", False),
    ],
)
def test_where_nothing_is_main_the_fallback_says_so(fallback: str, method: str, has_text: bool) -> None:
    settings = LabelerSettings.model_validate({"fallback": fallback})
    result = Extractor(Settings(labeler=settings), Nothing()).extract(HTML)
    assert (result.method, result.n_main, result.error_code) == (method, 0, None)
    assert ("ferry" in result.markdown) is has_text


def test_wrong_types_and_names() -> None:
    with pytest.raises(TypeError, match="html must be str or bytes, not int"):
        dripper.extract(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="url must be str, not int"):
        dripper.extract(HTML, url=3)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=r"settings must be a mapping, such as .*, not str"):
        dripper.extract(HTML, settings="profile=paper")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="did you mean 'cpu'"):
        dripper.extract(HTML, labeler="cpuu")
    with pytest.raises(AttributeError, match="no attribute 'extrakt'"):
        _ = dripper.extrakt


def names_no_page(text: str) -> bool:
    """Addresses and files in place of a page are refused, as other tests show. Hypothesis tries the
    strings of this program's source, such as "/proc/self/stat"."""
    return text.strip().startswith(("http://", "https://", "/"))


@given(st.binary(max_size=300) | st.text(max_size=300).filter(lambda text: not names_no_page(text)))
@settings(max_examples=200, deadline=None)
def test_no_input_raises(html: bytes | str) -> None:
    result = dripper.extract(html)
    assert (result.error_code is None) == (result.n_blocks > 0)


def test_an_examination_shows_what_the_extraction_was_made_of() -> None:
    html = "<body><nav><a href=/>Home</a></nav><p>The ferry leaves at noon, as it does every day.</p>"
    examined = Extractor().examine(html)
    assert examined.extraction == Extractor().extract(html)
    assert examined.page is not None
    assert examined.labels is not None
    assert examined.main is not None
    assert prune_page(examined.page, (np.flatnonzero(examined.main) + 1).tolist()) == examined.extraction.main_html
    assert len(examined.labels.probability) == examined.extraction.n_blocks == len(examined.main)


def test_an_examination_has_the_blocks_that_a_fallback_chose() -> None:
    examined = Extractor(Settings(labeler=LabelerSettings(fallback="body")), Nothing()).examine("<p>one<p>two")
    assert examined.extraction.method == "fallback:body"
    assert examined.labels is not None
    assert not examined.labels.main.any()
    assert examined.main is not None
    assert examined.main.all()


def test_an_examination_of_an_empty_page_has_only_the_error() -> None:
    examined = Extractor().examine("<script>x</script>")
    assert (examined.extraction.error_code, examined.page, examined.main) == (ErrorCode.EMPTY_PAGE, None, None)


LINKED = (
    "<base href='/docs/'>"
    "<p>See <a href='map.html' onclick='x()'>the\nmap</a> and <img src=/a.png alt=it srcset='b.png 2x'></p>"
)


def test_links_and_images_are_absolute_and_nothing_runs() -> None:
    result = dripper.extract(LINKED, url="https://example.org/a/b")
    link, larger = "https://example.org/docs/map.html", "https://example.org/docs/b.png"
    assert result.main_html == (
        f'<html><body><p>See <a href="{link}">the\nmap</a> and <img src="{larger}" alt="it" srcset="{larger} 2x"></p></body></html>'
    )
    assert result.markdown == f"See [the map]({link}) and ![it]({larger})\n"
    assert result.text == "See the map and"


def test_the_raw_form_is_a_setting() -> None:
    options = {"html.inert": False, "html.absolute_links": False}
    raw = dripper.extract(LINKED, url="https://example.org/a/b", settings=options)
    assert '<a href="map.html" onclick="x()">' in raw.main_html
    assert "[the map](map.html)" in raw.markdown


def test_mineru_main_html_stays_and_its_markdown_is_absolute() -> None:
    result = dripper.extract(LINKED, url="https://example.org/a/b", settings={"profile": "mineru-1.1"})
    assert 'href="map.html"' in result.main_html
    assert "(https://example.org/" in result.markdown


@pytest.mark.parametrize(
    ("options", "markdown"),
    [
        ({}, "# The boat\n\nIt is [red](https://e.org/r). ![a boat](https://e.org/b.png)\n"),
        ({"markdown.title": "exclude"}, "It is [red](https://e.org/r). ![a boat](https://e.org/b.png)\n"),
        ({"markdown.title": "exclude", "markdown.links": "text", "markdown.images": "drop"}, "It is red.\n"),
        (
            {"markdown.title": "exclude", "markdown.converter": "html2text", "markdown.images": "drop"},
            "It is [red](https://e.org/r).\n",
        ),
    ],
)
def test_markdown_has_its_settings(options: dict[str, str], markdown: str) -> None:
    page = "<title>The boat | Boats</title><p>It is <a href=/r>red</a>. <img src=b.png alt='a boat'>"
    assert (
        dripper.extract(page, url="https://e.org/", settings=options).markdown.replace(" \n", "\n").rstrip() + "\n"
        == markdown
    )


def test_a_heading_that_main_content_begins_with_is_not_said_twice() -> None:
    menu = "<nav><div><a href=/>Home</a></div><div><a href=/b>The boat</a></div></nav>"
    text = "<p>It is <img src=b.png alt='a boat'> red, and it has been in the harbour of Bergen for a long time.</p>"
    result = dripper.extract(f"<title>The boat</title>{menu}<div><b>The boat</b></div>{text}", url="https://e.org/")
    assert result.markdown.startswith("# The boat\n\nIt is ![a boat](https://e.org/b.png) red,")
    assert [image.place for image in result.images] == [result.markdown.index("![")]
    result = dripper.extract(f"<title>The boat</title>{menu}<div><b>The boat</b><br>It was built in 1904.</div>{text}")
    assert result.markdown.startswith("# The boat\n\nIt was built in 1904.\n")


def test_no_gpl_package_is_loaded_on_the_way_of_a_page() -> None:
    program = """
import sys
import dripper, dripper.__main__, dripper.spark.workers.extract, dripper.spark.workers.read
assert dripper.extract("<title>T</title><p>One <b>page</b>.</p>").text
assert dripper.extract("<p>x", settings={"labeler.fallback": "trafilatura", "profile": "paper"}).error_code is None
sys.exit("html2text" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_one_page_has_no_site() -> None:
    with pytest.raises(SettingsError, match="only jobs see the pages of a host together"):
        dripper.extract("<p>One.", settings={"layouts.enabled": True})


def test_a_process_keeps_few_extractors_and_makes_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "_extractors", {})
    asked = [load(assignments=[f"labeler.escalate_below=0.{n}"]) for n in range(1, extraction._MOST_KEPT + 3)]
    first = extraction.shared_extractor(asked[0])
    assert extraction.shared_extractor(asked[0]) is first
    for one in asked[1:]:
        extraction.shared_extractor(one)
    assert len(extraction._extractors) == extraction._MOST_KEPT
    assert extraction.shared_extractor(asked[0]) is not first
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(extraction.shared_extractor, [load(assignments=["labeler.escalate_below=0.99"])] * 4))
    assert len(set(map(id, made))) == 1


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
        ({"labeler": "cpu,trafilatura", "title": "include"}, "title: 'cpu,trafilatura' asks several labelers, so say"),
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
        "dripper.page.finish.write_markdown",
        lambda *_, **__: os._exit(3) if multiprocessing.parent_process() else Markdown([]),
    )
    extraction = dripper.extract(HTML, guard=True, settings={"limits.page_cpu_seconds": 19})
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
