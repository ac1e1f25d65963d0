"""Ray on this machine, for tests: two processors, no GPU, and the tests' modules in its workers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dripper.labels import Labels, SimplifiedPage
from dripper.settings import Settings
from support.stage_labelers import HashLabeler

TESTS = Path(__file__).parents[1]
# A busy machine is not a failure. Ray reads the variable on import, with this spelling.
os.environ["RAY_raylet_start_wait_time_s"] = "600"  # noqa: SIM112


@contextmanager
def ray_of_two_processors(gpus: int = 0) -> Iterator[None]:
    """Keep a Ray with workers that import this project and its tests. gpus: number of fake GPUs."""
    import ray

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


class WhereLabeler(HashLabeler):
    """Marks all blocks; its name shows the number of its actor's GPUs, and the actor's address."""

    def __init__(self) -> None:
        import ray

        context = ray.get_runtime_context()
        on_driver = context.get_actor_id() is None
        told = (
            ""
            if on_driver
            else f"{context.get_assigned_resources()['GPU']:g} of {context.get_accelerator_ids()['GPU']}"
        )
        self.name = told

    def of(self, page: SimplifiedPage) -> Labels:
        return Labels.certain(super().of(page).main | True)


def load_where(settings: Settings) -> WhereLabeler:
    return WhereLabeler()
