"""One thing of a kind a worker."""

import pickle
from types import FunctionType

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from dripper.labels.engine import load_labeler
from dripper.settings import Settings
from dripper.spark.workers import label as label_worker
from dripper.spark.workers.singleton import WorkerSingleton


def test_it_is_made_anew_only_for_other_arguments_and_when_forgotten() -> None:
    made = []

    @WorkerSingleton
    def engine(model: str, threads: int = 1) -> list[str]:
        made.append(model)
        return [model]

    first = engine("a")
    assert engine("a") is first
    assert engine("a", threads=2) is not first
    assert engine("b") == ["b"]
    assert engine("a") is not first, "only the last one is kept"
    engine.forget()
    engine("a")
    assert made == ["a", "a", "b", "a", "a"]


def test_what_spark_sends_to_a_worker_uses_the_singleton_that_is_there() -> None:
    sent = label_worker.labels_mapper(load_labeler, Settings(), pa.schema([]), None)
    arrived = pickle.loads(cloudpickle.dumps(sent))
    assert isinstance(arrived, FunctionType)
    assert arrived is not sent
    # The labelling function belongs to the module, which workers import, and so does its engine.
    (nested,) = (cell.cell_contents for cell in arrived.__closure__ if callable(cell.cell_contents))
    assert nested.__globals__["_label_rows"] is label_worker._label_rows


def test_what_fails_to_be_made_leaves_nothing() -> None:
    @WorkerSingleton
    def engine(model: str) -> str:
        if model == "broken":
            raise RuntimeError("no memory")
        return model

    assert engine("good") == "good"
    with pytest.raises(RuntimeError):
        engine("broken")
    assert engine("good") == "good"
