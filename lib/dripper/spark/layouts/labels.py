"""Labels pages with the templates of their layouts. The input is rows of `pages`, and examples from
`layouts`.

The rows are sorted by layout, examples first, so that a task holds only one template and one page
at a time. A very large layout is split into several tasks, each with a copy of the examples.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dripper.layouts.templates import Template, fill
from dripper.page.rows import Row, label_columns, storable
from dripper.page.stages import read_first_labels
from dripper.spark.layouts.choice import KEY, TEMPLATE, grouped_mapper
from dripper.spark.layouts.page_rows import page_blocks
from dripper.spark.layouts.teaching import taught_by, template_of
from dripper.spark.tables.schemas import LABELS, nullable

BY_TEMPLATE = ":with_template"
"""Suffix of `method` for pages that a template labelled."""
TEMPLATES = "templates=1"
"""Appended to a labeler's version. The number must change if the template algorithm changes."""

_PAGES_A_TASK = 20_000
_MOST_TASKS = 1000
"""Maximum number of tasks for one layout."""


def template_labels(pages: DataFrame, layouts: DataFrame) -> DataFrame:
    """Return the rows of `labels` for the pages that do not go to the next labeler.

    If a page fits its layout's template, the labels come from the template. Otherwise, they come
    from the first labeler.

    Args:
        pages: The result of `select_with_layout`, with a `layout_id` column added.
        layouts: Rows of `layouts` for all batches.
    """
    taught = layouts.where(F.col("state") == TEMPLATE)
    sizes = taught.groupBy(*KEY).agg(F.sum("pages").alias("of_layout"))
    pages = pages.join(F.broadcast(sizes.where(F.col("of_layout") > _PAGES_A_TASK)), KEY, "left")
    pages = pages.withColumn("part", F.pmod(F.xxhash64("page_id"), _parts()))
    examples = taught.select(*KEY, F.explode("examples").alias("example")).join(sizes, KEY)
    examples = examples.withColumn("part", F.explode(F.sequence(F.lit(0).cast("long"), _parts() - 1)))
    rows = examples.drop("of_layout").unionByName(pages.drop("of_layout"), allowMissingColumns=True)
    key = (*KEY, "part")
    rows = rows.repartition(*key).sortWithinPartitions(*key, F.col("page_id").asc_nulls_first())
    schema = nullable(LABELS.fields)
    return rows.mapInArrow(grouped_mapper(key, _label_layout, schema), schema)


def _parts() -> Column:
    """Return the number of tasks among which a layout's pages are divided."""
    parts: Column = F.least(F.lit(_MOST_TASKS), F.ceil(F.coalesce("of_layout", F.lit(1)) / F.lit(_PAGES_A_TASK)))
    return parts.cast("long")


def _label_layout(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the labels of one layout's pages. In `rows`, the examples come first."""
    examples: list[Row] = []
    template: Template | None = None
    for row in rows:
        if row["page_id"] is None:
            examples.append(row["example"])
            continue
        if examples and template is None:
            template = template_of(examples)
        yield storable(_label_row(row, template, examples))


def _label_row(row: Row, template: Template | None, examples: Iterable[Row]) -> Row:
    first = row["first_labels"]
    labels, version = read_first_labels(first), first["labeler_version"]
    if template is not None and (filled := fill(template, page_blocks(row), labels)).fits:
        labels = replace(filled.labels, method=labels.method + BY_TEMPLATE)
        version = f"{version},{TEMPLATES} of {taught_by(examples)}"
    by = {"labeler": first["labeler"], "labeler_version": version, "method": labels.method, "windows": 1}
    return {name: row[name] for name in ("page_id", "batch", "layout_id")} | by | label_columns(labels)
