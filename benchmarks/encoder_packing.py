"""What it saves that the labeler `encoder` pads nothing: the passes over real pages with chunks
packed into one row, padded to the longest of a batch as before, and each alone.

    python benchmarks/encoder_packing.py --data DIR [--pages 100] [--layers 6] [--width 384]

A random model, as its weights change no time: BERT with chunks of 512 tokens (the shape of
all-MiniLM-L6-v2 by default), and EuroBERT with chunks of 8,192, as Pulpie's are, whose attention
dominates there, hence with two layers of 128. Batches hold --batch-tokens tokens, padding included;
of padded ones each holds chunks of like length. CPU seconds of the passes alone, one thread;
logits of all three have to agree. Needs the extra [encoder] and PYTHONPATH=tests.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dripper.labels.arrays import FloatArray
from dripper.labels.base import SimplifiedPage
from dripper.labels.streams import pack
from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
from dripper_labelers.encoder.network import EncoderNetwork, load_model
from dripper_labelers.encoder.sequence import Chunk
from dripper_labelers.encoder.settings import EncoderSettings
from dripper_labelers.torch_batches import split_into_batches
from lm_pages import choose
from support.tiny_encoder import make_encoder

MOST_CHARACTERS = 24_000
"""Of a page's simplified HTML: some 8,192 tokens."""
CLOSE = 1e-3


def main() -> None:
    """Print a line for each way and model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of labelled pages")
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--batch-tokens", type=int, default=16_384)
    options = parser.parse_args()
    torch.set_num_threads(1)
    pages = choose(options.data, options.pages, 1, MOST_CHARACTERS, len).pages
    shapes = (("bert", 512, options.layers, options.width), ("eurobert", 8_192, 2, 128))
    print("model / chunks / tokens / way / passes / tokens with padding / CPU s / of the padded way", flush=True)
    for architecture, context, layers, width in shapes:
        with tempfile.TemporaryDirectory() as folder:
            shape: dict[str, Any] = {"hidden_size": width, "intermediate_size": 4 * width, "num_hidden_layers": layers}
            heads = max(2, width // 32) if architecture == "bert" else 2
            make_encoder(
                Path(folder), architecture, **shape, num_attention_heads=heads,
                max_position_embeddings=context, initializer_range=0.05,
            )  # fmt: skip
            compare(f"{architecture} {layers}x{width}", Path(folder), context, options.batch_tokens, pages)


def compare(name: str, folder: Path, context: int, batch_tokens: int, pages: Sequence[SimplifiedPage]) -> None:
    """Label all chunks in the three ways."""
    settings = EncoderSettings(model=str(folder), device="cpu", context_tokens=context, batch_tokens=batch_tokens)
    checkpoint = EncoderCheckpoint.find(settings)
    sequencer = checkpoint.sequencer()
    chunks = [chunk for page in pages for chunk in sequencer.chunks(page, 0)]
    lengths = [len(chunk.ids) for chunk in chunks]
    packed = list(pack(iter(chunks), lambda chunk: len(chunk.ids), batch_tokens))
    padded = [[chunks[at] for at in batch] for batch in split_into_batches(lengths, batch_tokens)]
    network = EncoderNetwork.load(checkpoint, settings)
    assert network.batch_tokens, "this model cannot be packed"
    plain = load_model(checkpoint, torch.float32).eval()
    alone = EncoderNetwork(plain, checkpoint, "cpu", "float32", 0)
    ways: list[tuple[str, Sequence[Sequence[Chunk]], Callable[[Sequence[Chunk]], list[FloatArray]]]] = [
        ("padded", padded, lambda batch: margins_padded(plain, checkpoint, batch)),
        ("packed", packed, network.margins),
        ("alone", [[chunk] for chunk in chunks], alone.margins),
    ]
    expected: dict[int, FloatArray] = {}
    before = 0.0
    for way, batches, label in ways:
        label(batches[0][:1])
        start = time.process_time()
        margins = list(chain.from_iterable(label(batch) for batch in batches))
        seconds = time.process_time() - start
        found = {id(chunk): values for chunk, values in zip(chain.from_iterable(batches), margins, strict=True)}
        expected, before = expected or found, before or seconds
        spread = max(float(np.abs(values).max()) for values in expected.values() if len(values))
        apart = max(float(np.abs(found[key] - expected[key]).max()) for key in expected if len(expected[key]))
        assert apart <= CLOSE * spread, f"{way}: {apart} of {spread}"
        processed = sum(max(len(chunk.ids) for chunk in batch) * len(batch) for batch in batches)
        n_tokens = processed if way == "padded" else sum(lengths)
        figures = f"{len(batches)} / {n_tokens:,} / {seconds:.1f} / {seconds / before:.2f}"
        print(f"{name}, {context:,} / {len(chunks)} / {sum(lengths):,} / {way} / {figures}", flush=True)


def margins_padded(model: Any, checkpoint: EncoderCheckpoint, chunks: Sequence[Chunk]) -> list[FloatArray]:
    """Return what a pass over chunks says that are padded to the longest of them."""
    lengths = np.array([len(chunk.ids) for chunk in chunks])
    ids = np.zeros((len(chunks), lengths.max()), np.int64)
    for row, chunk in enumerate(chunks):
        ids[row, : len(chunk.ids)] = chunk.ids
    inside = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
    with torch.inference_mode():
        logits = model(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(inside)).logits
    return [
        checkpoint.margins(logits[row, list(chunk.separators)].double().numpy()) for row, chunk in enumerate(chunks)
    ]


if __name__ == "__main__":
    main()
