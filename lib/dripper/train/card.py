"""The model card: what the weights are, what they were trained on, how well they did on held-out
sites, and limits."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from dripper.datasets import DATA_SETS
from dripper.labels.arrays import FloatArray
from dripper.labels.cpu.second_opinion import DOUBTFUL
from dripper.train.examples import Example
from dripper.train.recipe import Recipe
from dripper.train.switch_scores import SwitchScore
from dripper.train.validate import Calibration, calibration_error, mean_by, page_scores, reliability

_CARD = """\
# Model card: labeler `cpu`

Version `{version}`: the first 12 hex digits of the SHA-256 of `cpu_weights.npz`; it stands in every row it labels.

**Task.** Marks each block of a web page `main` or `other`, in any language, without a GPU. Output per block: label and
probability; per page: the F1 that it expects of its own labels (`confidence`).

**Model.** {parameters} parameters (int16): a linear layer over {features} features of the block, {layers} dilated
separable convolutions over the sequence of blocks, means over each block's {levels} containers, a doubt of blocks outside the
container that holds most of what is main, and the set of blocks of highest expected F1. Where that is under {doubtful}, {others}
smaller networks are asked too, and the mean logit counts. Arithmetic is exact, so that labels and probabilities are the same
bits on every machine.

**Made by** `python -m dripper.train.cpu --data DIR --output DIR` in {minutes:.0f} CPU minutes. Arguments:

```json
{arguments}
```

## Training data

Rows marked bad or duplicate, and pages no block of which holds their truth, are left out.

{data_sets}

Digest of the examples (features, labels, order): `{digest}`.

## Scores

F1 over words against the truth, mean over pages, {folds}-fold cross-validation by site: each page is labelled by networks
that saw no page of its site. The shipped weights are trained on all pages with the same recipe, so these are scores
of the recipe. Ceiling: what the best choice of blocks reaches.

All pages: **{f1:.4f}** ({n} pages; ceiling {ceiling:.4f}).

{scores}

Pages of other collections, which no training saw, were scored once, after this training: see `research/labeler_cpu.md`.

## Calibration

Temperature {temperature}, shift {shift}, chosen on the held-out pages for the highest F1. Expected calibration error of the
blocks' probabilities, weighed by words: **{error:.4f}** (ten bins).

![Reliability of blocks and pages](reliability_cpu.png)

{reliability}

The page's `confidence` against the F1 reached: correlation {correlation:.2f}; by thirds of confidence, the mean F1 is
{thirds}.

## Conventions

`labels.cpu.comments` and `labels.cpu.title` (auto, include, exclude) say what counts as main where annotators disagree. The
switch is a second output, learned after the network and used only where it is asked for: `auto` does without it. It learned
comments from {commented} of the pages above with made-up comments put under their main content, and from {plain} pages with
comments that their truth leaves out. Against the truths as they are (mostly without comments and titles), on held-out sites:

{switch}

## Limits

- Trained on {n} pages, most of them English articles: expect less on kinds of pages with few examples above.
- Annotators disagree on comments, titles and captions. Left alone, the labels follow the habits of these sets.
- Sees what the server sent. Content that a script fetches later is not on the page; JSON-LD is evidence, never content.
- A block is kept or dropped whole.
"""


def model_card(
    version: str,
    recipe: Recipe,
    folds: int,
    examples: Sequence[Example],
    logits: Sequence[FloatArray],
    calibration: Calibration,
    switched: Sequence[SwitchScore],
    cpu_seconds: float,
    parameters: int,
) -> str:
    """Return the card as Markdown. logits: held-out predictions in the order of the examples, as
    for `validate.page_scores`."""
    scores, confidence = page_scores(examples, logits, calibration)
    bins = reliability(examples, logits, calibration)
    ceiling = np.array([example.f1(example.main) for example in examples])
    order = np.array_split(np.argsort(confidence, kind="stable"), 3)
    return _CARD.format(
        version=version, parameters=f"{parameters:,}", features=examples[0].blocks.features.shape[1],
        layers=len(recipe.shape.dilations), levels=examples[0].blocks.starts.shape[1], minutes=cpu_seconds / 60,
        doubtful=DOUBTFUL, others=len(recipe.others),
        arguments=json.dumps({"folds": folds, **asdict(recipe)}, indent=1), data_sets=_data_sets(examples),
        digest=digest_of(examples), folds=folds, f1=scores.mean(), n=len(examples), ceiling=ceiling.mean(),
        scores=_scores(examples, scores, ceiling), temperature=calibration.temperature, shift=calibration.shift,
        reliability=_reliability(bins), error=calibration_error(bins), switch=_switch(switched),
        plain=sum(bool(example.comments.any()) for example in examples),
        commented=sum(example.commented is not None for example in examples),
        correlation=np.corrcoef(confidence, scores)[0, 1],
        thirds=", ".join(f"{scores[part].mean():.3f}" for part in order),
    )  # fmt: skip


def digest_of(examples: Sequence[Example]) -> str:
    """Return 16 hex digits that change with any feature, label or the order of the examples."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr((example.key, example.truth_words)).encode())
        for array in (example.blocks.features.astype(np.float32), example.words, example.matched):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def _data_sets(examples: Sequence[Example]) -> str:
    counts: dict[str, int] = {}
    for example in examples:
        counts[example.key[0]] = counts.get(example.key[0], 0) + 1
    return _table(("data set", "licence", "pages"), [(name, DATA_SETS[name].licence, n) for name, n in counts.items()])


def _scores(examples: Sequence[Example], scores: FloatArray, ceiling: FloatArray) -> str:
    def by(values: FloatArray) -> Mapping[str, tuple[int, float]]:
        return mean_by(examples, values, lambda example: " ".join((example.key[0], example.page_type)).strip())

    ceilings = by(ceiling)
    rows = [(name, n, f"{score:.4f}", f"{ceilings[name][1]:.4f}") for name, (n, score) in by(scores).items()]
    return _table(("data set, page type", "pages", "F1", "ceiling"), rows)


def _reliability(rows: Sequence[tuple[float, float, int]]) -> str:
    return _table(("probability", "share of main", "words"), [(f"{p:.3f}", f"{share:.3f}", n) for p, share, n in rows])


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
    return _table(head, rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
