import re
from pathlib import Path

import pytest

from dripper_lab.evaluation.extractors.base import Standing, Task
from dripper_lab.evaluation.report.worst import worst_pages
from dripper_lab.evaluation.report.writer import write_report
from dripper_lab.evaluation.run import RunSettings
from dripper_lab.evaluation.sources import PageSource
from support.small_set import fake, half, perfect, run_here, write_set

ATTACK = "</mark></details><script>alert('x')</script> & <b>bold</b>"


def nasty(task: Task) -> str:
    return ATTACK + task.page.truth_text[:80]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    write_set(folder / "data", "dragnet", range(12))
    extractors = [fake("trafilatura", half), fake("nasty", nasty), fake("ours", perfect, Standing.OURS)]
    settings = RunSettings(PageSource(folder / "data", 11), folder / "run", ["dragnet"], extractors)
    return write_report(settings, run_here(settings), folder).read_text(encoding="utf-8")


def test_kinds_of_pages_stand_beside_the_cost(report: str) -> None:
    section = report.partition("<h3>By kind of page</h3>")[2].partition("<h2")[0]
    assert "<th>article<br><small>11 pages</small></th>" in section
    assert "1.000 <small>1.000–1.000</small>" in section
    assert "data:image/png;base64," in section


@pytest.mark.parametrize(
    ("sets", "pages", "said"),
    [
        (["dragnet", "wcxb-dev"], 11, "without those marked †"),
        (["wcxb-dev"], 12, "no fair test"),
    ],
)
def test_kinds_are_of_pages_that_no_model_saw_where_there_are_any(
    tmp_path: Path, sets: list[str], pages: int, said: str
) -> None:
    write_set(tmp_path / "data", "dragnet", range(11))
    write_set(tmp_path / "data", "wcxb-dev", range(20, 32))
    settings = RunSettings(PageSource(tmp_path / "data", None), tmp_path / "run", sets, [fake("trafilatura", half)])
    report = write_report(settings, run_here(settings), tmp_path).read_text(encoding="utf-8")
    section = report.partition("<h3>By kind of page</h3>")[2].partition("<h2")[0]
    assert f"<th>article<br><small>{pages} pages</small></th>" in section
    assert said in section


def test_text_of_pages_is_text(report: str) -> None:
    assert "<script" not in report
    assert "&lt;script&gt;alert(" in report
    assert "<b>bold</b>" not in report


def test_nothing_is_loaded_from_elsewhere(report: str) -> None:
    sources = re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?([^"\'\s>)]{1,30})', report)
    assert sources
    assert all(source.startswith(("data:image/png;base64,", "#")) for source in sources)
    assert "@import" not in report


def test_tags_are_balanced(report: str) -> None:
    for tag in ("table", "tr", "td", "details", "div", "mark", "html", "body", "ul", "nav"):
        assert len(re.findall(rf"<{tag}[\s>]", report)) == report.count(f"</{tag}>"), tag


def test_every_link_of_the_contents_has_its_place(report: str) -> None:
    for place in set(re.findall(r'href="#([a-z]+)"', report)) - {"study", "agreement"}:
        assert f'id="{place}"' in report, place


def test_figures_of_the_overall_table(report: str) -> None:
    row = re.search(r'<tr class="ours"><td class="name"[^>]*>.*?</tr>', report, re.DOTALL)
    assert row is not None
    cells = [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row[0], re.DOTALL)]
    assert cells[0] == "ours"
    assert cells[2].startswith("1.000")
    assert cells[3].startswith("+.")
    assert cells[8] == "0.0 %"


def test_counts_are_shown(report: str) -> None:
    assert "11 pages of 4 sites, 3 extractors" in report
    assert "At most 11 pages a set" in report
    row = re.search(r'<tr><td class="name">dragnet</td>(.*?)</tr>', report, re.DOTALL)
    assert row is not None
    assert re.findall(r"<td[^>]*>([^<]*)</td>", row[1])[:6] == ["12", "0", "0", "12", "11", "4"]


def test_without_a_reference_nothing_is_compared(report: str) -> None:
    assert "Agreement with published scores" not in report
    assert "SIGIR’23 study again" not in report


def test_worst_pages_come_worst_first(tmp_path: Path) -> None:
    from dripper_lab.evaluation.results import read_scores

    write_set(tmp_path / "data", "dragnet", range(8))

    def uneven(task: Task) -> str:
        return task.page.truth_text[: 40 * (1 + int(task.page.id))]

    settings = RunSettings(
        PageSource(tmp_path / "data"), tmp_path / "run", ["dragnet"], [fake("one", uneven), fake("two", perfect)]
    )
    jobs = run_here(settings)
    found = worst_pages(read_scores(jobs), jobs, ["one", "two"], count=3)
    assert [page.page.id for page in found["one"]] == ["0", "1", "2"]
    assert [page.score for page in found["one"]] == sorted(page.score for page in found["one"])
    assert found["one"][0].best_name == "two"
    assert found["one"][0].best == 1
    assert not any(piece.is_common for piece in found["one"][0].truth[-1:] if not piece.is_folded)
    assert len(found["two"]) == 3
