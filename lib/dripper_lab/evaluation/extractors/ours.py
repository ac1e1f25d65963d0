"""Lists this project's own extractors: every labeler, and the bounds for its blocks."""

import hashlib
import json
from functools import partial
from pathlib import Path

import numpy as np

from dripper.keep.cut import prune_page
from dripper.labels.lm.checkpoint import fingerprint
from dripper.labels.registry import find_entry, list_options
from dripper.settings import LabelsSettings
from dripper_lab.evaluation.extractors.base import Contender, Extract, Form, Standing, Task

LABELERS = ("cpu", "web2text", "vote:cpu,web2text,trafilatura")
"""The labelers of a default run, including a vote. Others require a GPU or server and must be named
explicitly."""
WITH_A_MODEL = ("encoder", "neuscraper")
"""Labelers that are added to a default run if the settings name a checkpoint for them."""
DEFAULT_LABELS = LabelsSettings()


def default_labelers(labels: LabelsSettings) -> tuple[str, ...]:
    """Return the labelers of a default run with these settings."""
    return (*LABELERS, *(name for name in WITH_A_MODEL if list_options(name, labels).get("model")))


def list_own_extractors(
    labelers: tuple[str, ...] = LABELERS, labels: LabelsSettings = DEFAULT_LABELS
) -> list[Contender]:
    """Return an extractor per labeler, and the bounds.

    Args:
        labels: The settings of the labelers.
    """
    return [
        *(
            Contender(
                f"dripper-{name}",
                Standing.OURS,
                "dripper",
                partial(run_labeler, name, labels),
                Form.HTML,
                variant=variant_of(name, labels),
            )
            for name in labelers
        ),
        Contender("oracle", Standing.BOUND, "dripper", oracle, Form.HTML, "true labels on our blocks"),
        Contender("all-blocks", Standing.BOUND, "dripper", all_blocks, Form.HTML, "every block main"),
    ]


def variant_of(labeler: str, labels: LabelsSettings) -> str:
    """Return a label for outputs of a labeler with changed settings or another checkpoint; "" for
    the defaults."""
    set_to = list_options(labeler, labels)
    sections = set_to if find_entry(labeler).members else {labeler: set_to}
    changed = {
        name: {key: value for key, value in section.items() if value != getattr(find_entry(name).settings(), key)}
        for name, section in sections.items()
    }
    changed = {name: section for name, section in changed.items() if section}
    if not changed:
        return ""
    state = hashlib.sha256(json.dumps(changed, sort_keys=True).encode())
    for section in changed.values():
        folder = Path(str(section.get("model", "")))
        if (folder / "config.json").is_file():
            state.update(fingerprint(folder).encode())
    return state.hexdigest()[:8]


def run_labeler(labeler: str, labels: LabelsSettings = DEFAULT_LABELS) -> Extract:
    """Return an extractor that works like `dripper.extract`: blocks, labels, pruning, and the
    fallback if no block is main."""
    from dripper.page.extraction import Extractor
    from dripper.settings import LabelerSettings, Settings

    product = Extractor(Settings(labeler=LabelerSettings(name=labeler), labels=labels))

    def extract(task: Task) -> str:
        extraction = product.extract(task.html, task.page.url)
        return extraction.main_html

    return extract


def oracle() -> Extract:
    """Return an extractor that keeps exactly the blocks that are in the ground truth, as a perfect
    labeler would. Words are matched in order."""
    from dripper.html import preprocess
    from dripper.labels.align import labels_from_text

    def extract(task: Task) -> str:
        page = preprocess(task.html)
        main = labels_from_text([block.text for block in page.blocks], task.page.truth_text)
        return prune_page(page, [page.item_ids[index] for index in np.flatnonzero(main)])

    return extract


def all_blocks() -> Extract:
    """Return an extractor that keeps every block of a page."""
    from dripper.html import preprocess

    def extract(task: Task) -> str:
        page = preprocess(task.html)
        return prune_page(page, page.item_ids)

    return extract
