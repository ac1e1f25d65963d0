"""A labeler with an engine, that outlives its failures; and in what batches and which environment
it works. What runs it, on Spark or elsewhere, is no concern of this."""

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
from dripper.settings import Settings

logger = logging.getLogger(__name__)

Loader = Callable[[Settings], SimplifiedLabeler]

_PROBE = SimplifiedPage(
    '<html><body><p _item_id="1">One page of one block.</p></body></html>',
    1,
    Labels(np.array([True]), np.array([0.5], np.float32)),
)
"""Any engine that works labels this one."""

_DETAIL_CHARACTERS = 500


class EngineError(Exception):
    """The engine fails on any page, also after it was started anew: its stage ends, rather than
    fail every page that is left."""


def load_labeler(settings: Settings) -> SimplifiedLabeler:
    """Return the labeler of the settings. Raises SettingsError if it reads more than simplified
    HTML."""
    labeler = load_from_settings(settings.labeler, settings.labels)
    if not isinstance(labeler, SimplifiedLabeler):
        raise SettingsError(
            f"the labeler {labeler.name} reads whole pages, and simplified HTML is all that the stage `label` gets: run it with "
            "jobs/run.py, without labeler.staged and sites.enabled"
        )
    return labeler


def check_labeler(settings: Settings, loader: Loader) -> None:
    """Raise SettingsError for a labeler that cannot run staged, before anything is done.

    One that wants GPUs is not loaded: it may be at home only on the machines that have them.
    """
    if not any(find_entry(name).gpus for name in chain_of(settings.labeler.name)):
        loader(settings)


class Engine:
    """A labeler that outlives its failures: of a batch, of a page, its own."""

    def __init__(self, load: Callable[[], SimplifiedLabeler]) -> None:
        self._load = load
        self.labeler = load()

    def label(self, pages: Sequence[SimplifiedPage]) -> list[Labels | str]:
        """Return for each page its labels, or why there are none.

        A batch that fails is tried again in halves, down to single pages. An engine that then fails
        on a short page too is started anew, and the page tried once more. Raises EngineError if
        that helps nothing, UsageError as the labeler does: somebody has to change something, and no
        page is at fault (LabelerStoppedError apart: there, one may be).
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
        """Return what the labeler has to say to whoever runs it."""
        return self.labeler.warnings if isinstance(self.labeler, WarningLabeler) else {}

    def _attempt(self, pages: Sequence[SimplifiedPage]) -> list[Labels | str]:
        labelled = self.labeler.label_simplified(pages)
        if len(labelled) != len(pages):
            raise ValueError(f"{len(labelled)} answers to {len(pages)} pages")
        return [_check_length(labels, page) for labels, page in zip(labelled, pages, strict=True)]

    def _works(self) -> bool:
        try:
            return len(self.labeler.label_simplified([_PROBE])[0].main) == _PROBE.n_blocks
        except Exception:
            logger.exception("the engine fails on the shortest page")
            return False

    def _start_anew(self, problem: str) -> None:
        name = self.labeler.name
        # The old engine's GPU memory has to be free before the new one asks for as much.
        with contextlib.suppress(Exception):
            if isinstance(self.labeler, Closable):
                self.labeler.close()
        del self.labeler
        gc.collect()
        self.labeler = self._load()
        if not self._works():
            raise EngineError(f"the labeler {name} fails on every page, also after a new start; first: {problem}")


def _check_length(labels: Labels, page: SimplifiedPage) -> Labels | str:
    n_labels = len(labels.main)
    return labels if n_labels == page.n_blocks else f"{n_labels} labels for {page.n_blocks} blocks"


def environment(settings: Settings, threads: int | None = None) -> dict[str, str]:
    """Return what an engine's process needs in its environment, set before the engine's packages
    are imported.

    What the labeler's entry says, and threads: Spark sets OMP_NUM_THREADS to a task's cores, one by
    default; an engine on CPU wants its share of the machine. They sleep while they wait: threads
    that spin (OpenMP's default) take cores from Spark and from each other.

    Args:
        threads: None: the machine's cores, shared among the engines.
    """
    names = chain_of(settings.labeler.name)
    variables = {key: value for name in names for key, value in find_entry(name).environment.items()}
    threads = threads or max(1, (os.cpu_count() or 1) // (settings.stages.engines or 1))
    return {**variables, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}


BATCH_PAGES = 256
"""Pages that an engine gets at once; one that fails is tried again in halves."""
BATCH_TOKENS = 1_000_000
"""Tokens that an engine gets at once, unless a single page has more."""


def groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows in batches for the engine, of at most BATCH_PAGES pages and about BATCH_TOKENS
    tokens."""
    group: list[dict[str, Any]] = []
    tokens = 0
    for row in rows:
        if group and (len(group) >= BATCH_PAGES or tokens + (row["tokens"] or 0) > BATCH_TOKENS):
            yield group
            group, tokens = [], 0
        group.append(row)
        tokens += row["tokens"] or 0
    if group:
        yield group
