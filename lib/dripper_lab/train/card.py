"""Writes the model card: the weights, their training data, their scores on held-out sites, and
their limits."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from dripper.labels.arrays import FloatArray, IntArray
from dripper.labels.cpu.decide import KINDS
from dripper.labels.cpu.features.page_features import STRUCTURE_NAMES
from dripper.labels.cpu.second_opinion import DOUBTFUL
from dripper_lab.datasets import DATA_SETS
from dripper_lab.train.card_tables import table
from dripper_lab.train.cross_validated import HeldOut
from dripper_lab.train.digest import digest_of, sample_digest
from dripper_lab.train.examples import Example
from dripper_lab.train.kinds import kind_of
from dripper_lab.train.recipe import Recipe
from dripper_lab.train.switch_scores import SwitchScore
from dripper_lab.train.validate import calibration_error, macro_over_kinds, mean_by, reliability
from dripper_lab.train.weights import SEEN_BY_START, UNUSED

_CARD = """\
# Model card: labeler `cpu`

Version `{version}`: the first 12 hex digits of the SHA-256 of `cpu_weights.npz`.
Every row that the labeler labels records this version.

**Task.** Marks each block of a web page `main` or `other`, in any language, without a GPU. Output per block: label and
probability; per page: its kind (`page_kind`), and the ROUGE-5 F1 that similar labels have reached on similar pages
(`confidence`).

**Model.** {parameters} parameters (int16): a linear layer over {features} features of the block, of which {unused} is not
used, {layers} dilated separable convolutions over the sequence of blocks, means over each block's {levels} containers, a
lower probability for blocks outside the container with most of the main content, and the set of blocks with the
highest expected F1. If that F1 is under {doubtful}, {others}
smaller networks are asked too, and the mean logit counts{kept_note}. Arithmetic is exact, so labels and
probabilities are bit-identical on every machine.

**Made by** `make cpu`, which is `python -m dripper_lab.train.cpu --data DIR --output DIR --folds {folds}{flags}`,
in {minutes:.0f} CPU minutes. Arguments:

```json
{arguments}
```

## Training data

Rows marked bad or duplicate, and pages with labelled text but no main block, are left out; the {empty} pages without main
content (error pages, login walls, only menus) stay. {stages}In an epoch, the number of pages of a kind is
proportional to n^{power:g}, if n training pages have this kind.

{data_sets}

Digest of the examples (features, words, labels, order): `{digest}`; of those whose pages are in tests/data/labelled:
`{sample_digest}`.

## Scores

ROUGE-5 F1 over words against the labelled text, {scored} of {folds} folds by site held out: each page is labelled by networks that
saw no page of its site{unseen}. The shipped weights are trained on all pages with the same recipe, so these are scores of the
recipe{without_kept}. Ceiling: the F1 of the best choice of blocks.

All pages: **{rouge5:.4f}** ({n} pages; ceiling {ceiling:.4f}; F1 over the words of the blocks {f1:.4f}). Mean over kinds of
pages: **{macro:.4f}**.

{by_kind}

{scores}

