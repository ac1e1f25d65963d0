"""The `label` stage, and the join of pages with their labels for the `extract` stage.

The stage sends rows of `blocks` to the engines and writes the answers to `labels`.
"""

import hashlib
import json
import logging
import math
import threading
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

import dripper
from dripper.errors import SettingsError
from dripper.labels.chain import chain_of
from dripper.labels.registry import check_blocks
from dripper.settings import Settings
from dripper.spark.ledger.work import Work
from dripper.spark.run.batch_checks import check_rows
from dripper.spark.run.outcome import Totals
from dripper.spark.run.output import changed_settings
from dripper.spark.run.progress import Progress
from dripper.spark.session.engines import Engines, own_workers
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.batches import Batch
from dripper.spark.tables.counts import count_lost_files
from dripper.spark.tables.observed import read_observed
from dripper.spark.tables.schemas import LABELS, nullable
from dripper.spark.tables.sql import quoted, within
from dripper.spark.tables.store import Tables
from dripper.spark.workers.extract import LABEL_COLUMNS
from dripper.spark.workers.label import labels_mapper

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Part:
    """Pages that are labelled in one commit."""

    blocks: DataFrame
    n_pages: int
    """Approximate number of pages."""
    request: str | None
    """Value for the `request` column of the labels."""
    replaced: str | None
    """SQL condition for the rows that the labels replace. If it is None, the labels are
    appended."""


