"""Tables of pages in three steps: the same results as `dripper.extract`, and no page is lost,
whatever fails."""

import pickle
from typing import Any

import pyarrow as pa
import pytest

import dripper
from dripper.adapters.steps import EXTRACTED, PagePlan, finish_table, label_table, preprocess_table
from dripper.errors import InputError, SettingsError
from dripper.labels import Labels
from dripper.labels.engine import EngineError, load_labeler
from dripper.page.extraction import Extractor
from support.labelled import labelled_pages
from support.stage_labelers import HashLabeler, load_dead, load_hash, load_poisoned, load_true
from support.warcs import page

STAGED = {"labeler.name": "all", "labeler.staged": True}
"""A labeler of simplified HTML without weights, which tests replace with their own."""
HOSTILE = [b"", b"<html><body></body></html>", b"%PDF-1.7\nx", b"<div>" * 60_000, None]
ERRORS = ["empty_page", "empty_page", "not_html", "parse_failed", "empty_page"]


def table(*pages: bytes | str | None, **columns: list[Any]) -> pa.Table:
    urls = [f"https://example.org/{i}/" for i in range(len(pages))]
    return pa.table({"url": urls, "content": list(pages)} | columns)


def run(pages: pa.Table, plan: PagePlan) -> list[dict[str, Any]]:
    prepared = preprocess_table(pages, plan)
    made = finish_table(label_table(prepared, plan, plan.start_engine()) if plan.asks_engine else prepared, plan)
    assert made.num_rows == pages.num_rows
    assert not [name for name in made.column_names if name.startswith("dripper_")]
    rows: list[dict[str, Any]] = made.to_pylist()
    return rows


def test_rows_are_what_extract_gives_and_errors_are_rows() -> None:
    htmls = [page.html for page in labelled_pages()]
    plan = PagePlan.make(None, None, {})
    assert not plan.asks_engine
    rows = run(table(*htmls, *HOSTILE, id=[str(i) for i in range(len(htmls) + len(HOSTILE))]), plan)
    assert [row["id"] for row in rows] == [str(i) for i in range(len(rows))]
    for row, html in zip(rows, htmls, strict=False):
        alone = dripper.extract(html, url=row["url"])
        assert (row["text"], row["title"], row["language"]) == (alone.markdown, alone.title, alone.language)
        assert (row["method"], row["n_blocks"], row["n_main"]) == (alone.method, alone.n_blocks, alone.n_main)
        assert (row["confidence"], row["page_kind"], row["error_code"]) == (alone.confidence, alone.page_kind, None)
        assert row["published"] == (alone.metadata.published if alone.metadata else None)
    assert [row["error_code"] for row in rows[len(htmls) :]] == ERRORS
    assert all(row["text"] == "" and row["error_detail"] for row in rows[len(htmls) :])


def test_links_start_from_the_pages_own_address_where_none_is_given() -> None:
    html = '<link rel="canonical" href="https://own.org/a/"><p>It rained in <a href="b">Bergen</a>.'
    (row,) = run(pa.table({"content": [html]}), PagePlan.make("all", None, {}, form="main_html"))
    assert 'href="https://own.org/a/b"' in row["text"]
    assert row["text"] == dripper.extract(html, labeler="all").main_html


def test_an_engine_labels_every_page_and_its_labels_are_kept() -> None:
    htmls = [page.html for page in labelled_pages()]
    plan = PagePlan.make(None, STAGED, {}, form="text", loader=load_hash)
    assert (plan.asks_engine, plan.asks_gpu) == (True, False)
    rows = run(table(*htmls, *HOSTILE), plan)
    alone = Extractor(plan.settings, HashLabeler())
    for row, html in zip(rows, htmls, strict=False):
        expected = alone.extract(html, row["url"])
        assert (row["text"], row["n_main"]) == (expected.text, expected.n_main)
        assert row["method"].removesuffix(":windowed") == (expected.method or "").removesuffix(":windowed")
    assert len({row["method"] for row in rows[: len(htmls)]}) > 1, "some fall back"
    assert [row["error_code"] for row in rows[len(htmls) :]] == ERRORS


