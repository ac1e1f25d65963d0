import pytest

from dripper.errors import UsageError
from dripper.eval import rouge_n
from dripper_lab.evaluation.extracting import ProgressLog
from dripper_lab.evaluation.extractors.base import Form, converter, markdown, plain_text
from dripper_lab.metrics.overlap import levenshtein, word_f1
from dripper_lab.metrics.rouge_lsum import rouge_lsum
from dripper_lab.metrics.scoring import DEFAULT_METRICS, METRICS, score_page, similarities

TRUTH = "It rained all day in Bergen. Nobody minded, for nobody had hoped for sun."
OUTPUT = "Home. It rained all day in Bergen. Nobody minded."


def test_columns_are_the_single_metrics() -> None:
    scores = score_page(TRUTH, {"one": OUTPUT, "same": OUTPUT, "none": ""})
    assert scores["one"] == scores["same"]
    assert scores["none"]["rouge5_words_f1"] == 0
    for tokens in ("words", "jieba", "split"):
        assert scores["one"][f"rouge5_{tokens}_f1"] == rouge_n(OUTPUT, TRUTH, tokens=tokens).f1
        assert scores["one"][f"rouge5_{tokens}_precision"] == rouge_n(OUTPUT, TRUTH, tokens=tokens).precision
    assert scores["one"]["rouge_lsum_f1"] == rouge_lsum(OUTPUT, TRUTH).f1
    assert scores["one"]["levenshtein"] == levenshtein(OUTPUT, TRUTH)
    assert scores["one"]["word_f1"] == word_f1(OUTPUT, TRUTH).f1
    assert score_page(TRUTH, {"one": OUTPUT}, ["content"])["one"]["text_edit"] is not None
    assert set(DEFAULT_METRICS) < set(METRICS)


def test_unknown_metric() -> None:
    with pytest.raises(UsageError, match="unknown metric 'rouge_l'; there are: rouge5_words, "):
        score_page(TRUTH, {}, ["rouge_l"])


def test_similarities_of_every_pair_once() -> None:
    pairs = similarities({"a": TRUTH, "b": TRUTH, "c": OUTPUT})
    assert pairs == {"a": {}, "b": {"a": 1.0}, "c": dict.fromkeys("ab", rouge_n(OUTPUT, TRUTH, tokens="words").f1)}


def test_html_to_what_the_truth_is() -> None:
    html = "<h1>Title</h1><p>One <a href='/x'>two</a></p><img src=x alt=y>"
    assert plain_text(html).split() == ["Title", "One", "two"]
    assert markdown(html).split("\n")[0] == "# Title"
    assert "One two" in markdown(html)
    assert plain_text(" ") == markdown("") == ""
    assert converter(Form.HTML, "webmainbench") is markdown
    assert converter(Form.HTML, "dragnet") is plain_text
    assert converter(Form.TEXT, "webmainbench")("<p>") == "<p>"


def test_progress_says_where_and_how_long(caplog: pytest.LogCaptureFixture) -> None:
    progress = ProgressLog(10)
    progress.at("dragnet: gne")
    progress.done(4, fresh=False)
    assert str(progress) == "40 % dragnet: gne"
    with caplog.at_level("INFO"):
        progress.done(6)
    assert caplog.messages == ["100 % dragnet: gne, about 0 min left"]
    assert str(ProgressLog(0)) == "100 % "
