"""GPUs of workers: no two engines on one, whatever addresses Spark gives to their tasks."""

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.spark.workers.devices import Devices


def test_a_worker_keeps_its_device_whatever_its_later_tasks_are_told(tmp_path: Path) -> None:
    devices = Devices(tmp_path, 1, lambda _: True)
    assert [devices.hold([address]) for address in "010"] == [("0",)] * 3
    assert json.loads((tmp_path / "1.json").read_text()) == {"told": ["0"], "held": ["0"]}


def test_a_worker_whose_address_is_taken_gets_what_the_other_was_told(tmp_path: Path) -> None:
    first, second = (Devices(tmp_path, worker, lambda _: True) for worker in (1, 2))
    assert first.hold(["0"]) == ("0",)
    # Both run now, the first with the engine that it made before.
    assert first.hold(["1"]) == ("0",)
    assert second.hold(["0"]) == ("1",)


def test_a_worker_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    assert Devices(tmp_path, 1, lambda _: True).hold(["0"]) == ("0",)
    assert Devices(tmp_path, 2, lambda worker: worker != 1).hold(["0"]) == ("0",)
    assert not (tmp_path / "1.json").exists()


@settings(max_examples=200, deadline=None)
@given(data=st.data(), n_gpus=st.integers(1, 5))
def test_no_two_workers_share_a_device(tmp_path_factory, data, n_gpus: int) -> None:  # type: ignore[no-untyped-def]
    """Spark's way: a task goes to a worker that is idle, or to a new one, with addresses that no
    other running task has."""
    folder, alive = tmp_path_factory.mktemp("devices"), set[int]()
    workers: dict[int, Devices] = {}
    running: dict[int, str] = {}
    for step in range(data.draw(st.integers(1, 30), label="steps")):
        idle = sorted(alive - running.keys())
        if running and data.draw(st.booleans(), label="a task ends"):
            del running[data.draw(st.sampled_from(sorted(running)), label="which")]
        elif idle and data.draw(st.integers(0, 9), label="a worker dies") == 0:
            alive.discard(data.draw(st.sampled_from(idle), label="who"))
        elif len(running) < n_gpus:
            free = sorted({str(n) for n in range(n_gpus)} - set(running.values()))
            address = data.draw(st.sampled_from(free), label="address")
            worker = data.draw(st.sampled_from(idle), label="worker") if idle else step + 1
            alive.add(worker)
            running[worker] = address
            workers.setdefault(worker, Devices(folder, worker, lambda other: other in alive)).hold([address])
            held = [workers[each].held for each in alive]
            assert len(set(held)) == len(held), held
