"""Labels that go by what the hosts of pages know: rows of `site_blocks` and of `pages` meet, host
by host.

Both are sorted by host, what is known of it first, so that a task holds one host's sums and one
page at a time. A host of very many pages is dealt to several tasks, each of which gets its sums.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dripper.labels import Labels
from dripper.page.rows import Row, label_columns, read_first_labels, storable
from dripper.sites import SiteStatistics, Skeleton, relabel
from dripper.sites.layouts import join_layouts
from dripper.sites.statistics import PathSum
from dripper.sites.templates import Template, fill
from dripper.spark.sites.layout_choice import TEMPLATE
from dripper.spark.sites.layout_templates import taught_by, template_of
from dripper.spark.sites.sums import (
    BOUNDS,
    LAYOUT,
    PAGE,
    PATH,
    TEXT,
    Bounds,
    is_counted,
    layout_id_of,
    page_blocks,
    sum_counted,
)
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.schemas import LABELS, nullable
from dripper.spark.workers.read import in_batches

BY_SITE = ":with_site"
"""Behind the name of a labeler, the method of pages whose labels its site changed."""
BY_TEMPLATE = ":with_template"
"""Behind the name of a labeler, the method of pages that the template of their layout labelled."""
RULE, TEMPLATES = "sites=2", "templates=1"
"""Behind the version of a labeler: change when the rule does, or that of templates."""
LEAST_PAGES = 2
"""A host of one page knows nothing that the page does not."""

_EXAMPLE = "example"
"""Beside the kinds of `site_blocks`, the kind of rows that teach a template."""
_PAGES_A_TASK = 20_000
_MOST_TASKS = 1000
"""Tasks of one host at most."""


def hosts_with_evidence(site_blocks: DataFrame) -> DataFrame:
    """Return the hosts that have two pages or more, over all batches, with how many (`of_host`)."""
    pages = site_blocks.where(F.col("kind") == PAGE).groupBy("host").agg(F.sum("words").alias("of_host"))
    return pages.where(F.col("of_host") >= LEAST_PAGES)


def with_evidence(pages: DataFrame, site_blocks: DataFrame) -> DataFrame:
    """Return those of `pages` that get a row in `labels`."""
    return pages.join(hosts_with_evidence(site_blocks), "host", "left_semi")


def site_labels(
    pages: DataFrame,
    site_blocks: DataFrame,
    batches: Collection[int],
    layouts: DataFrame | None = None,
    bounds: Bounds = BOUNDS,
) -> DataFrame:
    """Return the rows of `labels` for pages of some batches.

    Args:
        pages: Of `select_remembered`, those of the batches that nobody else labels.
        site_blocks: Of all batches; so layouts, whose templates come before what else the host
            knows.
    """
    hosts = hosts_with_evidence(site_blocks)
    large = F.broadcast(hosts.where(F.col("of_host") > _PAGES_A_TASK))
    parts = pages.join(hosts.select("host"), "host", "left_semi").join(large, "host", "left")
    parts = parts.withColumn("part", F.pmod(F.xxhash64("page_id"), _parts())).drop("of_host")
    own_hosts = parts.select("host").distinct()
    evidence = _sums(site_blocks.join(own_hosts, "host", "left_semi"), batches)
    if layouts is not None:
        examples = _examples(layouts.join(own_hosts, "host", "left_semi"))
        evidence = evidence.unionByName(examples, allowMissingColumns=True)
    evidence = evidence.join(large, "host", "left")
    evidence = evidence.withColumn("part", F.explode(F.sequence(F.lit(0).cast("long"), _parts() - 1))).drop("of_host")
    rows = evidence.unionByName(parts, allowMissingColumns=True)
    # What is known comes first, layouts in the order in which they were first seen.
    order = [F.col("page_id").asc_nulls_first(), F.col("first_batch"), F.col("kind"), F.col("fingerprint")]
    rows = rows.repartition("host", "part").sortWithinPartitions("host", "part", *order)
    schema = nullable(LABELS.fields)
    return rows.mapInArrow(_labels_mapper(arrow_schema(schema), bounds), schema)


def _parts() -> Column:
    """Return how many tasks share the pages of a host."""
    parts: Column = F.least(F.lit(_MOST_TASKS), F.ceil(F.coalesce("of_host", F.lit(1)) / F.lit(_PAGES_A_TASK)))
    return parts.cast("long")


def _sums(site_blocks: DataFrame, batches: Collection[int]) -> DataFrame:
    """Add the sums up over batches; `own`: what there was of each of `batches`."""
    is_own = F.col("batch").isin(*batches)
    return site_blocks.groupBy("host", "kind", "fingerprint").agg(
        *(F.sum(name).alias(name) for name in ("pages", "words", "log_odds")),
        F.max("signature").alias("signature"),
        F.min("batch").alias("first_batch"),
        F.collect_list(F.when(is_own, F.struct("batch", "words"))).alias("own"),
    )


def _examples(layouts: DataFrame) -> DataFrame:
    """Return the examples of layouts whose template is used, a row each."""
    taught = layouts.where(F.col("state") == TEMPLATE)
    return taught.select("host", "layout_id", F.lit(_EXAMPLE).alias("kind"), F.explode("examples").alias("example"))


@dataclass(slots=True)
class _Host:
    """The statistics of one host."""

    sums: SiteStatistics = field(default_factory=SiteStatistics)
    skeletons: list[Skeleton] = field(default_factory=list)
    of_batch: dict[int, set[tuple[str, int]]] = field(default_factory=dict)
    """Kind and fingerprint of the rows of each batch."""
    pages_of_batch: dict[int, int] = field(default_factory=dict)
    layouts: dict[str, str] | None = None
    examples: dict[str, list[Row]] = field(default_factory=dict)
    """Examples by layout."""
    templates: dict[str, Template] = field(default_factory=dict)

    def learn(self, row: Row) -> None:
        """Take in a sum."""
        kind, fingerprint = row["kind"], row["fingerprint"]
        if kind == _EXAMPLE:
            self.examples.setdefault(row["layout_id"], []).append(row["example"])
            return
        for own in row["own"]:
            self.of_batch.setdefault(own["batch"], set()).add((kind, fingerprint))
            if kind == PAGE:
                self.pages_of_batch[own["batch"]] = own["words"]
        if kind == PAGE:
            self.sums.pages, self.sums.confidence = row["pages"], row["log_odds"]
        elif kind == PATH:
            self.sums.paths[fingerprint] = PathSum(row["pages"], row["words"], row["log_odds"])
        elif kind == TEXT:
            self.sums.texts[fingerprint] = row["pages"]
        elif kind == LAYOUT:
            self.skeletons.append(Skeleton(layout_id_of(fingerprint), np.array(row["signature"], np.int32)))

    def layout_of(self, layout_id: str) -> str:
        """Return the layout of a page by that of its skeleton."""
        if self.layouts is None:
            self.layouts = join_layouts(self.skeletons)
        return self.layouts.get(layout_id, layout_id)

    def template_of(self, layout: str) -> Template | None:
        """Return the template of a layout, if there is one."""
        if layout not in self.templates and layout in self.examples:
            self.templates[layout] = template_of(self.examples[layout])
        return self.templates.get(layout)


def _labels_mapper(schema: pa.Schema, bounds: Bounds) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
        at: tuple[Any, ...] = ()
        host = _Host()
        for batch in batches:
            for row in batch.to_pylist():
                if at != (row["host"], row["part"]):
                    at, host = (row["host"], row["part"]), _Host()
                if row["page_id"] is None:
                    host.learn(row)
                else:
                    yield storable(_label_row(row, host, bounds))

    return lambda batches: in_batches(rows(batches), schema)


def _label_row(row: Row, host: _Host, bounds: Bounds) -> Row:
    first, layout = row["first_labels"], host.layout_of(row["layout_id"])
    labels, version = _labels_of(row, layout, host, bounds)
    by = {"labeler": first["labeler"], "labeler_version": version, "method": labels.method, "windows": 1}
    return {"page_id": row["page_id"], "batch": row["batch"], "layout_id": layout} | by | label_columns(labels)


def _labels_of(row: Row, layout: str, host: _Host, bounds: Bounds) -> tuple[Labels, str]:
    """Return the labels of a page, and the version of who made them."""
    first = row["first_labels"]
    page, before, version = page_blocks(row), read_first_labels(first), first["labeler_version"]
    template = host.template_of(layout)
    if template is not None and (filled := fill(template, page, before)).fits:
        by = f"{TEMPLATES} of {taught_by(host.examples[layout])}"
        return replace(filled.labels, method=before.method + BY_TEMPLATE), f"{version},{by}"
    counted = host.of_batch.get(row["batch"], set())
    if not is_counted(row["page_id"], host.pages_of_batch.get(row["batch"], 1), bounds):
        counted = set()
    labels = relabel(page, before, host.sums, sum_counted(page, counted))
    if labels is before:
        return labels, version
    return replace(labels, method=before.method + BY_SITE), f"{version},{RULE}"


def layouts_of(labels: DataFrame, pages: DataFrame) -> DataFrame:
    """Return the rows of `layouts` for pages that have a row in `labels`."""
    placed = labels.where(F.col("layout_id").isNotNull()).select("page_id", "batch", "layout_id")
    placed = placed.join(pages.select("page_id", "batch", "host"), ["page_id", "batch"])
    return placed.groupBy("batch", "host", "layout_id").agg(
        F.count("*").alias("pages"),
        F.array().cast("array<string>").alias("representatives"),
        F.lit("consensus").alias("state"),
    )
