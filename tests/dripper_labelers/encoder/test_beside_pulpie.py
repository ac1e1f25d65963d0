"""Comparison with Pulpie's published code (PyPI pulpie 0.0.2), on a tiny random EuroBERT: the same
simplified pages, and the same label for every block."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dripper.html import preprocess
from dripper.labels.base import SimplifiedPage
from dripper.warc import decode
from dripper_labelers.encoder.labeler import EncoderLabeler
from dripper_labelers.encoder.settings import EncoderSettings
from support.authors import fetch_packages, run_authors
from support.labelled import labelled_pages
from support.tiny_encoder import CONTEXT, WHY_NOT, make_encoder

pytestmark = pytest.mark.vllm
pytest.importorskip("torch", reason=WHY_NOT)

PULPIE = """
from pulpie.extractor import Extractor
from pulpie.simplify import simplify
extractor = Extractor(asked["model"], device="cpu", max_tokens=asked["tokens"])
pages = [simplify(html)[0] for html in asked["pages"]]
print(json.dumps([[page, extractor._classify(page)] for page in pages]))
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without a base of rotation, as the first EuroBERT checkpoints: both take 250,000."""
    folder = make_encoder(tmp_path_factory.mktemp("pulpie") / "pulpie-tiny", "eurobert")
    config = json.loads((folder / "config.json").read_text())
    config = {key: value for key, value in config.items() if key not in ("rope_theta", "rope_parameters")}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def theirs(model: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, dict[str, str]]]:
    packages = tmp_path_factory.mktemp("packages")
    fetch_packages(packages, "pulpie==0.0.2", "beautifulsoup4", "soupsieve", "selectolax<0.4")
    asked = {"model": str(model), "tokens": CONTEXT, "pages": [decode(page.html).text for page in labelled_pages()]}
    told: Any = run_authors(packages, PULPIE, asked)
    return [(page, labels) for page, labels in told]


def test_pages_are_simplified_alike(theirs: list[tuple[str, dict[str, str]]]) -> None:
    ours = [preprocess(decode(page.html).text, profile="mineru-1.1").simplified_html for page in labelled_pages()]
    assert ours == [page for page, _ in theirs]


def test_every_block_has_pulpies_label(model: Path, theirs: list[tuple[str, dict[str, str]]]) -> None:
    labeler = EncoderLabeler.load(EncoderSettings(model=str(model), device="cpu"))
    pages = [SimplifiedPage(page, len(labels)) for page, labels in theirs]
    labelled = labeler.label_simplified(pages)
    ours = [main for one in labelled for main in one.main.tolist()]
    expected = [labels[str(block)] == "main" for _, labels in theirs for block in range(1, len(labels) + 1)]
    assert len(ours) > 300
    assert 0.1 < np.mean(ours) < 0.9, "a random model says both"
    assert max(one.windows for one in labelled) > 1
    assert ours == expected
