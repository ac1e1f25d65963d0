"""The setting `labels.cpu.focus`: precision, recall and F1 of its words and of thresholds.

    python benchmarks/focus.py --data ../shared/data --sets web-kinds-evaluation

ROUGE-5 over words, means over the pages of a set, as in docs/labeler_cpu.md. Each page is read and
labelled once; only the choice of blocks differs.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from dripper.errors import PageError
from dripper.eval import rouge_n
from dripper.html import preprocess_utf8, to_text
from dripper.labels.cpu.decide import decide
from dripper.labels.cpu.entry import BETAS
from dripper.labels.cpu.features.page_features import compute_features
from dripper.labels.cpu.labeler import CpuLabeler
from dripper.warc import to_utf8
from dripper_lab.datasets import read_pages

CHOICES: dict[str, dict[str, float]] = {word: {"beta": beta} for word, beta in BETAS.items()} | {
    f"{threshold}": {"threshold": threshold} for threshold in (0.1, 0.3, 0.5, 0.7, 0.9)
}


def main(argv: list[str]) -> int:
    """Print a table a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default="web-kinds-evaluation")
    parser.add_argument("--pages", type=int, help="that many of each set, evenly drawn")
    options = parser.parse_args(argv)
    labeler = CpuLabeler.load()
    for name in options.sets.split(","):
        scores: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
        for labelled in read_pages(options.data, name, sample=options.pages):
            try:
                page = preprocess_utf8(to_utf8(labelled.html, labelled.content_type)[0])
            except PageError:
                continue
            probability = labeler.label([page])[0].probability.astype(np.float64)
            words = compute_features(page).words
            for choice, how in CHOICES.items():
                main_ids = np.flatnonzero(decide(probability, words, **how).main) + 1
                score = rouge_n(to_text(page.prune(main_ids.tolist())), labelled.truth_text, tokens="words")
                scores[choice].append((score.precision, score.recall, score.f1))
        print(f"\n{name}, {len(scores['balanced'])} pages\n| focus | precision | recall | F1 |\n|---|---|---|---|")
        for choice, found in scores.items():
            print(f"| {choice} | " + " | ".join(f"{mean:.3f}" for mean in np.mean(found, axis=0)) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
