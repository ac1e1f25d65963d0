"""Site memory in a staged run: what `preprocess` adds to `site_blocks`, and the stage that makes
`labels` of it.

The stage begins when all batches of the run are preprocessed, so that each of them goes by what all
of them know, whatever order they came in, and by what earlier runs left. It takes several batches
at a time; their labels are one commit. In a chain the next labeler goes before it (`layouts`): its
labels stay, and teach the templates by which the others go.
"""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dripper.errors import SettingsError
from dripper.spark.ledger.work import Work
from dripper.spark.sites.labels import BY_SITE, BY_TEMPLATE, layouts_of, site_labels, with_evidence
from dripper.spark.sites.layouts import Layouts
from dripper.spark.sites.sums import select_remembered, site_sums
from dripper.spark.tables.batches import Batch, touched_batches
from dripper.spark.tables.row_keys import check_rows_of
from dripper.spark.tables.schemas import LABELS
from dripper.spark.tables.sql import within
from dripper.spark.tables.store import Tables
from dripper.spark.workers.routing import who_labels

BATCHES = 16
"""Batches that one pass over the sums of the hosts labels."""


class Sites:
    """Learns from sites and corrects by them in a staged run."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._tables: Tables = work.tables
        self.layouts = Layouts(work) if who_labels(work.settings)[1] is not None else None
        """None: there is one labeler alone."""

    def sum_up(self, batch: Batch) -> None:
        """Write what the batch's pages add to their hosts; again that of other batches which lost a
        file to it."""
        touched = within(touched_batches(batch))
        pages = select_remembered(self._tables.read("pages").where(touched))
        self._tables.replace_where("site_blocks", site_sums(pages), touched)

    def forget(self, batch: Batch) -> None:
        """Delete what an earlier attempt at a batch that is preprocessed again has left."""
        if self.layouts is not None:
            self.layouts.forget(batch)

    def groups(self, batches: Sequence[Batch]) -> list[list[Batch]]:
        """Return batches that are labelled together."""
        return [list(batches[i : i + BATCHES]) for i in range(0, len(batches), BATCHES)]

    def label(self, batches: Sequence[Batch]) -> dict[str, int]:
        """Write the labels of all pages of the batches whose hosts know more than the page; return
        counts for the closing words. Raises WrongRowsError where what was written is not that."""
        return self._label_alone(batches) if self.layouts is None else self._label_others(batches, self.layouts)

    def _label_alone(self, batches: Sequence[Batch]) -> dict[str, int]:
        numbers = sorted(batch.number for batch in batches)
        of_batches = within(numbers)
        if not self._tables.read("blocks").where(of_batches).isEmpty():
            raise SettingsError(
                "a batch was preprocessed without sites.enabled, or for a chain: label it as it was preprocessed, or read its "
                "files again with --redo"
            )
        site_blocks = self._tables.read("site_blocks")
        pages = select_remembered(self._tables.read("pages").where(of_batches))
        rows = site_labels(pages, site_blocks, numbers)
        written = self._write(rows, of_batches, with_evidence(pages, site_blocks))
        touched = within(set().union(*(touched_batches(batch) for batch in batches)))
        labels, stored = (self._tables.read(table).where(touched) for table in ("labels", "pages"))
        self._tables.replace_where("layouts", layouts_of(labels, stored), touched)
        return _count_methods(written)

    def _label_others(self, batches: Sequence[Batch], layouts: Layouts) -> dict[str, int]:
        """As `label`, beside the labels that the next labeler of a chain gave."""
        numbers = sorted(batch.number for batch in batches)
        of_batches = within(numbers)
        site_blocks, chosen = self._tables.read("site_blocks"), layouts.read_chosen(numbers)
        pages = select_remembered(self._tables.read("pages").where(of_batches))
        rest = pages.join(chosen.select("page_id"), "page_id", "left_anti")
        rows = site_labels(rest, site_blocks, numbers, self._tables.read("layouts"))
        answers = self._tables.read("labels").where(of_batches).drop("layout_id").join(chosen, ["page_id", "batch"])
        expected = with_evidence(rest, site_blocks).select("page_id").unionByName(chosen.select("page_id"))
        written = self._write(rows.unionByName(answers.select(*LABELS.names)), of_batches, expected)
        return _count_methods(written.join(chosen.select("page_id"), "page_id", "left_anti"))

    def _write(self, rows: DataFrame, of_batches: str, expected: DataFrame) -> DataFrame:
        self._work.lease.check()
        self._tables.replace_where("labels", rows, of_batches)
        written = self._tables.read("labels").where(of_batches)
        check_rows_of("labels", written, expected)
        return written


def _count_methods(labels: DataFrame) -> dict[str, int]:
    ends = {"changed": BY_SITE, "by_template": BY_TEMPLATE}
    counts = (F.count_if(F.col("method").endswith(end)).alias(name) for name, end in ends.items())
    counts_row = labels.agg(F.count("*").alias("pages"), *counts).head()
    assert counts_row is not None
    return {name: int(count) for name, count in counts_row.asDict().items()}
