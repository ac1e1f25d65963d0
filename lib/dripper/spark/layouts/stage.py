"""Labels pages by layout, in a staged run of a chain of labelers.

The steps are: choose pages for the next labeler, learn templates from its labels, and label the
other pages. One commit stores the choice for all batches of a run, and another commit stores the
templates. A stored choice is final. If a run is killed, the next run therefore requests labels for
exactly the same pages.
"""

from collections.abc import Collection, Sequence

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dripper.errors import SettingsError
from dripper.labels.registry import bound_of
from dripper.spark.layouts.choice import (
    CHOSEN,
    NO_LAYOUT,
    NOWHERE,
    TOO_FEW_PAGES,
    choices,
    placed_pages,
    recount_layouts,
)
from dripper.spark.layouts.labels import BY_TEMPLATE, template_labels
from dripper.spark.layouts.page_rows import has_layout, select_with_layout
from dripper.spark.layouts.teaching import with_examples
from dripper.spark.ledger.work import Work
from dripper.spark.tables.batches import Batch, touched_batches
from dripper.spark.tables.row_keys import WrongRowsError, check_rows_of
from dripper.spark.tables.schemas import LABELS, LAYOUTS
from dripper.spark.tables.sql import within
from dripper.spark.tables.store import Tables

BATCHES = 16
"""Maximum number of batches to label in one commit."""


class Layouts:
    """Chooses pages for the next labeler, and labels the other pages by layout."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._tables: Tables = work.tables
        self._settings = work.settings

    def forget(self, batch: Batch) -> None:
        """Delete the choice and the labels that an earlier attempt at a batch stored.

        Otherwise, this attempt would use them.
        """
        for table in ("layouts", "labels"):
            self._tables.delete(table, within([batch.number]))

    def choose(self, batches: Sequence[Batch]) -> dict[str, int]:
        """Store the choice of pages for the next labeler, unless it is already stored.

        Return counts for the run's summary. Raises SettingsError if a batch was preprocessed with
        other settings.
        """
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
        placed = placed_pages(pages, self._tables.read("layouts")).persist(StorageLevel.DISK_ONLY)
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
        without = good_pages.where(F.col("first_labels").isNotNull() & F.col("fingerprints").isNull())
        blocks = self._rows("blocks", numbers).select("page_id")
        if not (without.isEmpty() and good_pages.join(blocks, "page_id", "left_anti").isEmpty()):
            raise SettingsError(
                "a batch was preprocessed without layouts.enabled, or for another labeler: label it as it was preprocessed, "
                "or read its files again with --redo"
            )

    def read_chosen(self, numbers: Collection[int]) -> DataFrame:
        """Return the page_id, batch and layout_id of the pages that the next labeler gets."""
        layout = F.when(F.col("layout_id") != NOWHERE, F.col("layout_id")).alias("layout_id")
        return self._rows("layouts", numbers).select("batch", layout, F.explode("representatives").alias("page_id"))

    def is_labelled(self, batch: Batch) -> bool:
        """Return whether the next labeler has labelled all chosen pages of the batch."""
        chosen = self.read_chosen([batch.number])
        try:
            check_rows_of("labels", self._rows("labels", [batch.number]).join(chosen, "page_id", "left_semi"), chosen)
        except WrongRowsError:
            return False
        return True

    def learn(self, batches: Sequence[Batch]) -> None:
        """Learn from the representatives' labels: store the examples and the states of the layouts.

        Does nothing if they are already stored.
        """
        numbers = [batch.number for batch in batches]
        layouts = self._rows("layouts", numbers)
        if layouts.where(F.col("state") == CHOSEN).isEmpty():
            return
        labels, pages = (self._rows(table, numbers) for table in ("labels", "pages"))
        self._work.lease.check()
        self._tables.replace_where("layouts", with_examples(layouts, labels, pages), within(numbers))

    def label(self, batches: Sequence[Batch]) -> dict[str, int]:
        """Label the pages that have a layout but were not chosen. Keep the next labeler's labels.

        Return counts for the run's summary. Raises WrongRowsError if the written rows do not match
        these pages.
        """
        numbers = sorted(batch.number for batch in batches)
        chosen, layouts = self.read_chosen(numbers), self._tables.read("layouts")
        pages = self._rows("pages", numbers).where(has_layout())
        placed = placed_pages(pages, layouts).select("page_id", "layout_id")
        rest = select_with_layout(pages).join(chosen.select("page_id"), "page_id", "left_anti")
        rows = template_labels(rest.join(placed, "page_id"), layouts)
        answers = self._rows("labels", numbers).drop("layout_id").join(chosen, ["page_id", "batch"])
        self._work.lease.check()
        self._tables.replace_where("labels", rows.unionByName(answers.select(*LABELS.names)), within(numbers))
        written = self._rows("labels", numbers)
        check_rows_of("labels", written, rest.select("page_id").unionByName(chosen.select("page_id")))
        return _count_methods(written.join(chosen.select("page_id"), "page_id", "left_anti"))

    def _rows(self, table: str, numbers: Collection[int]) -> DataFrame:
        return self._tables.read(table).where(within(numbers))


def _count_methods(labels: DataFrame) -> dict[str, int]:
    by_template = F.count_if(F.col("method").endswith(BY_TEMPLATE))
    counts_row = labels.agg(F.count("*").alias("pages"), by_template.alias("by_template")).head()
    assert counts_row is not None
    return {name: int(count) for name, count in counts_row.asDict().items()}
