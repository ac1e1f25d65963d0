"""Computes all metrics of a page for all extractors. The ground truth is tokenized only once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict

from dripper.errors import UsageError
from dripper.eval import Score, ngrams, rouge_of_ngrams
from dripper_lab.metrics.content import score_parts
from dripper_lab.metrics.overlap import levenshtein, word_f1
from dripper_lab.metrics.rouge_lsum import rouge_lsum_of, sentences

Values = dict[str, float | None]
Scorer = Callable[[str], Values]


def _rouge5(tokens: str) -> Callable[[str], Scorer]:
    def of_truth(truth: str) -> Scorer:
        true = ngrams(truth, 5, tokens)
        return lambda text: _fields(f"rouge5_{tokens}", rouge_of_ngrams(ngrams(text, 5, tokens), true))

    return of_truth


def _rouge_lsum(truth: str) -> Scorer:
    true = sentences(truth)
    return lambda text: _fields("rouge_lsum", rouge_lsum_of(sentences(text), true))


METRICS: Mapping[str, Callable[[str], Scorer]] = {
    "rouge5_words": _rouge5("words"),
    "rouge5_jieba": _rouge5("jieba"),
    "rouge5_split": _rouge5("split"),
    "rouge_lsum": _rouge_lsum,
    "levenshtein": lambda truth: lambda text: {"levenshtein": levenshtein(text, truth)},
    "word": lambda truth: lambda text: _fields("word", word_f1(text, truth)),
    "content": lambda truth: lambda text: dict(score_parts(text, truth)),
}
"""Metric → ground truth → text → values. "content" requires ground truth in Markdown."""

DEFAULT_METRICS = ("rouge5_words", "rouge5_jieba", "rouge5_split", "rouge_lsum", "levenshtein", "word")


def check_metrics(names: Iterable[str]) -> None:
    """Raise UsageError if a name is not a metric."""
    for name in names:
        if name not in METRICS:
            raise UsageError(f"unknown metric {name!r}; there are: {', '.join(METRICS)}")


def score_page(truth: str, texts: Mapping[str, str], metrics: Iterable[str] = DEFAULT_METRICS) -> dict[str, Values]:
    """Return extractor → column → value for the text of one page.

    Columns are `<metric>_precision`, `_recall` and `_f1`, or `<metric>` if the metric is a single
    number. Raises UsageError for an unknown metric.
    """
    metrics = list(metrics)
    check_metrics(metrics)
    scorers = [METRICS[name](truth) for name in metrics]
    scored: dict[str, Values] = {}
    values_by_text: dict[str, Values] = {}
    for name, text in texts.items():
        if text not in values_by_text:  # different settings of a tool often give the same text
            values_by_text[text] = {column: value for scorer in scorers for column, value in scorer(text).items()}
        scored[name] = values_by_text[text]
    return scored


def similarities(texts: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return the similarity of the outputs of each pair of extractors: ROUGE-5 F1 over words, which
    is symmetric."""
    grams = {name: ngrams(text, 5, "words") for name, text in texts.items()}
    names = list(grams)
    return {
        one: {other: rouge_of_ngrams(grams[one], grams[other]).f1 for other in names[:index]}
        for index, one in enumerate(names)
    }


def _fields(metric: str, score: Score) -> Values:
    return {f"{metric}_{part}": value for part, value in asdict(score).items()}
