"""Chooses, layout by layout, the pages that an expensive labeler labels.

The `layouts` table stores the chosen pages. From each layout with at least three pages, a few
representatives are chosen. Other pages are chosen if the first labeler had low confidence in its
labels, unless their layout has representatives or a template.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

from dripper.layouts import Skeleton
from dripper.layouts.skeletons import join_layouts
from dripper.layouts.templates import LEAST_PAGES, choose_representatives
from dripper.page.rows import Row
from dripper.spark.layouts.page_rows import has_layout, page_blocks, select_with_layout
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.workers.read import in_batches
from dripper.spark.workers.routing import confidence

CHOSEN, TEMPLATE, INCONSISTENT, FAILED = "chosen", "template", "inconsistent", "failed"
TOO_FEW_PAGES, NO_LAYOUT = "too_few_pages", "no_layout"
"""Values of the `state` column in the `layouts` table."""
NOWHERE = ""
"""The host and layout_id in the row that counts a batch's pages without a known layout. Each batch
has this row, even if the count is 0, because the row also records that the choice for this batch
was made."""

_MOST_COMPARED = 200
"""Maximum number of a layout's pages to compare when its representatives are chosen. The first
pages in order of page_id are compared. As page_id is a hash, they are an arbitrary sample."""
KEY = ["host", "layout_id"]
"""The columns that identify a layout."""
_SIGNATURE = StructField("signature", ArrayType(IntegerType()))
_PLACES = StructType([*(StructField(name, StringType()) for name in ("host", "skeleton", "layout_id")), _SIGNATURE])
_CHOSEN = StructType([StructField("page_id", StringType())])


def placed_pages(pages: DataFrame, layouts: DataFrame) -> DataFrame:
    """Match each row of `pages` to a layout of its host.

    Return the page_id, batch, host, layout_id, confidence, and the layout's signature. Near-equal
    layouts are joined under a single layout_id.

    Args:
        layouts: Rows of the `layouts` table for all batches. Pages are matched to these layouts
            first.
    """
    skeletons = pages.select(
        *("page_id", "batch"),
        *(F.when(has_layout(), F.col(name)).otherwise(F.lit(NOWHERE)).alias(name) for name in KEY),
        F.when(has_layout(), F.col("fingerprints.signature")).alias("signature"),
        confidence().alias("confidence"),
    ).withColumnRenamed("layout_id", "skeleton")
    places = _places(skeletons.where(F.col("host") != NOWHERE), layouts.where(F.col("signature").isNotNull()))
    return (
        skeletons.drop("signature")
        .join(places, ["host", "skeleton"], "left")
        .select(
            *("page_id", "batch", "host"),
            F.coalesce("layout_id", "skeleton").alias("layout_id"),
            "signature",
            "confidence",
        )
    )


def _places(skeletons: DataFrame, layouts: DataFrame) -> DataFrame:
    """Return the layout of each skeleton on each host, with the layout's signature."""
    seen = (F.max("signature").alias("signature"), F.min("batch").alias("first_batch"))
    known = layouts.join(skeletons.select("host").distinct(), "host", "left_semi")
    known = known.groupBy("host", F.col("layout_id").alias("skeleton")).agg(*seen).withColumn("is_new", F.lit(False))
    new = skeletons.groupBy("host", "skeleton").agg(*seen).withColumn("is_new", F.lit(True))
    ordered = known.unionByName(new).repartition("host")
    ordered = ordered.sortWithinPartitions("host", "is_new", "first_batch", "skeleton")
    return ordered.mapInArrow(grouped_mapper(("host",), _place_host, _PLACES), _PLACES)


def _place_host(group: Iterable[Row]) -> Iterator[Row]:
    """Yield the layout of each skeleton of one host.

    In `group`, known layouts come before new skeletons. Both are sorted by first appearance.
    """
    rows = list(group)
    known, new = (
        [Skeleton(row["skeleton"], np.array(row["signature"], np.int32)) for row in rows if row["is_new"] == is_new]
        for is_new in (False, True)
    )
    for skeleton, layout in join_layouts(new, known).items():
        place = {"layout_id": layout.layout_id, "signature": layout.signature.tolist()}
        yield {"host": rows[0]["host"], "skeleton": skeleton} | place


