"""The reader changes only blocks in doubt, by both labelers, and names its missing requirements."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dripper
from dripper.errors import MachineError, PageError, SettingsError, UsageError
from dripper.labels import load
from dripper.labels.base import Labels, SimplifiedPage
from dripper.labels.entry import Use
from dripper.labels.registry import check_use, runs_staged
from dripper.settings import LabelerSettings, LabelsSettings
from dripper_labelers.reader import weights
from dripper_labelers.reader.labeler import ReaderLabeler, weigh
from dripper_labelers.reader.weights import GRAPH, TABLES, Matrix
from dripper_labelers.reader.weights import load as load_weights
from dripper_labelers.reader.windows import UNSURE
from support.labelled import pages
from support.tiny_base import WIDTH
from support.tiny_reader import write_weights

pytest.importorskip("tokenizers", reason="needs the extra [reader]")


class Encoder:
    """Finds every token to speak against main by its place in the window."""

    def __init__(self) -> None:
        self.read: list[Matrix] = []

    def __call__(self, embeds: Matrix) -> Matrix:
        assert embeds.shape[1] == WIDTH
        self.read.append(embeds)
        return -np.arange(len(embeds), dtype=np.float32)


@pytest.fixture
def encoder() -> Encoder:
    return Encoder()


@pytest.fixture
def reader(encoder: Encoder, tmp_path: Path) -> ReaderLabeler:
    return ReaderLabeler(write_weights(tmp_path), encoder, "test")


def drafts() -> list[SimplifiedPage]:
    """Return the committed pages with the labels of `cpu`."""
    return [SimplifiedPage.of(page, labels) for page, labels in zip(pages(), load("cpu").label(pages()), strict=True)]


def test_sure_blocks_keep_their_probability(reader: ReaderLabeler, encoder: Encoder) -> None:
    drafted = drafts()
    for page, labels in zip(drafted, reader.label_simplified(drafted), strict=True):
        assert page.draft is not None
        before, after = page.draft.probability, labels.probability
        sure = (before <= UNSURE) | (before >= 1 - UNSURE)
        assert np.array_equal(before[sure], after[sure])
        assert labels.page_kind == page.draft.page_kind
        assert 0 <= labels.confidence <= 1
        assert len(labels.main) == page.n_blocks
    assert encoder.read


def test_a_page_without_doubt_is_not_read(reader: ReaderLabeler, encoder: Encoder) -> None:
    page = drafts()[0]
    assert page.draft is not None
    main = page.draft.main
    certain = replace(page, draft=replace(page.draft, probability=main.astype(np.float32)))
    (labels,) = reader.label_simplified([certain])
    assert encoder.read == []
    assert labels.passes == 0
    words = np.array([bool(block.text.strip()) for block in pages()[0].blocks])
    assert labels.main[words].tolist() == main[words].tolist()


def test_pages_share_a_call_and_stay_apart(reader: ReaderLabeler) -> None:
    drafted = drafts()[:4]
    together = reader.label_simplified(drafted)
    alone = [reader.label_simplified([page])[0] for page in drafted]
    for one, other in zip(together, alone, strict=True):
        assert np.array_equal(one.probability, other.probability)


def test_both_opinions_count() -> None:
    before = np.array([0.5, 0.9, 0.1, 0.01, 0.99])
    against, in_favour = weigh(before, np.full(5, -4.0)), weigh(before, np.full(5, 4.0))
    assert (against[:3] < before[:3]).all()
    assert (in_favour[:3] > before[:3]).all()
    assert against[3:].tolist() == in_favour[3:].tolist() == before[3:].tolist()
    assert against[1] > against[0] > against[2]


@pytest.mark.parametrize(
    "draft", [None, Labels.certain(np.array([True])), Labels(np.ones(2, bool), np.ones(2, np.float32))]
)
def test_pages_without_probabilities_are_refused(reader: ReaderLabeler, draft: Labels | None) -> None:
    page = SimplifiedPage('<html><body><p _item_id="1">One.</p></body></html>', 1, draft)
    with pytest.raises(UsageError, match="name it in a chain, cpu,reader"):
        reader.label_simplified([page])


def test_alone_it_is_refused_before_anything_runs() -> None:
    with pytest.raises(SettingsError, match=r"labeler.name=cpu,reader"):
        check_use(LabelerSettings(name="reader"), LabelsSettings(), Use("dripper"))


def test_missing_packages_are_an_error_here_and_a_warning_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.labels.entry.find_spec", lambda name: None if name == "onnxruntime" else object())
    chain = LabelerSettings(name="cpu,reader")
    for use in (Use("dripper"), Use("dripper", ("preprocess", "label", "extract"), is_local=True)):
        with pytest.raises(MachineError, match=r"^onnxruntime is not installed: pip install"):
            check_use(chain, LabelsSettings(), use)
    (warning,) = check_use(chain, LabelsSettings(), Use("dripper", ("preprocess", "label")))
    assert warning.startswith(
        "onnxruntime is not installed on this machine; the stage label needs it on those it runs on: "
    )
    assert not check_use(chain, LabelsSettings(), Use("dripper", ("preprocess",)))


def test_it_runs_in_one_pass_or_in_a_stage() -> None:
    assert not runs_staged(LabelerSettings(name="cpu,reader"))
    assert runs_staged(LabelerSettings(name="cpu,reader", staged=True))


@pytest.mark.parametrize("cut", [TABLES, GRAPH])
def test_a_file_that_is_cut_is_told(cut: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra [reader]")
    for name in (TABLES, GRAPH):
        content = Path(weights.__file__).with_name(name).read_bytes()
        (tmp_path / name).write_bytes(content[:1000] if name == cut else content)
    with pytest.raises(MachineError, match="holds no weights of the labeler reader"):
        load_weights(tmp_path)


def test_a_pass_that_fails_is_the_pages_error() -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra [reader]")
    _, encoder, _ = load_weights()
    with pytest.raises(PageError, match="embeds"):
        encoder(np.zeros((3, 5), np.float32))


def test_the_shipped_model_reads_pages_in_a_chain() -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra [reader]")
    first = pages()[0]
    chain = load("cpu,reader", escalate_below=1.0)
    (labels,) = chain.label([first])
    (alone,) = load("cpu").label([first])
    assert labels.method == "reader"
    assert labels.passes >= 1
    assert not np.array_equal(labels.probability, alone.probability)
    page = dripper.extract(b"<p>" + b"One sentence of a page. " * 9, labeler="cpu,reader")
    assert "One sentence" in page.markdown