For scores on pages of other collections, which are in no training set, see
[research/labeler_cpu.md](research/labeler_cpu.md#every-kind-of-page).

## Kinds of pages

The kind is predicted after the network by multinomial logistic regression. Its inputs are means of the features and
of the network's activations, over blocks, words and words that are likely main, and {structure} counts of the page's
elements, fields and declared types. Except for readers' comments, the labels of blocks do not
depend on the kind. On held-out sites,
**{accuracy:.3f}** of the pages get their kind (mean over kinds: {kind_accuracy:.3f}). Error pages count as `nothing`.

{kinds}

## Calibration

Temperature {temperature}, shift {shift}, chosen on {chosen_on} for the highest ROUGE-5 F1, mean over pages and over
kinds. Expected calibration error of the
blocks' probabilities, weighed by words: **{error:.4f}** (ten bins).

![Reliability of blocks and pages](reliability_cpu.png)

{reliability}

The page's `confidence` is a logistic function of the F1 that the decoder expects and of the page's kind, fitted on {fitted}.
Against the ROUGE-5 F1 reached: correlation {correlation:.2f},
calibration error {page_error:.3f} (ten groups of equal size; {expected_error:.3f} for the
decoder's own expectation). Of the {lost} pages
without main content {low:.0%} have a confidence under 0.5.

{confidence}

If the most doubtful pages are handled elsewhere, the risk (1 − mean ROUGE-5 F1) of the pages that are kept is:

{coverage}

The gain if a language model or a person labels the least certain pages as well as a second annotator, who reaches an
F1 of {reader} compared with the first annotator:

{reader_table}

## Conventions

`labels.cpu.comments` and `labels.cpu.title` (auto, include, exclude) decide about parts on which annotators
disagree. `include` and `exclude` use a second output of the network, which was trained afterwards. `auto` ignores it.
This output was trained on {commented} of the pages above with made-up comments below their main content, and on {plain} pages
with comments that are not labelled main. Scores against the original labels (mostly without comments and titles), on
held-out sites:

{switch}

## Limits

- Trained on {trained:,} pages, {articles:.0%} of them articles, most in English: expect less on kinds of pages with few
  examples above.
- Annotators disagree on comments, titles and captions. By default, the labels follow the conventions of these sets.
- The labeler sees the page as the server sent it. Content that a script fetches later is not on the page;
  JSON-LD is evidence, never content.
- A block is kept or dropped whole.
"""

_AFTER_START = """\
The first {taught} go on from those of the weights `{start}`, which were taught from scratch on
{seen}, by {epochs} epochs on all pages; each is the mean of before and after, with a share of {share:g} of before.
The other networks, and the means and scales that standardise the features, are those of `{start}`. """

_CHOSEN: Mapping[bool, Mapping[str, str]] = {
    False: {
        "chosen_on": "the held-out pages",
        "unseen": "",
        "fitted": "held-out\npages; here, each half of the sites by the other half",
    },
    True: {
        "chosen_on": "held-out pages of the training of `{start}`",
        "unseen": ", and only of sets that `{start}` was not taught on",
        "fitted": "held-out\npages of the training of `{start}`",
    },
}
"""Phrases of the model card that depend on whether training continued from earlier weights."""

READER = 0.95
"""The F1 over words between two annotators, on pages of every kind that both annotated."""

_STAGES = """\
Each network is taught first on the first five sets, each page once an epoch, then on all, and is the
mean of both stages, with a share of {share:g} of the first. """


def model_card(
    version: str,
    recipe: Recipe,
    folds: tuple[int, int],
    examples: Sequence[Example],
    held_out: HeldOut,
    switched: Sequence[SwitchScore],
    cpu_seconds: float,
    parameters: int,
    kept: int = 0,
    start: str | None = None,
) -> str:
    """Return the card as Markdown.

    Args:
        folds: The number of folds, and the number of folds that were held out one after another.
        examples: All examples that were trained on.
        kept: The number of networks that are kept from earlier weights for a second opinion.
        start: The version of the earlier weights from which training continued, if any.
    """
    pages, scores, calibration = held_out.examples, held_out.scores, held_out.calibration
    bins = reliability(pages, held_out.logits, calibration)
    ceiling = np.array([page.texts.rouge5(page.main) for page in pages])
    empty = [example for example in examples if not example.truth_words]
    kinds = held_out.kinds.argmax(axis=1), held_out.empty_kinds.argmax(axis=1)
    right = _right(pages, kinds[0]), _right(held_out.empty, kinds[1])
    return _CARD.format(
        version=version, parameters=f"{parameters:,}", structure=len(STRUCTURE_NAMES),
        features=examples[0].blocks.features.shape[1],
        unused=", ".join(f"`{name}`" for name in UNUSED),
        layers=len(recipe.shape.dilations), levels=examples[0].blocks.starts.shape[1], minutes=cpu_seconds / 60,
        doubtful=DOUBTFUL, others=len(recipe.other_recipes) + kept, power=1 - recipe.balance, empty=len(empty),
        kept_note=f" ({kept} of them are kept from earlier weights)" if kept else "", flags=_flags(folds, kept, start),
        without_kept=f", without the {kept} kept networks, which saw some of these pages" if kept and not start else "",
        stages=_stages(recipe, start), **{name: text.format(start=start) for name, text in _CHOSEN[bool(start)].items()},
        arguments=json.dumps({"folds": folds[0], "scored": folds[1], **asdict(recipe)}, indent=1), data_sets=_data_sets(examples),
        digest=digest_of(examples), sample_digest=sample_digest(examples),
        folds=folds[0], scored=folds[1], f1=scores.f1.mean(), n=len(pages), trained=len(examples), ceiling=ceiling.mean(),
        rouge5=scores.rouge5.mean(), macro=macro_over_kinds(pages, scores.rouge5),
        by_kind=_scores(pages, scores.rouge5, ceiling, "page type", lambda page: page.kind),
        scores=_scores(pages, scores.rouge5, ceiling, "data set, page type", _set_and_type),
        accuracy=np.concatenate(right).mean(), kind_accuracy=_accuracy_over_kinds([*pages, *held_out.empty], np.concatenate(right)),
        kinds=_kinds([*pages, *held_out.empty], np.concatenate(kinds)),
        temperature=calibration.temperature, shift=calibration.shift,
        reliability=_reliability(bins), error=calibration_error(bins), switch=_switch(switched),
        plain=sum(bool(example.comments.any()) for example in examples),
        commented=sum(example.commented is not None for example in examples),
        correlation=np.corrcoef(held_out.confidence, scores.rouge5)[0, 1],
        page_error=_page_error(held_out.confidence, scores.rouge5),
        expected_error=_page_error(scores.expected, scores.rouge5),
        lost=len(held_out.empty), low=float(np.mean(held_out.empty_confidence < 0.5)) if held_out.empty else float("nan"),
        confidence=_confidence(held_out), coverage=_coverage(held_out),
        reader=READER, reader_table=_reader(held_out),
        articles=np.mean([example.kind == "article" for example in examples]),
    )  # fmt: skip


def _flags(folds: tuple[int, int], kept: int, start: str | None) -> str:
    scored = f" --scored {folds[1]}" if folds[1] < folds[0] else ""
    keep = " --keep WEIGHTS" if kept else ""
    return scored if start else f"{scored} --from-scratch{keep}"


def _stages(recipe: Recipe, start: str | None) -> str:
    """Return a sentence about the pages on which the networks were trained first."""
    if start:
        return _AFTER_START.format(
            start=start,
            share=recipe.first_share,
            epochs=recipe.epochs,
            taught="network" if not recipe.other_recipes else f"{1 + len(recipe.other_recipes)} networks",
            seen=", ".join(name for name in DATA_SETS if name in SEEN_BY_START),
        )
    return _STAGES.format(share=recipe.first_share) if recipe.first_epochs else ""


def _data_sets(examples: Sequence[Example]) -> str:
    counts: dict[str, int] = {}
    for example in examples:
        counts[example.key[0]] = counts.get(example.key[0], 0) + 1
    return table(("data set", "licence", "pages"), [(name, DATA_SETS[name].licence, n) for name, n in counts.items()])


def _set_and_type(example: Example) -> str:
    return " ".join((example.key[0], example.page_type)).strip()


def _scores(
    examples: Sequence[Example], scores: FloatArray, ceiling: FloatArray, head: str, key: Callable[[Example], str]
) -> str:
    ceilings = mean_by(examples, ceiling, key)
    rows = [
        (name, n, f"{score:.4f}", f"{ceilings[name][1]:.4f}")
        for name, (n, score) in mean_by(examples, scores, key).items()
    ]
    return table((head, "pages", "ROUGE-5 F1", "ceiling"), rows)


def _right(examples: Sequence[Example], kinds: IntArray) -> FloatArray:
    return np.array([KINDS[at] == kind_of(page) for page, at in zip(examples, kinds, strict=True)], np.float64)


def _accuracy_over_kinds(examples: Sequence[Example], right: FloatArray) -> float:
    return float(np.mean([share for _, share in mean_by(examples, right, kind_of).values()]))


def _kinds(examples: Sequence[Example], kinds: IntArray) -> str:
    """Return a table with each kind's number of pages, recall and precision, and the kinds with
    which it is confused."""
    rows = []
    for kind in KINDS:
        guesses = Counter(KINDS[at] for page, at in zip(examples, kinds, strict=True) if kind_of(page) == kind)
        called = sum(KINDS[at] == kind for at in kinds)
        if guesses:
            confusions = ", ".join(f"{name} {n}" for name, n in guesses.most_common(4) if name != kind)
            precision = guesses[kind] / max(1, called)
            rows.append(
                (kind, guesses.total(), f"{guesses[kind] / guesses.total():.2f}", f"{precision:.2f}", confusions)
            )
    return table(("kind", "pages", "recall", "precision", "mistaken for"), rows)


def _page_error(confidence: FloatArray, reached: FloatArray) -> float:
    """Return the expected calibration error of the pages' confidence, using ten groups with equally
    many pages."""
    groups = np.array_split(np.argsort(confidence, kind="stable"), 10)
    return float(sum(len(group) * abs(confidence[group].mean() - reached[group].mean()) for group in groups if len(group))
                 / len(reached))  # fmt: skip


def _confidence(held_out: HeldOut) -> str:
    """Return a table with the confidence and the score of each kind of page."""
    sure, reached = (
        mean_by(held_out.examples, part, kind_of) for part in (held_out.confidence, held_out.scores.rouge5)
    )
    expected = mean_by(held_out.examples, held_out.scores.expected, kind_of)
    rows = [
        (kind, n, f"{score:.3f}", f"{sure[kind][1]:.3f}", f"{expected[kind][1]:.3f}")
        for kind, (n, score) in reached.items()
    ]
    return table(("kind", "pages", "ROUGE-5 F1 reached", "mean confidence", "the decoder's own expectation"), rows)


def _coverage(held_out: HeldOut) -> str:
    order = np.argsort(-held_out.confidence, kind="stable")
    reached, sure = held_out.scores.rouge5[order], held_out.confidence[order]
    rows = []
    for share in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4):
        n_pages = max(1, round(share * len(order)))
        rows.append((f"{share:.0%}", f"{sure[n_pages - 1]:.2f}", f"{1 - reached[:n_pages].mean():.3f}"))
    return table(("pages kept", "confidence from", "risk"), rows)


def _reader(held_out: HeldOut) -> str:
    """Return a table of the scores that result if an annotator with F1 READER labels the least
    confident pages."""
    order = np.argsort(held_out.confidence, kind="stable")
    reached, sure = held_out.scores.rouge5[order], held_out.confidence[order]
    other = np.array([kind_of(held_out.examples[at]) != "article" for at in order])
    rows = []
    for share in (0.0, 0.1, 0.2, 0.3):
        is_read = np.arange(len(order)) < round(share * len(order))
        with_reader = np.where(is_read, READER, reached)
        cells = (f"{sure[is_read][-1]:.2f}", f"{reached[is_read].mean():.3f}") if is_read.any() else ("", "")
        rows.append(
            (f"{share:.0%}", *cells, f"{with_reader.mean():.3f}", _mean(with_reader[other]), _mean(is_read[other]))
        )
    head = (
        "pages read",
        "confidence up to",
        "their F1 from `cpu`",
        "F1 of all pages",
        "F1 of all but articles",
        "share of these that is read",
    )
    return table(head, rows)


def _mean(values: FloatArray) -> str:
    return f"{values.mean():.3f}" if len(values) else ""


def _reliability(rows: Sequence[tuple[float, float, int]]) -> str:
    return table(("probability", "share of main", "words"), [(f"{p:.3f}", f"{share:.3f}", n) for p, share, n in rows])


def _switch(scores: Sequence[SwitchScore]) -> str:
    rows = [
        (score.conventions.comments, score.conventions.title, *(f"{value:.3f}" for value in score[1:]))
        for score in scores
    ]
    head = (
        "comments",
        "title",
        "F1, all pages",
        "F1, forums",
        "made-up comments kept",
        "plain comments kept",
        "titles kept",
    )
    return table(head, rows)