class LabelStage:
    """Labels batches, one at a time."""

    def __init__(
        self, work: Work, engines: Engines, settings: Settings, totals: Totals, planning: threading.Lock
    ) -> None:
        """settings: the labeler's settings. planning: a lock to hold while Spark plans a Python
        function, so that no other stage is planned in this stage's environment."""
        self._work = work
        self._engines = engines
        self._settings = settings
        self._totals = totals
        self._planning = planning
        # Two concurrent label stages would start twice as many engines as there are GPUs.
        self._labelling = threading.Lock()

    def label(self, batch: Batch, progress: Progress, only: DataFrame | None = None) -> None:
        """Write the batch's labels.

        If the batch has more than `stages.commit_pages` pages per engine, the labels are written in
        several commits. Labels from an earlier attempt at the same request are kept.

        Args:
            only: The pages to label, in the `page_id` column. If None, all pages with blocks are
                labelled.

        Raises:
            WrongRowsError: If the labels written do not match these pages.
        """
        tables, of_batch = self._work.tables, within([batch.number])
        all_blocks = tables.read("blocks").where(of_batch)
        blocks = all_blocks if only is None else all_blocks.join(only.select("page_id"), "page_id", "left_semi")
        n_pages = blocks.count()
        with self._labelling:
            for part in self._parts(batch, blocks, n_pages):
                self._label_part(part, progress)
        check_rows(tables, "labels", batch, all_blocks if only is None else only)

    def _parts(self, batch: Batch, blocks: DataFrame, n_pages: int) -> Iterator[_Part]:
        """Yield the parts that are not labelled yet. The caller must commit each part before it
        takes the next one."""
        of_batch = within([batch.number])
        most = self._engines.n * self._settings.stages.commit_pages
        if n_pages <= most:
            yield _Part(blocks, n_pages, None, of_batch)
            return
        request = self._request(batch)
        n_kept = self._keep_labels(batch, blocks, request)
        if n_kept:
            logger.info("batch %d: %d of its %d pages were labelled before", batch.number, n_kept, n_pages)
            kept = self._work.tables.read("labels").where(of_batch)
            blocks = blocks.join(kept.select("page_id"), "page_id", "left_anti")
        n_parts = math.ceil((n_pages - n_kept) / most)
        for i in range(n_parts):
            blocks_of_part = blocks.where(F.pmod(F.xxhash64("page_id"), F.lit(n_parts)) == i)
            n_of_part = math.ceil((n_pages - n_kept) / n_parts)
            yield _Part(blocks_of_part, n_of_part, request, None if n_kept or i else of_batch)
            logger.info("batch %d: labels committed, part %d of %d", batch.number, i + 1, n_parts)

    def _label_part(self, part: _Part, progress: Progress) -> None:
        tables, tokens_seen, labelled = self._work.tables, Observation(), Observation()
        rows = self._label_blocks(part.blocks, part.n_pages, progress, tokens_seen)
        rows = rows.withColumn("request", F.lit(part.request).cast("string"))
        rows = rows.observe(
            labelled,
            F.count("*").alias("pages"),
            F.count("error_code").alias("failed"),
            F.count_if(F.col("windows") > 1).alias("windowed"),
            F.coalesce(F.sum("passes"), F.lit(0)).alias("passes"),
        )
        start = time.monotonic()
        self._work.lease.check()
        if part.replaced is None:
            tables.append("labels", rows)
        else:
            tables.replace_where("labels", rows, part.replaced)
        seconds = time.monotonic() - start
        confirm = self._work.lease.confirm
        counts, n_tokens = read_observed(labelled, confirm), read_observed(tokens_seen, confirm)["tokens"]
        with self._totals.lock:
            totals = self._totals.label
            for name in ("pages", "failed", "windowed", "passes"):
                setattr(totals, name, getattr(totals, name) + int(counts[name]))
            totals.tokens += int(n_tokens)
            totals.seconds += seconds
            totals.engines = self._engines.n

    def _request(self, batch: Batch) -> str:
        """Return a hash of everything that determines the batch's labels.

        Labels depend on the release, the labeler's settings, and the runs that read the files.
        """
        read_by = sorted(
            (str(report["warc_file"]), str(report["run_id"])) for report in self._work.ledger.reports(batch)
        )
        of_labeler = Settings(labeler=self._settings.labeler, labels=self._settings.labels)
        asked = [dripper.__version__, changed_settings(of_labeler), read_by]
        return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:32]

    def _keep_labels(self, batch: Batch, blocks: DataFrame, request: str) -> int:
        """Delete all labels except error-free ones from an earlier attempt at this request.

        Return the number of labels kept. If it is 0, nothing was deleted and all labels must be
        replaced.
        """
        tables, of_batch = self._work.tables, within([batch.number])
        is_same = f"{of_batch} AND request <=> {quoted(request)} AND error_code IS NULL"
        same = tables.read("labels").where(is_same)
        counts = same.agg(F.count("*"), F.count_distinct("page_id")).head()
        assert counts is not None
        n_same = int(counts[0])
        if not n_same or n_same != counts[1] or same.join(blocks, "page_id", "left_semi").count() != n_same:
            return 0
        self._work.lease.check()
        tables.delete("labels", f"{of_batch} AND NOT ({is_same})")
        return n_same

    def _n_partitions(self, n_pages: int) -> int:
        """Return the number of partitions, a multiple of the number of engines.

        Each partition gets at most about a tenth of `stages.commit_pages` pages, so that the loss
        of an executor costs little work.
        """
        n, most = self._engines.n, max(1, self._settings.stages.commit_pages // 10)
        return n * max(1, math.ceil(n_pages / (n * most)))

    def _label_blocks(self, blocks: DataFrame, n_pages: int, progress: Progress, tokens_seen: Observation) -> DataFrame:
        schema = nullable(LABELS.fields)
        mapper = labels_mapper(self._engines.loader, self._settings, arrow_schema(schema), progress.sink)
        pages = (
            blocks.select(
                *("page_id", "batch", "simplified_html", F.size("item_ids").alias("n_blocks"), "tokens"),
                *("profile", "first_labels"),
            )
            .observe(tokens_seen, F.coalesce(F.sum("tokens"), F.lit(0)).alias("tokens"))
            # The shuffle keeps the scan off the GPU executors. The longest pages come first, so
            # that pages of similar length share a batch, and the last batches are short.
            .repartition(self._n_partitions(n_pages), "page_id")
            .sortWithinPartitions(F.desc("tokens"), "page_id")
        )
        with self._planning, own_workers(self._work.spark):
            return pages.mapInArrow(mapper, schema, profile=self._engines.profile)


@dataclass(frozen=True, slots=True)
class Purpose:
    """The settings `labeler.name` and `layouts.enabled` of the run that executed a stage."""

    labeler: str
    by_layout: bool


def read_purposes(tables: Tables, run_ids: Collection[str]) -> dict[str, Purpose]:
    """Return the purpose of each of these runs, read from the `runs` table."""
    rows = tables.read("runs").where(F.col("run_id").isin(sorted(run_ids))).select("run_id", "settings", "versions")
    return {
        row["run_id"]: Purpose(
            row["versions"].get("labeler", ""),
            bool(json.loads(row["settings"] or "{}").get("layouts", {}).get("enabled")),
        )
        for row in rows.collect()
        if row["versions"]
    }


def check_chain(tables: Tables, batch: Batch, run_ids: Collection[str], settings: Settings) -> None:
    """Raise SettingsError if the batch was preprocessed for a different chain of labelers.

    Otherwise, the batch's pages would reach the wrong labeler, or none.
    """
    now = settings.labeler.name
    for before in read_purposes(tables, run_ids).values():
        is_chain = len(chain_of(now)) > 1 or len(chain_of(before.labeler)) > 1
        if (is_chain and before.labeler != now) or (before.by_layout and not settings.layouts.enabled):
            needed = f"labeler.name={before.labeler}" + (", layouts.enabled=true" if before.by_layout else "")
            raise SettingsError(
                f"batch {batch.number} was preprocessed for {needed}, and this run would label it for labeler.name={now}: name the "
                "same, or read its files again with --redo"
            )


def check_profiles(tables: Tables, batches: Collection[int], settings: Settings) -> None:
    """Raise SettingsError if the labeler cannot read the profile of a page in these batches.

    Args:
        settings: The labeler's settings.
    """
    if not batches:
        return
    blocks = tables.read("blocks")
    try:
        rows = blocks.where(within(batches)).select("profile").distinct().collect()
    except Exception:
        if any(count_lost_files(blocks, number) for number in batches):
            return  # The stage itself detects the lost files, and the pages are read again.
        raise
    for profile in sorted(row["profile"] for row in rows):
        check_blocks(settings.labeler, settings.labels, profile)


_BROADCAST_BYTES = 256 << 20
"""Labels are broadcast to every executor if they have at most about this many bytes. Otherwise,
Spark shuffles the pages, including their HTML."""


def with_labels(pages: DataFrame, labels: DataFrame, settings: Settings) -> tuple[DataFrame, Settings]:
    """Join `pages` with the columns of `labels` that the `extract` stage reads.

    The columns are null for a page without labels. Return the joined rows, and the settings with
    the name of the labeler that set the labels.
    """
    labels = labels.select("page_id", *(F.col(name).alias(alias) for name, alias in LABEL_COLUMNS.items()))
    summary = labels.agg(F.max("labeler"), F.sum(F.coalesce(F.size("main"), F.lit(0)) + 100)).head()
    assert summary is not None
    if (summary[1] or 0) < _BROADCAST_BYTES:
        labels = F.broadcast(labels)
    first = pages.where(F.col("first_labels").isNotNull()).select("first_labels.labeler").head()
    # The fallback `auto` depends on the labeler that set the labels, not on this stage's setting.
    name = first[0] if first is not None else summary[0]
    labeler = settings.labeler.model_copy(update={"name": name} if name else {})
    joined = pages.drop("fingerprints").join(labels, "page_id", "left")
    return joined, settings.model_copy(update={"labeler": labeler})
