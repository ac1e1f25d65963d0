"""Runs a labeler that has an engine: recovers from failures, makes batches, and sets environment
variables. Independent of Spark."""

import contextlib
import gc
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dripper.errors import PageError, SettingsError, UsageError
from dripper.labels.base import (
    Closable,
    LabelerStoppedError,
    Labels,
    SimplifiedLabeler,
    SimplifiedPage,
    WarningLabeler,
)
from dripper.labels.chain import chain_of
from dripper.labels.registry import find_entry, load_from_settings
from dripper.labels.streams import pack
from dripper.settings import Settings

logger = logging.getLogger(__name__)

Loader = Callable[[Settings], SimplifiedLabeler]

_PROBE = SimplifiedPage(
    '<html><body><p _item_id="1">One page of one block.</p></body></html>',
    1,
    Labels(np.array([True]), np.array([0.5], np.float32)),
)
"""A page that every working engine can label."""

_DETAIL_CHARACTERS = 500


class EngineError(Exception):
    """The engine fails on every page, even after a restart. Its stage ends instead of failing all
    remaining pages."""


def load_labeler(settings: Settings) -> SimplifiedLabeler:
    """Return the labeler that the settings name. Raises SettingsError if the labeler reads more
    than simplified HTML."""
    labeler = load_from_settings(settings.labeler, settings.labels)
    if not isinstance(labeler, SimplifiedLabeler):
        raise SettingsError(
            f"the labeler {labeler.name} reads whole pages, and simplified HTML is all that the stage `label` gets: run it with "
            "jobs/run.py, without labeler.staged and layouts.enabled"
        )
    return labeler


def check_labeler(settings: Settings, loader: Loader) -> None:
    """Raise SettingsError before a run if the labeler cannot run staged.

    A labeler that needs GPUs is not loaded: it may be installed only on the GPU machines.
    """
    if not any(find_entry(name).gpus for name in chain_of(settings.labeler.name)):
        loader(settings)


class Engine:
    """Wraps a labeler, and recovers from failures of a batch, a page or the engine."""

    def __init__(self, load: Callable[[], SimplifiedLabeler]) -> None:
        self._load = load
        self.labeler = load()

    def label(self, pages: Sequence[SimplifiedPage]) -> list[Labels | str]:
        """Return the labels of each page, or the reason why the page has no labels.

        A batch that fails is retried in halves, down to single pages. If a single page fails, and a
        test page fails too, the engine is restarted, and the page is tried once more. Raises
        EngineError if the restart does not help. Re-raises a UsageError of the labeler, because a
        person has to change something and no page is at fault. LabelerStoppedError is not
        re-raised, because a page may have caused it.
        """
        problem = ""
        for _ in range(2):
            try:
                return self._attempt(pages)
            except PageError as error:
                problem = error.detail[:_DETAIL_CHARACTERS]
            except Exception as error:
                if isinstance(error, UsageError) and not isinstance(error, LabelerStoppedError):
                    raise
                problem = f"{type(error).__name__}: {error}"[:_DETAIL_CHARACTERS]
            if len(pages) > 1:
                half = len(pages) // 2
                logger.warning("a batch of %d pages failed: %s", len(pages), problem)
                return self.label(pages[:half]) + self.label(pages[half:])
            if self._works():
                break
            self._start_anew(problem)
        return [problem]

    @property
    def warnings(self) -> Mapping[str, str]:
        """Return the labeler's warnings, by setting."""
        return self.labeler.warnings if isinstance(self.labeler, WarningLabeler) else {}

    def _attempt(self, pages: Sequence[SimplifiedPage]) -> list[Labels | str]:
        labelled = self.labeler.label_simplified(pages)
        if len(labelled) != len(pages):
            raise ValueError(f"{len(labelled)} answers to {len(pages)} pages")
        return [
            labels if len(labels.main) == page.n_blocks else f"{len(labels.main)} labels for {page.n_blocks} blocks"
            for labels, page in zip(labelled, pages, strict=True)
        ]

    def _works(self) -> bool:
        try:
            return len(self.labeler.label_simplified([_PROBE])[0].main) == _PROBE.n_blocks
        except Exception:
            logger.exception("the engine fails on the shortest page")
            return False

    def _start_anew(self, problem: str) -> None:
        name = self.labeler.name
        # The old engine must free its GPU memory before the new engine allocates its own.
        with contextlib.suppress(Exception):
            if isinstance(self.labeler, Closable):
                self.labeler.close()
        del self.labeler
        gc.collect()
        self.labeler = self._load()
        if not self._works():
            raise EngineError(f"the labeler {name} fails on every page, also after a new start; first: {problem}")


def environment(settings: Settings, threads: int | None = None) -> dict[str, str]:
    """Return the environment variables for an engine's process. Set them before the engine's
    packages are imported.

    These are the variables from the labeler's entry, and the number of threads. Spark sets
    OMP_NUM_THREADS to a task's cores, one by default, but an engine on a CPU needs its share of the
    machine. Threads sleep while they wait, because threads that spin (OpenMP's default) take cores
    from Spark and from each other.

    Args:
        threads: Threads per engine; None: an equal share of the machine's cores.
    """
    names = chain_of(settings.labeler.name)
    variables = {key: value for name in names for key, value in find_entry(name).environment.items()}
    threads = threads or max(1, (os.cpu_count() or 1) // (settings.stages.engines or 1))
    return {**variables, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}


BATCH_PAGES = 256
"""Maximum number of pages in a batch; a batch that fails is retried in halves."""
BATCH_TOKENS = 1_000_000
"""Maximum number of tokens in a batch, unless a single page has more."""


def groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows in batches of at most BATCH_PAGES pages and about BATCH_TOKENS tokens."""
    return pack(rows, lambda row: row["tokens"] or 0, BATCH_TOKENS, BATCH_PAGES)
