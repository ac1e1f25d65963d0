"""A tiny random checkpoint of the labeler neuscraper, made on the spot."""

from dataclasses import replace
from pathlib import Path

import pytest

from support.tiny_encoder import WHY_NOT, make_model, make_tokenizer, simplified

SPECIALS = {"cls_token": "[CLS]", "sep_token": "[SEP]"}


def make_base(folder: Path) -> Path:
    """Write a BERT of two layers with its tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer(folder, **SPECIALS)
    make_model("bert", len(tokenizer)).save_pretrained(folder)
    return folder


def make_neuscraper(folder: Path, **changes: object) -> Path:
    """Write a checkpoint that reads chunks of 40 nodes, with about half of them main."""
    torch = pytest.importorskip("torch", reason=WHY_NOT)
    from dripper_labelers.neuscraper.checkpoint import Shape, load_tokenizer
    from dripper_labelers.neuscraper.labeler import compute_logits
    from dripper_labelers.neuscraper.model import load_base, save_model
    from dripper_labelers.neuscraper.nodes import find_nodes

    base = make_base(folder / "base")
    shape = replace(Shape(width=32, layers=2, heads=2, inner=64, context_nodes=40), **changes)  # type: ignore[arg-type]
    torch.manual_seed(0)
    model, tokenizer = load_base(base, shape).eval(), load_tokenizer(base)
    with torch.no_grad():
        model.classifier.head.weight.mul_(20)
        (said,) = compute_logits(model, tokenizer, shape, [find_nodes(simplified()[0])[:40]])
        model.classifier.head.bias -= float(sorted(said)[len(said) // 2])
    save_model(model, shape, tokenizer, folder)
    return folder
