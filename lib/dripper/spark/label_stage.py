"""The stage `label` of a batch: rows of `blocks` go to the engines, and what they say is written
into `labels`."""

import threading
import time

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from dripper.config import Settings
from dripper.spark.closing import check_rows
from dripper.spark.engines import Engines, own_workers
from dripper.spark.fields import nullable
from dripper.spark.label_worker import labels_mapper
from dripper.spark.plan import Batch
from dripper.spark.progress import Progress
from dripper.spark.schemas import LABELS
from dripper.spark.tables import within
from dripper.spark.totals import Totals
from dripper.spark.work import Work


class LabelStage:
    """Labels batches, one at a time."""

    def __init__(
        self, work: Work, engines: Engines, settings: Settings, totals: Totals, planning: threading.Lock
    ) -> None:
        """settings: those of the labeler. planning: held by whoever plans a Python function, as
        meanwhile the session's environment may say that it is this stage's."""
        self._work = work
        self._engines = engines
        self._settings = settings
        self._totals = totals
        self._planning = planning
        # Two label stages at once would start twice as many engines as there are GPUs.
        self._labelling = threading.Lock()

    def label(self, batch: Batch, progress: Progress, only: DataFrame | None = None) -> None:
        """Write the batch's labels. only: the pages to label, in the column `page_id`; None: all
        that have blocks. Raises UnclosedError where what was written is not that."""
        tables, mine = self._work.tables, within([batch.number])
        stored = tables.read("blocks").where(mine)
        blocks = stored if only is None else stored.join(only.select("page_id"), "page_id", "left_semi")
        read, labelled = Observation(), Observation()
        rows = self._labelled(blocks, progress, read).observe(
            labelled,
            F.count("*").alias("pages"),
            F.count("error_code").alias("failed"),
            F.count_if(F.col("windows") > 1).alias("windowed"),
            F.coalesce(F.sum("passes"), F.lit(0)).alias("passes"),
        )
        with self._labelling:
            start = time.monotonic()
            self._work.lease.check()
            tables.replace_where("labels", rows, mine)
            seconds = time.monotonic() - start
        check_rows(tables, "labels", batch, stored if only is None else only)
        counted, n_tokens = self._work.lease.observed(labelled), self._work.lease.observed(read)["tokens"]
        with self._totals.lock:
            totals = self._totals.label
            for name in ("pages", "failed", "windowed", "passes"):
                setattr(totals, name, getattr(totals, name) + int(counted[name]))
            totals.tokens += int(n_tokens)
            totals.seconds += seconds
            totals.engines = self._engines.n

    def _labelled(self, blocks: DataFrame, progress: Progress, read: Observation) -> DataFrame:
        schema = nullable(LABELS.fields)
        mapper = labels_mapper(self._engines.loader, self._settings, to_arrow_schema(schema), progress.sink)
        pages = (
            blocks.select("page_id", "batch", "simplified_html", F.size("item_ids").alias("n_blocks"), "tokens")
            .observe(read, F.coalesce(F.sum("tokens"), F.lit(0)).alias("tokens"))
            # A partition an engine; the shuffle also keeps the scan off the GPU executors. Longest
            # first: pages of like length share a batch, and the last batches are short.
            .repartition(self._engines.n, "page_id")
            .sortWithinPartitions(F.desc("tokens"), "page_id")
        )
        with self._planning, own_workers(self._work.spark):
            return pages.mapInArrow(mapper, schema, profile=self._engines.profile)
