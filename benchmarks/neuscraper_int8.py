"""NeuScraper with weights of 8 bits on a CPU, as in its Table 3, beside the same with 32.

    python benchmarks/neuscraper_int8.py --model CHECKPOINT --data DATA --pages 100

A node is chosen where its logit is over the checkpoint's threshold; it is main where its block is,
by the page's true text. All nodes of all pages count the same. Both versions read each page in
turn, so that both meet the same machine. PyTorch quantizes linear layers, with weights of signed 8
bits and inputs quantized as they come, but not those inside of attention; the paper's ONNX Runtime
has signed and unsigned ones. Needs the package's extra `encoder`.
"""

import argparse
import copy
import math
import time
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import nn

from dripper_lab.datasets import Role, names_with, read_pages
from dripper_lab.evaluation.nodes import Counts, table
from dripper_lab.train.neuscraper.examples import read_examples
from dripper_labelers.neuscraper.checkpoint import Shape, load_tokenizer
from dripper_labelers.neuscraper.labeler import compute_page_logits
from dripper_labelers.neuscraper.model import load_model


def quantized(model: Any) -> Any:
    """Return a copy of a model whose linear layers have weights of 8 bits."""
    # The fast path of attention reads weights as tensors, which in a quantized layer are functions.
    torch.backends.mha.set_fastpath_enabled(False)
    return torch.ao.quantization.quantize_dynamic(copy.deepcopy(model), {nn.Linear}, dtype=torch.qint8)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--model", type=Path, required=True, help="as `python -m dripper_lab.train.neuscraper` writes it"
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=100)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    shape, tokenizer = Shape.load(asked.model), load_tokenizer(asked.model)
    full = load_model(asked.model, shape)
    models = {"float32": full, "qint8": quantized(full)}
    counts, seconds = {name: Counts() for name in models}, dict.fromkeys(models, 0.0)
    sets = names_with(Role.EVALUATION, folder=asked.data)
    pages = (page for name in sets for page in read_pages(asked.data, name, sample=-(-asked.pages // len(sets))))
    limit = math.log(shape.threshold / (1 - shape.threshold))
    n_pages = 0
    for example in islice(read_examples(pages, shape.reads), asked.pages):
        n_pages += 1
        true = [bool(value) for value in example.targets(1)[:, 0]]
        for name, model in models.items():
            start = time.process_time()
            logits = compute_page_logits(model, tokenizer, shape, example.nodes)
            seconds[name] += time.process_time() - start
            counts[name].add(true, (logits > limit).tolist())
    print(f"{n_pages} pages, {counts['float32'].nodes:,} nodes\n\n{table(counts)}")
    for name, spent in seconds.items():
        print(f"{name}: {1000 * spent / n_pages:.0f} CPU ms a page, {seconds['float32'] / spent:.2f} times as fast")


if __name__ == "__main__":
    main()
