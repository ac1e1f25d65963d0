"""This project's own extractors: every labeler by name, and the bounds that its blocks set."""

from functools import partial

import numpy as np

from dripper.eval.extractors.base import Contender, Extract, Form, Standing, Task

LABELERS = ("cpu", "web2text", "vote:cpu,web2text,trafilatura")
"""The labelers in a default run, and a vote of them. Others need a GPU or a server, and are named
by whoever has one.
"""


def ours(labelers: tuple[str, ...] = LABELERS) -> list[Contender]:
    """Return an extractor for each labeler, and the bounds."""
    return [
        *(
            Contender(f"dripper-{name}", Standing.OURS, "dripper", partial(run_labeler, name), Form.HTML)
            for name in labelers
        ),
        Contender("oracle", Standing.BOUND, "dripper", oracle, Form.HTML, "true labels on our blocks"),
        Contender("all-blocks", Standing.BOUND, "dripper", all_blocks, Form.HTML, "every block main"),
    ]


def run_labeler(labeler: str) -> Extract:
    """The product, as `dripper.extract` runs it: blocks, labels, prune, and the fallback where no
    block is main."""
    from dripper.extraction import Extractor
    from dripper.settings import LabelerSettings

    product = Extractor(LabelerSettings(name=labeler))

    def extract(task: Task) -> str:
        extraction = product.extract(task.html, task.page.url)
        return extraction.main_html

    return extract


def oracle() -> Extract:
    """The blocks whose words the truth holds: what the best labeler could give. The truth is
    matched by words in order."""
    from dripper.html import preprocess
    from dripper.labels.align import labels_from_text

    def extract(task: Task) -> str:
        page = preprocess(task.html)
        main = labels_from_text([block.text for block in page.blocks], task.page.truth_text)
        return page.prune([page.item_ids[index] for index in np.flatnonzero(main)])

    return extract


def all_blocks() -> Extract:
    """Every block: what splitting into blocks keeps of a page."""
    from dripper.html import preprocess

    def extract(task: Task) -> str:
        page = preprocess(task.html)
        return page.prune(page.item_ids)

    return extract