def choices(pages: DataFrame, placed: DataFrame, earlier: DataFrame, batches: DataFrame, below: float) -> DataFrame:
    """Choose pages in batches for which no choice is stored, and return the rows of `layouts`.

    Args:
        pages, placed: All pages with blocks in these batches, as table rows and as returned by
            `placed_pages`.
        earlier: Rows of `layouts` for other batches. If a layout has examples there, it gets no new
            representatives.
        batches: The batch numbers, in the `batch` column.
        below: A page with a lower confidence goes to the next labeler, if its layout has no
            template and gets no representatives.
    """
    settled = earlier.where(F.size("examples") > 0).groupBy(*KEY).agg(F.max("state").alias("known"))
    layouts = placed.groupBy(*KEY).agg(F.count("*").alias("n")).join(settled, KEY, "left")
    few = F.when(F.col("host") == NOWHERE, NO_LAYOUT).when(F.col("n") < LEAST_PAGES, TOO_FEW_PAGES)
    layouts = layouts.select(*KEY, F.coalesce("known", few.otherwise(CHOSEN)).alias("state"))
    states = placed.join(layouts, KEY)
    chosen = _representatives(pages, states.where(F.col("state") == CHOSEN))
    states = states.join(chosen.withColumn("is_chosen", F.lit(True)), "page_id", "left")
    is_unsure = ~F.col("state").isin(CHOSEN, TEMPLATE) & (F.col("confidence") < below)
    states = states.withColumn("goes_on", F.coalesce("is_chosen", is_unsure))
    marks = batches.select("batch", *(F.lit(NOWHERE).alias(name) for name in KEY), F.lit(NO_LAYOUT).alias("state"))
    return (
        states.unionByName(marks, allowMissingColumns=True)
        .groupBy("batch", *KEY, "state")
        .agg(
            F.count("page_id").alias("pages"),
            F.array_sort(F.collect_list(F.when(F.col("goes_on"), F.col("page_id")))).alias("representatives"),
            F.max("signature").alias("signature"),
        )
    )


def _representatives(pages: DataFrame, placed: DataFrame) -> DataFrame:
    """Return the page IDs of each layout's representatives."""
    place = F.row_number().over(Window.partitionBy(*KEY).orderBy("page_id"))
    compared = placed.withColumn("place", place).where(F.col("place") <= _MOST_COMPARED).select("page_id", *KEY)
    known = select_with_layout(pages).drop(*KEY).join(compared, "page_id")
    known = known.repartition(*KEY).sortWithinPartitions(*KEY, "page_id")

    def choose(rows: Iterable[Row]) -> Iterator[Row]:
        for page_id in choose_representatives({row["page_id"]: page_blocks(row) for row in rows}):
            yield {"page_id": page_id}

    return known.mapInArrow(grouped_mapper(KEY, choose, _CHOSEN), _CHOSEN)


def grouped_mapper(
    key: Collection[str], work: Callable[[Iterable[Row]], Iterator[Row]], schema: StructType
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for `mapInArrow` that calls `work` on each group of rows with the same key.

    The input must be sorted by `key`, and all rows of a group must be in the same partition.
    """
    names, arrow = tuple(key), arrow_schema(schema)

    def work_on(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
        rows = (row for batch in batches for row in batch.to_pylist())
        for _, group in groupby(rows, lambda row: tuple(row[name] for name in names)):
            yield from work(group)

    return lambda batches: in_batches(work_on(batches), arrow)


def recount_layouts(stored: DataFrame, placed: DataFrame) -> DataFrame:
    """Return the updated rows of `layouts` for batches that lost files to other batches.

    A page that left its batch is no longer a representative or an example there.

    Args:
        stored: The stored rows of these batches.
        placed: The pages left in these batches, as returned by `placed_pages`.
    """
    key = ["batch", *KEY]
    counts = placed.groupBy(*key).agg(F.count("*").alias("pages"))
    representatives = stored.select("batch", F.explode("representatives").alias("page_id"))
    remaining = representatives.join(placed.select("batch", "page_id", *KEY), ["batch", "page_id"])
    remaining = remaining.groupBy(*key).agg(F.array_sort(F.collect_list("page_id")).alias("left"))
    recounted = stored.drop("pages").join(counts, key, "left").join(remaining, key, "left")
    names = F.coalesce("left", F.array().cast("array<string>"))
    is_left = lambda example: F.array_contains(names, example["page_id"])  # noqa: E731
    return recounted.select(
        *key,
        *("state", F.coalesce("pages", F.lit(0)).cast("long").alias("pages"), names.alias("representatives")),
        *(F.filter("examples", is_left).alias("examples"), "signature"),
    ).where((F.col("pages") > 0) | (F.col("host") == NOWHERE))
