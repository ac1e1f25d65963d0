"""The file of weights: reading returns the written weights, and the error names a wrong file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dripper.errors import MachineError
from dripper.labels.cpu import weights as module
from dripper.labels.cpu.network import WEIGHT_STEPS, Shape
from dripper.labels.cpu.weights import Network, Weights, load_weights
from dripper_lab.train.weights import save_weights

SMALL = Weights(
    matrices={"input": np.array([[0.5, -1.25], [1 / WEIGHT_STEPS, 7.5]]), "input_bias": np.zeros(2)},
    mean=np.array([0.1, 2.0]),
    scale=np.array([1.0, 0.3]),
    shape=Shape((1, 2), (0,)),
    feature_names=("a", "b"),
    temperature=1.5,
    shift=-0.25,
)


def test_weights_survive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    save_weights(SMALL, path)
    read = load_weights(path)
    assert read.matrices.keys() == SMALL.matrices.keys()
    assert all(np.array_equal(read.matrices[name], SMALL.matrices[name]) for name in read.matrices)
    assert np.array_equal(read.mean, SMALL.mean)
    assert np.array_equal(read.scale, SMALL.scale)
    plain = dict.fromkeys(("matrices", "mean", "scale"), None)
    assert replace(read, version="", **plain) == replace(SMALL, **plain)


def test_other_networks_survive_the_file_in_order(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    others = (
        Network({"input": np.array([[1.5]]), "output": np.array([[0.25]])}, Shape((4,), ())),
        Network({"input": np.array([[-2.0]])}, Shape((1, 2, 4), (1, 2))),
    )
    save_weights(replace(SMALL, others=others), path)
    read = load_weights(path)
    assert [network.shape for network in read.networks] == [SMALL.shape, *(other.shape for other in others)]
    for network, written in zip(read.networks, (SMALL, *others), strict=True):
        assert network.matrices.keys() == written.matrices.keys()
        assert all(np.array_equal(network.matrices[name], matrix) for name, matrix in written.matrices.items())


def test_the_version_is_of_the_content(tmp_path: Path) -> None:
    first, same, other = tmp_path / "1.npz", tmp_path / "2.npz", tmp_path / "3.npz"
    save_weights(SMALL, first)
    save_weights(SMALL, same)
    save_weights(replace(SMALL, shift=0.5), other)
    versions = [load_weights(path).version for path in (first, same, other)]
    assert versions[0] == versions[1] != versions[2]
    assert len(versions[0]) == 12


def test_a_weight_too_large_for_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="weight input is outside"):
        save_weights(replace(SMALL, matrices={"input": np.array([33.0])}), tmp_path / "w.npz")
    with pytest.raises(ValueError, match="weight input is outside"):
        save_weights(replace(SMALL, matrices={"input": np.array([np.nan])}), tmp_path / "w.npz")


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 broken"])
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "w.npz"
    path.write_bytes(content)
    with pytest.raises(MachineError, match=r"w\.npz cannot be read"):
        load_weights(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"none\.npz cannot be read"):
        load_weights(tmp_path / "none.npz")


def test_another_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.npz"
    save_weights(SMALL, path)
    monkeypatch.setattr(module, "FORMAT", 99)
    with pytest.raises(MachineError, match="format 6, expected 99"):
        load_weights(path)


def test_the_weights_of_the_package_are_there_and_small() -> None:
    weights = load_weights()
    assert weights.version
    size = Path(module.__file__).with_name("cpu_weights.npz").stat().st_size
    assert size <= 2_000_000
