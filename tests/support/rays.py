"""Ray on this machine, for tests: two processors, no GPU, and the tests' modules in its workers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parents[1]


@contextmanager
def ray_of_two_processors(gpus: int = 0) -> Iterator[None]:
    """Keep a Ray whose workers import this project and its tests. gpus: pretended ones."""
    import ray

    # A busy machine is no failure.
    os.environ["RAY_raylet_start_wait_time_s"] = "300"  # noqa: SIM112 - Ray reads it in lower case
    path = os.pathsep.join([str(TESTS.parent / "lib"), str(TESTS), os.environ.get("PYTHONPATH", "")])
    ray.init(
        num_cpus=2,
        num_gpus=gpus,
        object_store_memory=200 << 20,
        include_dashboard=False,
        runtime_env={"env_vars": {"PYTHONPATH": path}},
    )
    try:
        yield
    finally:
        ray.shutdown()