def test_a_page_that_the_engine_fails_on_falls_back_or_says_why() -> None:
    pages = [page(0)[1], b"<p>A poison of old." * 3, page(2)[1]]
    good = run(table(*pages), PagePlan.make(None, STAGED, {}, loader=load_poisoned))
    assert [row["error_code"] for row in good] == [None, None, None]
    assert good[1]["method"].startswith("fallback:")
    settings = STAGED | {"labeler.fallback": "empty"}
    bad = run(table(*pages), PagePlan.make(None, settings, {}, loader=load_poisoned))
    assert [row["error_code"] for row in bad] == [None, "labeler_failed", None]
    assert bad[1]["error_detail"] == "RuntimeError: cannot read this"


def test_only_pages_below_a_confidence_reach_the_engine() -> None:
    htmls = [page.html for page in labelled_pages()]
    sure = sorted(extraction.confidence or 0 for extraction in map(dripper.extract, htmls))
    middle = sure[len(sure) // 2]
    settings = {"labeler.name": "cpu,all", "labeler.staged": True, "labeler.escalate_below": middle}
    plan = PagePlan.make(None, settings, {}, loader=load_true)
    prepared = preprocess_table(table(*htmls), plan)
    goes_on = [page is not None for page in prepared.column("dripper_simplified").to_pylist()]
    assert 0 < sum(goes_on) < len(htmls)
    methods = [row["method"] for row in run(table(*htmls), plan)]
    assert [method != "cpu" for method in methods] == goes_on
    # It labels no page here: the labels of `cpu` are used, and the rows say so.
    assert {method for method in methods if method != "cpu"} == {"cpu:instead_of_true"}


def test_the_engine_gets_no_more_pages_at_once_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.labels.engine.BATCH_PAGES", 2)
    sizes = []

    class Counting(HashLabeler):
        def label_simplified(self, pages: Any) -> list[Labels]:
            sizes.append(len(pages))
            return super().label_simplified(pages)

    plan = PagePlan.make(None, STAGED, {}, loader=lambda settings: Counting())
    run(table(*(page(i)[1] for i in range(5))), plan)
    assert sizes == [2, 2, 1]


def test_an_engine_that_labels_nothing_ends_the_step() -> None:
    with pytest.raises(EngineError, match="no GPU here"):
        run(table(page(0)[1]), PagePlan.make(None, STAGED, {}, loader=load_dead))


def test_an_empty_table_has_the_columns_too() -> None:
    empty = table(page(0)[1]).slice(0, 0)
    plan = PagePlan.make(None, STAGED, {}, loader=load_hash)
    made = finish_table(label_table(preprocess_table(empty, plan), plan, plan.start_engine()), plan)
    assert made.column_names == ["url", *(field.name for field in EXTRACTED)]
    assert made.schema.field("confidence").type == pa.float64()


def test_lone_surrogates_pass_through_every_step() -> None:
    told = r'<script type="application/ld+json">{"@type": "Article", "author": "Ann \ud800"}</script><p>It rained.'
    (row,) = run(table(told), PagePlan.make(None, STAGED, {}, loader=load_hash))
    assert row["authors"].startswith("Ann \ufffd")
    assert row["n_blocks"] == 1


def test_a_plan_travels_and_what_cannot_work_is_told_before_any_page() -> None:
    plan = PagePlan.make("cpu", {"profile": "dripper"}, {"comments": "include"}, form="text")
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert plan.loader is load_labeler
    with pytest.raises(SettingsError, match="form='pdf'"):
        PagePlan.make(None, None, {}, form="pdf")
    with pytest.raises(SettingsError, match=r"set labeler\.escalate_below instead"):
        PagePlan.make("cpu,all", {"labeler.escalate_share": 0.1, "labeler.staged": True}, {})
    with pytest.raises(SettingsError, match="the labeler lm needs"):
        PagePlan.make("lm", None, {})
    with pytest.raises(InputError, match="pages have no column 'content'; there are url, html"):
        preprocess_table(pa.table({"url": ["u"], "html": ["<p>x"]}), plan)
