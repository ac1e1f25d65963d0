import json
from pathlib import Path

import pytest

from dripper.errors import InputError
from dripper.eval import rouge_n
from dripper_lab.evaluation.benchmarks.webmainbench import (
    extract_marked,
    level_score,
    read_webmainbench,
    strata,
    strip_marks,
)
from dripper_lab.evaluation.sources import PageSource
from support.small_set import write_set

RECORD = Path(__file__).parents[3] / "data" / "webmainbench" / "record.jsonl"
TRACES = ("cc-select", "data-anno-uid", "mark-selected", "cc-extraStyle", "marked-")


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def record(**changes: object) -> dict[str, object]:
    html = '<html><body><p>menu</p><p cc-select="true">story</p></body></html>'
    return {"track_id": "a", "url": "http://x.org/", "html": html, "groundtruth_content": "story", "meta": {}} | changes


def test_real_record() -> None:
    (page,) = read_webmainbench(RECORD)
    html = page.html.decode()
    assert (page.id, page.data_set, page.url) == (
        "7cdb7231-9337-4104-a562-9b8f285add7d", "webmainbench", "https://www.w3school.com.cn/python/numpy_creating_arrays.asp",
    )  # fmt: skip
    assert not any(trace in html for trace in TRACES)
    assert "NumPy 用于处理数组" in html
    # Counted by hand on the page: the title, eight sections, eight examples, and no menu.
    headings, corrected = (
        [line for line in text.splitlines() if line.startswith("#")]
        for text in (page.truth_text, page.more["groundtruth_content"])
    )
    assert headings == corrected
    assert [sum(line.startswith(f"{'#' * depth} ") for line in headings) for depth in (1, 2, 3)] == [1, 8, 8]
    assert "课程表" not in page.truth_text
    assert page.more["groundtruth_content"].startswith("# NumPy 简介")
    assert page.content_type == "text/html; charset=utf-8"


def test_marked_elements_as_markdown_are_the_corrected_truth_but_for_its_corrections() -> None:
    (page,) = read_webmainbench(RECORD)
    score = rouge_n(page.truth_text, page.more["groundtruth_content"], tokens="words")
    assert score.f1 == pytest.approx(0.937, abs=0.001)


def test_five_sample_pages(shared: Path) -> None:
    """Hand-checked: language and title of each of the five pages of the data folder, free of the
    annotator's traces."""
    pages = {page.id[:8]: page for page in PageSource(shared / "data").pages("webmainbench-samples")}
    starts = {
        "33e291cd": "## THE PALM INSTITUTE LOGO",
        "93898d00": "# 逆剑狂神",
        "7cdb7231": "# NumPy 简介",
        "3026972b": "RCCI GROUP, INC.",
        "ee0a113d": "# Honda Civic 1.0 VTEC TURBO SR 5-Door",
    }
    assert pages.keys() == starts.keys()
    for id, start in starts.items():
        assert pages[id].truth_text.startswith(start)
        assert not any(trace in pages[id].html.decode() for trace in TRACES)
    assert pages["33e291cd"].more["meta"]["level"] == "mid"


def test_full_record_prefers_its_own_fields(tmp_path: Path) -> None:
    meta = {"language": "en", "style": "Article", "level": "hard", "table": ["data"], "code": [], "equation": []}
    full = record(main_html="<p>story</p>", convert_main_content="story\n\n", meta=meta)
    (page,) = read_webmainbench(write(tmp_path / "w.jsonl", full))
    assert (page.truth_text, page.truth_html, page.page_type, page.language) == (
        "story\n\n",
        "<p>story</p>",
        "Article",
        "en",
    )
    assert (page.more["level"], page.more["table"]) == ("hard", ["data"])


def test_truth_made_from_the_marks(tmp_path: Path) -> None:
    (page,) = read_webmainbench(
        write(tmp_path / "w.jsonl", record(groundtruth_content=None, meta={"language": "non_en"}))
    )
    assert page.truth_text.strip() == "story"
    assert page.language is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("not json", "line 2 is not a WebMainBench record"),
        ({"html": '<p cc-select="true">x'}, "KeyError"),
        ([], "TypeError"),
        (record(html="<p>x", groundtruth_content=None), "no truth"),
        (record(html=None), "line 2"),
    ],
)
def test_wrong_records_are_named_by_line(tmp_path: Path, wrong: object, message: str) -> None:
    path = write(tmp_path / "w.jsonl", record(), wrong)
    with pytest.raises(InputError, match=message):
        list(read_webmainbench(path))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        list(read_webmainbench(tmp_path / "absent.jsonl"))
    with pytest.raises(InputError, match="needs its file: --webmainbench"):
        list(PageSource(tmp_path).pages("webmainbench"))


