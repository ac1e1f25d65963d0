"""Runs a labeler with an engine: forms batches, recovers from failures, and lists the environment
variables to set. Does not depend on Spark."""

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
    """The engine fails on every page, even after a restart. This error ends the stage, because all
    remaining pages would fail."""


def load_labeler(settings: Settings) -> SimplifiedLabeler:
    """Load the labeler named in the settings. Raises SettingsError if the labeler needs more than
    simplified HTML."""
    labeler = load_from_settings(settings.labeler, settings.labels)
    if not isinstance(labeler, SimplifiedLabeler):
        raise SettingsError(
            f"the labeler {labeler.name} reads whole pages, and simplified HTML is all that the stage `label` gets: run it with "
            "jobs/run.py, without labeler.staged and layouts.enabled"
        )
    return labeler


def check_labeler(settings: Settings, loader: Loader) -> None:
    """Raise SettingsError before a run if the labeler cannot run in its own stage.

    Labelers that need GPUs are not checked, because they may be installed only on the GPU machines.
    """
    if not any(find_entry(name).gpus for name in chain_of(settings.labeler.name)):
        loader(settings)


class Engine:
    """Wraps a labeler, and recovers if a batch, a page or the engine fails."""

    def __init__(self, load: Callable[[], SimplifiedLabeler]) -> None:
        self._load = load
        self.labeler = load()

    def label(self, pages: Sequence[SimplifiedPage]) -> list[Labels | str]:
        """Return the labels of each page, or the reason why there are none.

        If a batch fails, its halves are tried separately, down to single pages. If a single page
        and a test page both fail, the engine is restarted, and the page is tried once more. Raises
        EngineError if the restart does not help. If the labeler raises a UsageError, the error
        propagates, because no page is at fault. Only LabelerStoppedError is handled like a failed
        batch, because a page may have caused it.
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
        """Return the labeler's warnings, keyed by setting."""
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
        # The old engine must free its GPU memory before the new engine allocates memory.
        with contextlib.suppress(Exception):
            if isinstance(self.labeler, Closable):
                self.labeler.close()
        del self.labeler
        gc.collect()
        self.labeler = self._load()
        if not self._works():
            raise EngineError(f"the labeler {name} fails on every page, also after a new start; first: {problem}")


def environment(settings: Settings, threads: int | None = None) -> dict[str, str]:
    """Return the environment variables for an engine's process. They must be set before the
    engine's packages are imported.

    These are the variables in the labeler's entry, and two OpenMP variables. Spark sets
    OMP_NUM_THREADS to the number of cores per task, by default 1, but an engine on a CPU can use
    more. OMP_WAIT_POLICY makes waiting threads sleep. By default they spin, and take cores from
    Spark and from each other.

    Args:
        threads: Threads per engine. If None, the engines share the machine's cores equally.
    """
    names = chain_of(settings.labeler.name)
    variables = {key: value for name in names for key, value in find_entry(name).environment.items()}
    threads = threads or max(1, (os.cpu_count() or 1) // (settings.stages.engines or 1))
    return {**variables, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}


BATCH_PAGES = 256
"""Maximum number of pages in a batch."""
BATCH_TOKENS = 1_000_000
"""Maximum number of tokens in a batch, unless a single page has more."""


def groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Group rows into batches of at most BATCH_PAGES pages and about BATCH_TOKENS tokens."""
    return pack(rows, lambda row: row["tokens"] or 0, BATCH_TOKENS, BATCH_PAGES)
