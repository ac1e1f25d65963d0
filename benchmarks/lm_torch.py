"""Measures the `lm` labeler in plain PyTorch with a random model of a real shape: passes, pages per
second, peak memory, and the number of labels that differ from the state machine's.

    python benchmarks/lm_torch.py [--device auto] [--shape qwen3-0.6b] [--dtype auto] [--data DIR]
        [--pages 100] [--compared 10] [--alone 5] [--out FILE]

The pages come from the training sets or, without --data, from the repository. Tokenizer and
vocabulary are Qwen3's. A random model takes as long per pass as a trained one. Its labels depend on
each other at random, however, so its number of passes says nothing about a trained model's. The
--compared shortest pages are also labelled by the state machine in transformers, label by label, in
the same precision. The --alone shortest pages are also processed one at a time, which shows the
cost of batches that are not full. Needs the extras [lm,encoder] and PYTHONPATH=tests.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.decoder import DecodedLabels
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.in_torch import TorchDecoder
from dripper.labels.lm.settings import LmSettings
from dripper.labels.torch_device import choose_device, peak_memory
from lm_pages import choose
from support.labelled import pages as committed_pages
from support.tiny_lm import copy_tokenizer, make_checkpoint, make_config
from support.torch_fsm import write_answer

SHAPES: Mapping[str, Mapping[str, int]] = {
    "tiny": {},
    "qwen3-0.6b": {
        "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
        "num_key_value_heads": 8, "head_dim": 128,
    },
}  # fmt: skip
"""Name → the configuration values that differ from the tiny model's."""
MOST_TOKENS = 8_192


def main(arguments: Sequence[str]) -> int:
    """Label the pages, and print the figures as a JSON line."""
    options = parse(arguments)
    device = choose_device(options.device, "--device")
    with tempfile.TemporaryDirectory() as folder:
        pages = sorted(choose_pages(options, Path(folder)), key=lambda page: len(page.simplified_html))
        model = Path(folder) / "model"
        make_checkpoint(model, pages[:2], device=device, **SHAPES[options.shape])
        settings = LmSettings.model_validate(
            {
                "model": str(model), "engine": "transformers", "device": device, "dtype": options.dtype,
                "answer": options.answer,
            }
        )  # fmt: skip
        found = measure(settings, pages, options, device)
    line = json.dumps({"shape": options.shape, "device": name_device(device), **found})
    print(line, flush=True)
    if options.out:
        options.out.write_text(line + "\n")
    return 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--shape", choices=SHAPES, default="qwen3-0.6b")
    parser.add_argument("--dtype", choices=("auto", "float32", "bfloat16", "float16"), default="auto")
    parser.add_argument("--answer", default="json")
    parser.add_argument("--data", type=Path, help="folder of labelled pages (default: the committed pages)")
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--compared", type=int, default=10, metavar="PAGES")
    parser.add_argument("--alone", type=int, default=5, metavar="PAGES")
    parser.add_argument("--out", type=Path, help="a file for the line")
    return parser.parse_args(arguments)


def choose_pages(options: argparse.Namespace, folder: Path) -> list[SimplifiedPage]:
    """Return the pages to label."""
    if options.data is None:
        some = (SimplifiedPage.of(page) for page in committed_pages())
        return sorted(some, key=lambda page: len(page.simplified_html))[: options.pages]
    copy_tokenizer(folder)
    make_config(folder)
    count = PageEncoder.load(LmSettings(model=str(folder))).count_tokens
    return choose(options.data, options.pages, 1, MOST_TOKENS, count).pages


def measure(
    settings: LmSettings, pages: Sequence[SimplifiedPage], options: argparse.Namespace, device: str
) -> dict[str, Any]:
    """Return the figures for labelling the pages."""
    encoder = PageEncoder.load(settings)
    jobs = [job for page in pages for _, job in encoder.read(page)]
    start = time.monotonic()
    decoder = TorchDecoder.start(encoder, settings)
    started = time.monotonic() - start
    decoder.decode(jobs[:2])
    seconds, decoded = decode(decoder, jobs, device)
    alone = [decode(decoder, [job], device)[0] for job in jobs[: options.alone]]
    together, _ = decode(decoder, jobs[: options.alone], device)
    memory = peak_memory(device)
    room = decoder._cache_tokens
    decoder.close()
    differing, compared = compare(settings, encoder, jobs[: options.compared], decoded, device)
    passes = [one.passes for one in decoded]
    return {
        "dtype": settings.dtype if settings.dtype != "auto" else "bfloat16" if device == "cuda" else "float32",
        "pages": len(pages),
        "blocks": sum(job.n_blocks for job in jobs),
        "tokens_a_page": round(float(np.mean([len(job.prompt_ids) for job in jobs]))),
        "passes": round(float(np.mean(passes)), 2),
        "most_passes": max(passes),
        "tokens_read_a_page": round(sum(one.tokens for one in decoded) / len(pages)),
        "seconds": round(seconds, 2),
        "pages_a_second": round(len(pages) / seconds, 3),
        "seconds_alone": round(sum(alone), 2),
        "seconds_of_them_together": round(together, 2),
        "start_seconds": round(started, 1),
        "peak_gb": round(memory / 1e9, 2),
        "cache_tokens": room,
        "labels_compared": compared,
        "labels_differing": differing,
    }


def decode(decoder: TorchDecoder, jobs: Sequence[Job], device: str) -> tuple[float, list[DecodedLabels]]:
    """Return the wall seconds of some pages, and their labels."""
    import torch

    start = time.monotonic()
    decoded = decoder.decode(jobs)
    if device == "cuda":
        torch.cuda.synchronize()
    return time.monotonic() - start, decoded


def compare(
    settings: LmSettings, encoder: PageEncoder, jobs: Sequence[Job], decoded: Sequence[DecodedLabels], device: str
) -> tuple[int, int]:
    """Return the number of labels that differ from the state machine's, and the number of labels
    compared."""
    import torch
    import transformers

    library: Any = transformers
    dtype = {"auto": torch.bfloat16 if device == "cuda" else torch.float32}.get(settings.dtype) or getattr(
        torch, settings.dtype
    )
    model = library.AutoModelForCausalLM.from_pretrained(settings.model, dtype=dtype).to(device).eval()
    differing, compared = 0, 0
    for job, one in zip(jobs, decoded, strict=False):
        labels = write_answer(model, job, encoder.templates)
        differing += int((np.array(labels) != one.main).sum())
        compared += job.n_blocks
    return differing, compared


def name_device(device: str) -> str:
    """Return the GPU's name, or `cpu` with the number of threads."""
    import torch

    return torch.cuda.get_device_name(0) if device == "cuda" else f"cpu, {torch.get_num_threads()} threads"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