def test_source_of_a_webmainbench_file(tmp_path: Path) -> None:
    path = write(tmp_path / "w.jsonl", *(record(track_id=str(number)) for number in range(9)))
    whole, some = PageSource(tmp_path, webmainbench=path), PageSource(tmp_path, 4, webmainbench=path)
    assert (whole.size("webmainbench"), some.size("webmainbench")) == (9, 4)
    chosen = [page.id for page in some.pages("webmainbench")]
    assert len(chosen) == 4
    assert chosen == sorted(chosen)
    assert [page.id for page in whole.pages("webmainbench")] == [str(number) for number in range(9)]


def test_source_of_a_data_folder(tmp_path: Path) -> None:
    write_set(tmp_path, "dragnet", range(3))
    assert PageSource(tmp_path, 2).size("dragnet") == len(list(PageSource(tmp_path, 2).pages("dragnet"))) == 2


def test_hidden_and_unmarked_parts_go() -> None:
    html = (
        '<html><body><div style="display:none"><p cc-select="true">hidden</p></div><div><p>menu</p>'
        '<ul cc-select="true"><li>one</li><li>two</li></ul>tail</div><!-- note --></body></html>'
    )
    kept = extract_marked(html)
    assert "one" in kept
    assert "two" in kept
    assert "hidden" not in kept
    assert "menu" not in kept
    assert extract_marked("<p>nothing marked") == ""


@pytest.mark.parametrize(
    ("html", "clean"),
    [
        ('<p class="mark-selected" cc-select="true">x</p>', "<p>x</p>"),
        ('<p class="a mark-selected b" data-anno-uid="u1">x</p>', '<p class="a b">x</p>'),
        ('<style id="cc-extraStyle" name="cc">\n.x{}</style>\n<p>x</p>', "<p>x</p>"),
        ("<p>a<marked-tail>b</marked-tail></p>", "<p>ab</p>"),
        ('<p class="bookmark-selected2">x</p>', '<p class="bookmark-selected2">x</p>'),
        ("<p>mark-selected</p>", "<p>mark-selected</p>"),
    ],
)
def test_unmarked(html: str, clean: str) -> None:
    assert strip_marks(html) == clean


def test_groups_are_those_that_a_record_states(tmp_path: Path) -> None:
    meta = {
        "level": "hard",
        "table": ["data"],
        "code": [],
        "equation": ["inline"],
        "style": "Conversational",
        "language": "en",
    }
    stated, silent, other = read_webmainbench(
        write(tmp_path / "f", record(meta=meta), record(), record(meta={"language": "non_en"}))
    )
    assert strata(stated) == ["hard", "table", "equation", "conversational", "en"]
    assert strata(silent) == []
    assert strata(other) == ["non_en"]


def test_groups_of_the_sample_pages(shared: Path) -> None:
    groups = [strata(page) for page in PageSource(shared / "data").pages("webmainbench-samples")]
    assert sorted(groups) == [[], [], [], ["hard", "non_en"], ["mid", "code", "en"]]


def test_a_level_score_is_the_mean_of_four_measures() -> None:
    """Counted by hand: html, body and two p, three deep, at most two children; text alternates once
    in four elements; no rich content; half of the letters in the link, which is a fifth element."""
    html = "<html><body><p>aaaa</p><p><a>bbbb</a></p></body></html>"
    structure = ((4 / 20) ** 0.7 + (2 / 300) ** 0.7) / 2
    assert level_score(html) == pytest.approx((structure + 3 / 5 + 0 + 0.5) / 4)
    assert level_score("") == 0
    rich = html.replace("aaaa", "<table><tr><td>x</table><code>y</code>\\(z\\)")
    assert level_score(rich) > level_score(html) + 0.2
