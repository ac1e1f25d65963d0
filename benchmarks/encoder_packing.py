"""Measures the time that the `encoder` labeler saves by packing chunks instead of padding them.
Compares three ways of passing chunks to the model: packed into one row, padded to the longest chunk
of a batch (the earlier method), and one at a time.

    python benchmarks/encoder_packing.py [--shape minilm,small] [--device cpu] [--data DIR]
        [--pages 100] [--out FILE]

The models are random, because weights do not affect time. Shapes:

- `minilm`: BERT with chunks of 512 tokens, like all-MiniLM-L6-v2
- `210m`, `610m`, `2.1b`: EuroBERT with chunks of 8,192 tokens, like Pulpie's models
- `small`: EuroBERT with two layers of width 128, for CPUs
- `tiny`: EuroBERT with two layers of width 32, for tests

The pages come from the training sets or, without --data, from the repository.
They are tokenized with Qwen3's tokenizer. A batch contains --batch-tokens tokens, including
padding; a padded batch contains chunks of similar length. The logits of all three ways must agree.
As in the labeler, the precision is bfloat16 on a GPU, and float32 on a CPU with one thread. Prints
a JSON line per way. Needs the extra [encoder] and PYTHONPATH=tests.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dripper.labels.arrays import FloatArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.streams import pack
from dripper.labels.torch_device import choose_device, peak_memory
from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
from dripper_labelers.encoder.network import EncoderNetwork
from dripper_labelers.encoder.reading import PULPIE_SEPARATOR, Reading
from dripper_labelers.encoder.sequence import Chunk, Sequencer
from dripper_labelers.encoder.settings import BATCH_TOKENS, EncoderSettings
from dripper_labelers.torch_batches import split_into_batches
from lm_pages import choose
from support.labelled import pages as committed_pages
from support.tiny_encoder import make_model
from support.tiny_lm import tokenizer_folder

MOST_CHARACTERS = 24_000
"""The maximum length of a page's simplified HTML: about 8,192 tokens."""
CLOSE = {"float32": 1e-3, "bfloat16": 0.1}


def eurobert(layers: int, width: int, inner: int, heads: int, key_heads: int, size: int) -> dict[str, Any]:
    """Return the configuration of a EuroBERT model."""
    return {
        "hidden_size": width, "intermediate_size": inner, "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": key_heads, "head_dim": size, "initializer_range": 0.05,
        "max_position_embeddings": 8_192, "vocab_size": 128_256,
    }  # fmt: skip


SHAPES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "minilm": (
        "bert",
        {
            "hidden_size": 384, "intermediate_size": 1536, "num_hidden_layers": 6, "num_attention_heads": 12,
            "initializer_range": 0.05, "max_position_embeddings": 512, "vocab_size": 30_522,
        },
    ),
    "tiny": ("eurobert", eurobert(2, 32, 64, 2, 1, 16) | {"initializer_range": 0.4}),
    "small": ("eurobert", eurobert(2, 128, 512, 2, 2, 64)),
    "210m": ("eurobert", eurobert(12, 768, 3072, 12, 12, 64)),
    "610m": ("eurobert", eurobert(26, 1152, 4096, 18, 6, 64)),
    "2.1b": ("eurobert", eurobert(32, 2304, 6144, 18, 6, 128)),
}  # fmt: skip
"""Name → architecture and configuration. The numbered EuroBERT shapes are as published."""


def main(arguments: Sequence[str]) -> int:
    """Print a line for each way and model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", default="minilm,small", help="names with commas between them")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="cpu")
    parser.add_argument("--data", type=Path, help="folder of labelled pages (default: the committed pages)")
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--batch-tokens", type=int, help="(default: 65,536 on a GPU, 16,384 on a CPU)")
    parser.add_argument("--out", type=Path, help="a file to add the lines to")
    options = parser.parse_args(arguments)
    device = choose_device(options.device, "--device")
    if device == "cpu":
        torch.set_num_threads(1)
    batch_tokens = options.batch_tokens or (65_536 if device == "cuda" else 16_384)
    pages = choose_pages(options.data, options.pages)
    for shape in options.shape.split(","):
        for found in compare(shape, device, batch_tokens, pages):
            line = json.dumps({"shape": shape, "device": device, "pages": len(pages), **found})
            print(line, flush=True)
            if options.out:
                with options.out.open("a") as file:
                    file.write(line + "\n")
    return 0


def choose_pages(data: Path | None, n_pages: int) -> list[SimplifiedPage]:
    """Return pages from the training sets, or the repository's pages if `data` is None."""
    if data is not None:
        return choose(data, n_pages, 1, MOST_CHARACTERS, len).pages
    return [SimplifiedPage.of(page) for page in committed_pages()][:n_pages]


