"""Site memory in a staged run: what `preprocess` adds to `site_blocks`, and the stage that makes
`labels` of it.

The stage begins when all batches of the run are preprocessed, so that each of them goes by what all
of them know, whatever order they came in, and by what earlier runs left. It takes several batches
at a time; their labels are one commit.
"""

from collections.abc import Sequence

from pyspark.sql import functions as F

from dripper.errors import SettingsError
from dripper.spark.closing import check_rows_of
from dripper.spark.plan import Batch
from dripper.spark.site_labels import BY_SITE, layouts_of, site_labels, with_evidence
from dripper.spark.site_sums import remembered, site_sums
from dripper.spark.tables import Tables, touched_batches
from dripper.spark.work import Work


class Sites:
    """What a staged run does for sites."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._tables: Tables = work.tables
        self._settings = work.settings.sites

    def sum_up(self, batch: Batch) -> None:
        """Write what the batch's pages add to their hosts; again that of other batches which lost a
        file to it."""
        within = _within(touched_batches(batch))
        pages = remembered(self._tables.read("pages").where(within))
        self._tables.replace_where("site_blocks", site_sums(pages, self._settings), within)

    def groups(self, batches: Sequence[Batch]) -> list[list[Batch]]:
        """Return batches that are labelled together."""
        n = self._settings.batches
        return [list(batches[i : i + n]) for i in range(0, len(batches), n)]

    def label(self, batches: Sequence[Batch]) -> dict[str, int]:
        """Write the labels of all pages of the batches whose hosts know more than the page; return
        counts for the closing words. Raises UnclosedError where what was written is not that."""
        numbers = sorted(batch.number for batch in batches)
        within = _within(numbers)
        if not self._tables.read("blocks").where(within).isEmpty():
            raise SettingsError(
                "a batch was preprocessed without sites.enabled: label it without, or read its files again with --redo"
            )
        site_blocks = self._tables.read("site_blocks")
        pages = remembered(self._tables.read("pages").where(within))
        rows = site_labels(pages, site_blocks, numbers, self._settings)
        self._work.lease.check()
        self._tables.replace_where("labels", rows, within)
        written = self._tables.read("labels").where(within)
        check_rows_of("labels", written, with_evidence(pages, site_blocks))
        touched = _within(set().union(*(touched_batches(batch) for batch in batches)))
        labels, stored = (self._tables.read(table).where(touched) for table in ("labels", "pages"))
        self._tables.replace_where("layouts", layouts_of(labels, stored), touched)
        counted = written.agg(F.count("*"), F.count_if(F.col("method").endswith(BY_SITE))).head()
        assert counted is not None
        return {"pages": int(counted[0]), "changed": int(counted[1])}


def _within(numbers: Sequence[int] | set[int]) -> str:
    return f"batch IN ({', '.join(map(str, sorted(numbers)))})"
