"""The model card of the `web2text` labeler."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from dripper_lab.train.card_tables import data_sets_table, table
from dripper_lab.train.web2text.examples import Example, Recipe
from dripper_lab.train.web2text.fit import Choice, LeafScore, page_f1
from dripper_labelers.web2text.weights import Weights

_CARD = """\
# Model card: labeler `web2text`

Version `{version}`: the first 12 hex digits of the SHA-256 of `web2text_weights.npz`.
Every row that the labeler labels records this version.

**Task.** Marks each block of a web page `main` or `other`, without a GPU. Output per block: label and probability; per page: the
F1 that its probabilities predict (`confidence`).

**Model.** Web2Text (Vogels, Ganea, Eickhoff 2018) on blocks: 128 features of each block in the collapsed DOM and 25 of each pair
of neighbours, two convolutional networks of five layers with {parameters} weights (int16), and the most probable sequence of
labels. Arithmetic is exact, so labels are the same on every machine. [labeler_web2text.md](labeler_web2text.md)
lists the differences from the paper.

**Made by** `python -m dripper_lab.train.web2text --data DIR --output DIR` in {minutes:.0f} CPU minutes. Arguments:

```json
{arguments}
```

## Training data

Rows marked bad or duplicate, and pages with labelled text but no main block, are left out.

{data_sets}

## Scores

These are scores of these weights on pages of held-out sites: F1 over words against the labelled text, as the mean
over pages. Ceiling: the F1 of the best choice of blocks.

Held out: **{f1:.4f}** ({n} pages; ceiling {ceiling:.4f}). The weight of pairs ({pair_weight:g}) and the bias of main
({main_bias:g}) have the highest F1 on these pages out of {tried} combinations, so this F1 is a little too high. With the paper's
weight of pairs, 0.1, and no bias: {paper_f1:.4f}. Without pairs: {alone_f1:.4f}.

{scores}

With equal weight for all blocks: accuracy {leaf.accuracy:.3f}, precision {leaf.precision:.3f}, recall {leaf.recall:.3f}, F1
{leaf.f1:.3f}.

## Limits

- Each block is judged with its neighbours, seven blocks at a time: a long list, or a long article in different
surroundings, is decided piece by piece.
- Most of the pages are English articles.
- Annotators disagree on comments, titles and captions. The labels follow the conventions of these sets.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """The findings of a training run on held-out pages."""

    choice: Choice
    tried: int
    labels: Sequence[npt.NDArray[np.bool_]]
    """The labels of each page with the chosen values."""
    paper_f1: float
    """F1 with the paper's weight of pairs and no bias."""
    alone_f1: float
    """F1 without pairs, with the chosen bias."""


def model_card(
    weights: Weights,
    recipe: Recipe,
    train: Sequence[Example],
    held_out: Sequence[Example],
    result: Result,
    seconds: float,
) -> str:
    """Return the card as Markdown.

    Args:
        train, held_out: The training pages and the held-out pages. `result` is for the latter.
        seconds: The CPU seconds of the whole run.
    """
    scores, ceiling = page_f1(held_out, result.labels), page_f1(held_out, [page.main for page in held_out])
    return _CARD.format(
        version=weights.version, minutes=seconds / 60, arguments=json.dumps(asdict(recipe), indent=1), f1=scores.mean(),
        parameters=f"{sum(matrix.size for matrix in weights.matrices.values()):,}", n=len(held_out), ceiling=ceiling.mean(),
        data_sets=data_sets_table([page.key for page in train], [page.key for page in held_out]),
        pair_weight=result.choice.pair_weight, main_bias=result.choice.main_bias, tried=result.tried,
        paper_f1=result.paper_f1, alone_f1=result.alone_f1, scores=_scores(held_out, scores, ceiling),
        leaf=LeafScore.of(held_out, result.labels),
    )  # fmt: skip


def _scores(examples: Sequence[Example], scores: npt.NDArray[np.float64], ceiling: npt.NDArray[np.float64]) -> str:
    kinds = np.array([" ".join((page.key[0], page.page_type)).strip() for page in examples])
    rows = [
        (
            kind,
            int((kinds == kind).sum()),
            f"{scores[kinds == kind].mean():.4f}",
            f"{ceiling[kinds == kind].mean():.4f}",
        )
        for kind in sorted(set(kinds.tolist()))
    ]
    return table(("data set, page type", "pages", "F1", "ceiling"), rows)
