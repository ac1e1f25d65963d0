"""Layouts in a staged run of a chain: which pages the next labeler gets, and what its labels teach.

All batches of a run are chosen from in one commit, and taught in one. What is stored is not made
again: a run that goes on after a kill asks for the pages that were chosen, and no others.
"""

from collections.abc import Collection, Sequence

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dripper.errors import SettingsError
from dripper.labels.registry import bound_of
from dripper.spark.ledger.work import Work
from dripper.spark.sites.layout_choice import (
    CHOSEN,
    NO_LAYOUT,
    NOWHERE,
    TOO_FEW_PAGES,
    choices,
    placed_pages,
    recount_layouts,
)
from dripper.spark.sites.layout_templates import with_examples
from dripper.spark.tables.batches import Batch, touched_batches
from dripper.spark.tables.row_keys import WrongRowsError, check_rows_of
from dripper.spark.tables.schemas import LAYOUTS
from dripper.spark.tables.sql import within
from dripper.spark.tables.store import Tables


class Layouts:
    """Chooses and spreads labels by layout in a staged run of a chain."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._tables: Tables = work.tables
        self._settings = work.settings

    def forget(self, batch: Batch) -> None:
        """Delete what an earlier attempt at a batch has left: else its choice and its labels would
        count as made."""
        for table in ("layouts", "labels"):
            self._tables.delete(table, within([batch.number]))

    def choose(self, batches: Sequence[Batch]) -> dict[str, int]:
        """Store which pages of the batches the next labeler gets, where that is not stored yet;
        return counts for the closing words. Raises SettingsError for batches that were preprocessed
        for another run."""
        numbers = [batch.number for batch in batches]
        is_mark = (F.col("host") == NOWHERE) & (F.col("layout_id") == NOWHERE)
        marks = self._rows("layouts", numbers).where(is_mark).select("batch").collect()
        new = [batch for batch in batches if batch.number not in {row["batch"] for row in marks}]
        if new:
            self._check_preprocessed([batch.number for batch in new])
            self._choose(new)
        counts = (
            self._rows("layouts", numbers)
            .agg(
                F.coalesce(F.sum("pages"), F.lit(0)).alias("split"),
                F.coalesce(F.sum(F.size("representatives")), F.lit(0)).alias("asked"),
                F.count_distinct(
                    F.when(~F.col("state").isin(TOO_FEW_PAGES, NO_LAYOUT), F.struct("host", "layout_id"))
                ).alias("layouts"),
            )
            .head()
        )
        assert counts is not None
        return {name: int(count) for name, count in counts.asDict().items()}

    def _choose(self, batches: Sequence[Batch]) -> None:
        new = {batch.number for batch in batches}
        touched = new.union(*(touched_batches(batch) for batch in batches))
        pages = self._rows("pages", touched).where(F.col("error_code").isNull())
        placed = placed_pages(pages, self._tables.read("site_blocks")).persist(StorageLevel.DISK_ONLY)
        try:
            recounted = recount_layouts(self._rows("layouts", touched - new), placed.where(~F.col("batch").isin(new)))
            stored = self._tables.read("layouts").where(~F.col("batch").isin(touched)).unionByName(recounted)
            numbers = self._work.spark.createDataFrame([(number,) for number in sorted(new)], "batch long")
            is_new, below = F.col("batch").isin(new), bound_of(self._settings.labeler)
            new_rows = choices(pages.where(is_new), placed.where(is_new), stored, numbers, below)
            rows = new_rows.unionByName(recounted, allowMissingColumns=True).select(*LAYOUTS.names)
            self._work.lease.check()
            self._tables.replace_where("layouts", rows, within(touched))
        finally:
            placed.unpersist()

    def _check_preprocessed(self, numbers: Sequence[int]) -> None:
        good_pages = self._rows("pages", numbers).where(F.col("error_code").isNull())
        without = good_pages.where(F.col("first_labels").isNotNull() & F.col("site_memory").isNull())
        blocks = self._rows("blocks", numbers).select("page_id")
        if not (without.isEmpty() and good_pages.join(blocks, "page_id", "left_anti").isEmpty()):
            raise SettingsError(
                "a batch was preprocessed without sites.enabled, or for another labeler: label it as it was preprocessed, "
                "or read its files again with --redo"
            )

    def read_chosen(self, numbers: Collection[int]) -> DataFrame:
        """Return page_id, batch and layout_id of the pages of the batches that the next labeler
        gets."""
        layout = F.when(F.col("layout_id") != NOWHERE, F.col("layout_id")).alias("layout_id")
        return self._rows("layouts", numbers).select("batch", layout, F.explode("representatives").alias("page_id"))

    def is_labelled(self, batch: Batch) -> bool:
        """Tell whether the next labeler was asked for all chosen pages of the batch."""
        chosen = self.read_chosen([batch.number])
        try:
            check_rows_of("labels", self._rows("labels", [batch.number]).join(chosen, "page_id", "left_semi"), chosen)
        except WrongRowsError:
            return False
        return True

    def learn(self, batches: Sequence[Batch]) -> None:
        """Store what the labels of representatives teach, where that is not stored yet."""
        numbers = [batch.number for batch in batches]
        layouts = self._rows("layouts", numbers)
        if layouts.where(F.col("state") == CHOSEN).isEmpty():
            return
        labels, pages = (self._rows(table, numbers) for table in ("labels", "pages"))
        self._work.lease.check()
        self._tables.replace_where("layouts", with_examples(layouts, labels, pages), within(numbers))

    def _rows(self, table: str, numbers: Collection[int]) -> DataFrame:
        return self._tables.read(table).where(within(numbers))