def make_sequencer(context: int) -> Sequencer:
    """Return the sequencer, which splits pages into chunks with Qwen3's tokenizer."""
    import transformers

    library: Any = transformers
    tokenizer = library.AutoTokenizer.from_pretrained(tokenizer_folder())
    tokenizer.add_tokens([PULPIE_SEPARATOR], special_tokens=True)
    return Sequencer(tokenizer, Reading(), context)


def compare(shape: str, device: str, batch_tokens: int, pages: Sequence[SimplifiedPage]) -> Iterator[dict[str, Any]]:
    """Label all chunks in the three ways. Yield the figures of each way."""
    architecture, config = SHAPES[shape]
    context, vocabulary = config["max_position_embeddings"], config["vocab_size"]
    sequencer = make_sequencer(context)
    made = (chunk for page in pages for chunk in sequencer.chunks(page, 0))
    chunks = [replace(chunk, ids=[token % vocabulary for token in chunk.ids]) for chunk in made]
    lengths = [len(chunk.ids) for chunk in chunks]
    settings = EncoderSettings(device=device)  # type: ignore[arg-type]
    BATCH_TOKENS[device] = batch_tokens
    checkpoint = EncoderCheckpoint(Path(shape), shape, Reading(), context, outcomes=2, main=1)
    with torch.device(device):
        model = make_model(
            architecture, vocabulary, **{key: value for key, value in config.items() if key != "vocab_size"}
        )
    model = model.to(device, torch.bfloat16 if device == "cuda" else torch.float32).eval()
    precision = settings.precision_on(device)
    alone = EncoderNetwork(model, checkpoint, device, precision, 0)
    padded = [[chunks[at] for at in batch] for batch in split_into_batches(lengths, batch_tokens)]
    packed = list(pack(iter(chunks), lambda chunk: len(chunk.ids), batch_tokens))
    # The packed way comes last, because it changes the model's attention.
    ways: list[tuple[str, Sequence[Sequence[Chunk]], Callable[[Sequence[Chunk]], list[FloatArray]]]] = [
        ("padded", padded, lambda batch: margins_padded(model, checkpoint, batch)),
        ("alone", [[chunk] for chunk in chunks], alone.margins),
        ("packed", packed, lambda batch: network.margins(batch)),
    ]
    expected: dict[int, FloatArray] = {}
    for way, batches, label in ways:
        if way == "packed":
            network = EncoderNetwork.prepare(model, checkpoint, device, settings)
            assert network.batch_tokens, "this model cannot be packed"
        label(batches[0][:1])
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        start, cpu = time.monotonic(), time.process_time()
        margins = list(chain.from_iterable(label(batch) for batch in batches))
        seconds, cpu = time.monotonic() - start, time.process_time() - cpu
        found = {id(chunk): values for chunk, values in zip(chain.from_iterable(batches), margins, strict=True)}
        expected = expected or found
        both = [(found[key], expected[key]) for key in expected if len(expected[key])]
        spread = max(float(np.abs(theirs).max()) for _, theirs in both)
        apart = max(float(np.abs(ours - theirs).max()) for ours, theirs in both) / spread
        assert apart <= CLOSE[precision], f"{way}: logits are {apart:.3f} of their spread apart"
        processed = sum(max(len(chunk.ids) for chunk in batch) * len(batch) for batch in batches)
        yield {
            "way": way, "chunks": len(chunks), "passes": len(batches), "tokens": sum(lengths),
            "tokens_with_padding": processed if way == "padded" else sum(lengths), "seconds": round(seconds, 2),
            "cpu_seconds": round(cpu, 2), "pages_a_second": round(len(pages) / seconds, 3), "precision": precision,
            "peak_gb": round(peak_memory(device) / 1e9, 2), "apart": round(apart, 6),
            "labels_differing": sum(int(((ours > 0) != (theirs > 0)).sum()) for ours, theirs in both),
        }  # fmt: skip


def margins_padded(model: Any, checkpoint: EncoderCheckpoint, chunks: Sequence[Chunk]) -> list[FloatArray]:
    """Return the margins of chunks in one pass, after padding them to the longest chunk."""
    lengths = np.array([len(chunk.ids) for chunk in chunks])
    ids = np.zeros((len(chunks), lengths.max()), np.int64)
    for row, chunk in enumerate(chunks):
        ids[row, : len(chunk.ids)] = chunk.ids
    inside = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
    with torch.inference_mode():
        tensors = (torch.from_numpy(each).to(model.device) for each in (ids, inside))
        logits = model(input_ids=next(tensors), attention_mask=next(tensors)).logits.double().cpu().numpy()
    return [checkpoint.margins(logits[row, list(chunk.separators)]) for row, chunk in enumerate(chunks)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
