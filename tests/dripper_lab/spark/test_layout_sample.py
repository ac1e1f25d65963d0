"""Pages drawn by layout, host, language and kind, from a staged run's table on real Delta."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.errors import InputError, SettingsError
from dripper.labels.config import load
from dripper.spark.ledger.relocated import read_paths
from dripper.spark.run.run import run_stages
from dripper.spark.tables.spark_books import SparkBooks
from dripper.spark.tables.store import Tables
from dripper_lab.annotation.export import export
from dripper_lab.annotation.sampled import LEFT_OUT, write_pages
from dripper_lab.annotation.sources import unlabelled_pages
from dripper_lab.spark.layout_sample import Sampling, draw_pages, fill_quotas, parse_quotas
from support.job_mains import job
from support.warcs import Response, write_warc

WORDS = "The ferry left the harbour at noon and nobody who stood on the quay that day waved at it at all."
SPANISH = "El barco salió del puerto al mediodía y nadie de los que estaban en el muelle saludó con la mano."
SHAPES = (
    lambda text: f"<div class=story><h1>{text}</h1>{f'<p>{text}</p>' * 5}</div>",
    lambda text: (
        f"<section class=shop><ul class=goods>{f'<li>{text}</li>' * 5}</ul><form><div>{text}</div></form></section>"
    ),
    lambda text: f"<main><table class=data><tr><td>{text}</td></tr></table><article><p>{text}</p></article></main>",
)


def pages_of(host: str, shapes: list[int], text: str = WORDS) -> list[Response]:
    return [
        (f"http://{host}/{number}", f"<html><body>{SHAPES[shape](f'{host} {number} {text}')}</body></html>".encode())
        for number, shape in enumerate(shapes)
    ]


def test_quotas_leave_room_for_others() -> None:
    candidates = [{"language": language, "page_kind": "article"} for language in ["en"] * 6 + ["de"] * 3 + [None] * 3]
    sampling = Sampling(6, quotas={"language": {"en": 0.5, "de": 0.2}})
    assert Counter(page["language"] for page in fill_quotas(candidates, sampling)) == {"en": 3, "de": 1, None: 2}
    both = Sampling(4, quotas={"language": {"en": 0.5}, "page_kind": {"article": 0.25}})
    assert len(fill_quotas(candidates, both)) == 1
    assert fill_quotas(candidates, Sampling(4)) == candidates[:4]


@pytest.mark.parametrize(
    "typed",
    [
        *(
            ["kind=a:1"],
            ["language=en"],
            ["language=en:2"],
            ["language=en:nan"],
            ["language=:0.5"],
            ["language=en:.6,de:.6"],
        ),
        *(["language=en:.1,en:.2"], ["language=en:.5", "language=de:.5"]),
    ],
)
def test_a_quota_that_makes_no_sense_is_one_sentence(typed: list[str]) -> None:
    with pytest.raises(SettingsError, match="the quota"):
        parse_quotas(typed)


@pytest.mark.spark
def test_one_page_of_a_layout_and_few_of_a_host(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "pages.warc.gz"
    responses = [
        *pages_of("many.example", [0] * 8 + [1] * 4 + [2] * 2),
        *pages_of("one.example", [0] * 5),
        *pages_of("es.example", [1, 1], SPANISH),
    ]
    write_warc(archive, responses)
    output = str(tmp_path / "out")
    with pytest.raises(InputError, match="preprocess"):
        draw_pages(Tables(spark, output), Sampling(10))
    run_stages(spark, ["preprocess"], output, load(assignments=["labeler.name=all"]), str(archive))

    tables = Tables(spark, output)
    drawn = draw_pages(tables, Sampling(10, of_host=2))
    assert Counter((page["host"], page["layout_pages"]) for page in drawn) == {
        ("many.example", 8): 1, ("many.example", 4): 1, ("one.example", 5): 1, ("es.example", 2): 1,
    }  # fmt: skip
    assert draw_pages(tables, Sampling(10, of_host=2)) == drawn
    # Of 320 pairs of seeds one draws the same pages.
    others = (draw_pages(tables, Sampling(10, of_host=2, seed=seed)) for seed in range(1, 5))
    assert any({page["page_id"] for page in other} != {page["page_id"] for page in drawn} for other in others)
    assert len(draw_pages(tables, Sampling(3))) == 3

    stored = dict(responses)
    written, unread = write_pages(
        drawn,
        read_paths(SparkBooks(spark, tables), {page["warc_file"] for page in drawn}),
        tmp_path / "drawn",
        load().reading,
    )
    assert (written, unread) == (4, {})
    pages = [page for page in unlabelled_pages([str(tmp_path / "drawn")]) if not isinstance(page, tuple)]
    assert {(page.url, page.html) for page in pages} == {(page["url"], stored[page["url"]]) for page in drawn}
    made = export(lambda: unlabelled_pages([str(tmp_path / "drawn")]), tmp_path / "export", 8000, None, 0)
    assert made.written == 4

    flags = ["--output", output, "--to", str(tmp_path / "by the job"), "--size", "3"]
    assert job("sample").main(flags) == 0
    assert "3 pages of " in (words := capsys.readouterr().out)
    assert "drawn, 3 in " in words
    assert job("sample").main(flags) == 2
    assert "is there already" in capsys.readouterr().err

    archive.unlink()
    written, unread = write_pages(drawn, {}, tmp_path / "gone", load().reading)
    assert written == 0
    assert [*unread.values()] == [4]
    assert unread.total() == len((tmp_path / "gone" / LEFT_OUT).read_text().splitlines()) == 4
