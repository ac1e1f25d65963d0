"""Check public checkpoints on this machine, and write one HTML page:

    python -m dripper_lab.gpu_check PAGES… --lm MODEL… --encoder MODEL… --out gpu_check.html

Loads each checkpoint, lets it answer without constraints, and labels the pages with each decoder.
Compares the labels of the decoders with each other, and with the labels of the authors' code if
that is installed. Also compares pages per second with the estimate. `make gpu-check` first installs
the requirements. See docs/gpu_day.md.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from dripper.errors import InputError, UsageError
from dripper.labels import config as flags
from dripper.labels.registry import list_options
from dripper.warc import decode
from dripper_lab.annotation.sources import unlabelled_pages
from dripper_lab.datasets import LabelledPage
from dripper_lab.gpu_check.check import Part, Questions, ask_step, check_encoder, check_lm
from dripper_lab.gpu_check.estimate import GPUS, find_gpu
from dripper_lab.gpu_check.page import write_page

log = logging.getLogger(__name__)

FULL_LOAD = 256
"""Enough pages to keep a GPU busy. The `label` stage uses batches of this size."""


def main(arguments: Sequence[str]) -> int:
    """Run the check and write the HTML page. Return 0, 1 if a step failed, or 2 for incorrect
    usage."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        parts = _check(options)
    except (UsageError, RuntimeError) as error:
        log.error("%s", error)
        return 2
    return int(any(part.problems for part in parts))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dripper_lab.gpu_check", description=__doc__)
    parser.add_argument("pages", nargs="+", help="HTML files, folders, archives, or folders with a pages.jsonl")
    parser.add_argument("--lm", nargs="+", default=[], metavar="MODEL", help="checkpoints of the labeler lm")
    parser.add_argument("--encoder", nargs="+", default=[], metavar="MODEL", help="checkpoints of the labeler encoder")
    parser.add_argument("--out", type=Path, default=Path("gpu_check.html"), help="the page (default %(default)s)")
    parser.add_argument("--limit", type=flags.positive, default=FULL_LOAD, help="pages at most (default %(default)s)")
    parser.add_argument("--decoders", nargs="+", default=["parallel", "fsm"], choices=("parallel", "fsm"))
    parser.add_argument("--dollars-per-hour", type=float, help="of the GPU (default: that of its data sheet here)")
    parser.add_argument("--gpu", choices=sorted(GPUS), help="whose data sheet (default: by the device's name)")
    parser.add_argument("--authors", type=Path, help="folder with the packages pulpie and mineru-html")
    flags.add_settings(parser)
    return parser


def _check(options: argparse.Namespace) -> list[Part]:
    if not options.lm and not options.encoder:
        raise InputError("name a checkpoint: --lm MODEL or --encoder MODEL")
    settings = flags.settings(options, {})
    pages = (page for page in unlabelled_pages(options.pages) if isinstance(page, LabelledPage))
    texts = [decode(page.html, page.content_type).text for page in islice(pages, options.limit)]
    if not texts:
        raise InputError("there is no page in " + ", ".join(options.pages))
    if len(texts) < FULL_LOAD:
        log.warning("%d pages do not fill a GPU: %d and more do", len(texts), FULL_LOAD)
    machine = ask_step("machine")
    sheet = options.gpu or find_gpu(machine["device"])
    gpu = GPUS[sheet] if sheet else None
    dollars = options.dollars_per_hour or (gpu.dollars_per_hour if gpu else 1.0)
    questions = Questions(
        texts, list_options("lm", settings.labels), list_options("encoder", settings.labels), gpu, settings.profile,
        options.decoders, options.authors,
    )  # fmt: skip
    parts = list[Part]()
    for check, models in ((check_lm, options.lm), (check_encoder, options.encoder)):
        for model in models:
            parts.append(check(model, questions))
            # Written after each checkpoint, so that an interrupted run keeps its results.
            options.out.write_text(write_page(parts, machine, sheet, dollars, len(texts)), encoding="utf-8")
    log.info("wrote %s", options.out)
    return parts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
