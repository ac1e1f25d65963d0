import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from dripper.errors import InputError
from dripper_lab.datasets import LabelledPage, read_pages
from dripper_lab.evaluation.benchmarks.complexity import Level, body_text, complexity, level, quartiles
from dripper_lab.evaluation.benchmarks.wceb import PARTS, coverage, is_part, read_reference, truth_of
from dripper_lab.evaluation.extractors.base import Task
from dripper_lab.evaluation.extractors.peers import justext_wceb
from dripper_lab.evaluation.results import THRESHOLDS
from dripper_lab.evaluation.store import decode_page
from dripper_lab.metrics.rouge_lsum import rouge_lsum


def page(data_set: str, **more: object) -> LabelledPage:
    return LabelledPage("1", data_set, None, b"", None, "truth", more=more)


def archive(folder: Path, files: dict[str, str]) -> None:
    with tarfile.open(folder / "wceb_reference.tar.xz", "w:xz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"wceb_reference/{name}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))


def test_truths_as_wceb_has_them() -> None:
    assert truth_of(page("dragnet", truth_comments="said")) == "truth\n!@#$%^&*()\nsaid"
    assert truth_of(page("dragnet")) == "truth"
    assert truth_of(page("l3s-gn1", truth_text_wceb="theirs")) == "theirs"
    assert truth_of(page("web-forum-52", truth_comments="said")) == "truth"


def test_reference_is_read(tmp_path: Path) -> None:
    ids = {"dragnet": {"aa": "1"}}
    rows = "hash_key,model,prec,rec,f1,scorer,dataset\naa,goose3,1.0,0.5,0.66,rougeLsum,dragnet\n"
    archive(tmp_path, {"wceb_page_ids_to_normalized.json": json.dumps(ids), "rouge/dragnet__rouge_goose3.csv": rows})
    reference = read_reference(tmp_path)
    assert reference.published(page("dragnet"), "goose3") == 0.66
    assert reference.published(page("dragnet"), "justext") is None
    assert reference.published(page("fundus"), "goose3") is None
    assert is_part(page("dragnet"), reference)
    assert reference.extractors() == ["goose3"]


@pytest.mark.parametrize(
    "files", [{}, {"wceb_page_ids_to_normalized.json": "[1]"}, {"rouge/a__rouge_b.csv": "one,two\n1,2\n"}]
)
def test_wrong_reference(tmp_path: Path, files: dict[str, str]) -> None:
    archive(tmp_path, files)
    with pytest.raises(InputError, match=r"wceb_reference\.tar\.xz"):
        read_reference(tmp_path)


def test_missing_parts_are_said() -> None:
    here = {**dict.fromkeys(PARTS, 0), "dragnet": 1379}
    assert sum(PARTS.values()) == 3985
    assert "dragnet" not in " ".join(coverage(here))
    assert coverage(here)[0] == "cetd: 0 of 700 pages"


def test_published_scores_come_back(shared: Path) -> None:
    """jusText has not changed since the study: its pages must score as published, which tests
    everything on the way."""
    reference, extract = read_reference(shared / "data"), justext_wceb()
    for data_set in ("cleanportaleval", "l3s-gn1"):
        gaps = []
        for labelled in read_pages(shared / "data", data_set, sample=15):
            published = reference.published(labelled, "justext")
            if published is not None:
                text = extract(Task(labelled, decode_page(labelled)))
                gaps.append(rouge_lsum(text, truth_of(labelled)).f1 - published)
        assert len(gaps) >= 14
        assert np.mean(np.abs(gaps)) < 0.005


def test_complexity_classes_are_those_of_table_1(shared: Path) -> None:
    reference = read_reference(shared / "data")
    published = {"cleanportaleval": (0, 41, 30), "l3s-gn1": (74, 368, 179)}
    for data_set, counts in published.items():
        pages = [one for one in read_pages(shared / "data", data_set) if is_part(one, reference)]
        levels = [level(complexity(decode_page(one), truth_of(one)), THRESHOLDS) for one in pages]
        for known, count in zip(Level, counts, strict=True):
            assert levels.count(known) / len(pages) == pytest.approx(count / sum(counts), abs=0.03)


def test_complexity_by_hand() -> None:
    html = "<body><script>var x = 1</script><style>p {}</style><p>one two three</p> <noscript>four</noscript></body>"
    assert body_text(html).split() == ["one", "two", "three", "four"]
    assert complexity(html, "one") == 0.75
    assert complexity(html, "one two three four five") == 0
    assert complexity("", "one") == 0
    assert complexity("<p>\ud800 one", "") == 1


def test_levels() -> None:
    assert quartiles([0, 0.25, 0.5, 0.75, 1]) == (0.25, 0.75)
    assert [level(value, (0.25, 0.75)).value for value in (0.24, 0.25, 0.74, 0.75)] == [
        "low",
        "medium",
        "medium",
        "high",
    ]
