"""Checks that the labels of the PyTorch labelers do not depend on the device.

    python benchmarks/device_laws.py [--device cuda] [--only bert …] [--out FILE]

Tiny random models label the pages in the repository, first on the CPU in float32, then on the
device in float32 and bfloat16. In float32, all labels must be the same. In bfloat16, close
decisions may differ; the output states how many do. The exit code is 1 if float32 labels differ.
Needs the extras [lm,encoder] and PYTHONPATH=tests.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dripper.labels import Labels, load
from dripper.labels.base import SimplifiedPage
from dripper.labels.torch_device import choose_device
from support.labelled import pages as committed_pages
from support.tiny_encoder import make_encoder
from support.tiny_lm import HUNYUAN, make_checkpoint

NAMES = ("qwen3", "hunyuan", "bert", "eurobert")
"""Two models of the `lm` labeler, and two of `encoder`."""


def main(arguments: Sequence[str]) -> int:
    """Compare labels, and print a JSON line for each labeler and precision. Return 1 if float32
    labels differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--pages", type=int, default=11)
    parser.add_argument(
        "--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=f"of {', '.join(NAMES)}"
    )
    parser.add_argument("--out", type=Path, help="a file for the lines")
    options = parser.parse_args(arguments)
    device = choose_device(options.device, "--device")
    whole = sorted(committed_pages(), key=lambda page: len(page.blocks))[: options.pages]
    drafts = load("cpu").label(whole)
    pages = [SimplifiedPage.of(page, draft) for page, draft in zip(whole, drafts, strict=True)]
    found = list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.only:
            make = make_labeler(name, Path(folder) / name, pages)
            expected = label(make("cpu", "float32"), pages)
            for precision in ("float32", "bfloat16"):
                ours = label(make(device, precision), pages)
                pairs = list(zip(ours, expected, strict=True))
                found.append(
                    {
                        "labeler": name,
                        "device": device,
                        "precision": precision,
                        "labels": sum(len(one.main) for one in expected),
                        "differing": sum(int((one.main != other.main).sum()) for one, other in pairs),
                        "probability_apart": max(
                            float(np.abs(one.probability - other.probability).max()) for one, other in pairs
                        ),
                    }
                )
                print(json.dumps(found[-1]), flush=True)
    if options.out:
        options.out.write_text("".join(json.dumps(line) + "\n" for line in found))
    return int(any(line["differing"] for line in found if line["precision"] == "float32"))


def make_labeler(name: str, folder: Path, pages: Sequence[SimplifiedPage]) -> Callable[[str, str], Any]:
    """Return a function that loads the labeler, given a device and a precision."""
    if name in ("bert", "eurobert"):
        model = str(make_encoder(folder, name))
        return lambda device, precision: load("encoder", model=model, device=device, precision=precision)
    model = str(make_checkpoint(folder, pages[:2], **(HUNYUAN if name == "hunyuan" else {})))
    options = {"model": model, "engine": "transformers", "answer": "compact"}
    return lambda device, precision: load("lm", **options, device=device, dtype=precision)


def label(labeler: Any, pages: Sequence[SimplifiedPage]) -> list[Labels]:
    """Return the labels of pages, and close the labeler."""
    labels: list[Labels] = labeler.label_simplified(pages)
    labeler.close()
    return labels


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
