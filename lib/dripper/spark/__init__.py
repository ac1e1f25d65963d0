"""The Spark side: planning, the tables, the stages. No other part of the product imports pyspark.

For programs: `extract_column` and, in SQL, what `register` registers extract pages that are in a
table already; `label_udf` labels their blocks.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from dripper.settings import Settings

__all__ = ["extract_column", "label_udf", "register"]


def extract_column(
    df: "DataFrame",
    html: "str | Column",
    url: "str | Column | None" = None,
    content_type: "str | Column | None" = None,
    *,
    column: str = "extraction",
    labeler: str | None = None,
    settings: "Settings | Mapping[str, Any] | None" = None,
    text: bool = False,
    **options: Any,
) -> "DataFrame":
    """Return `df` with one column more: of each page its main content, or why there is none.

    Every row stays a row. A page that is null, empty, no HTML, or over the limits of the settings
    has an `error_code`. Each row is extracted once, whatever is made of the column. The package
    must be installed where the executors run.

    Raises InputError for a column that is not there, of another type, or there already;
    SettingsError or MachineError, here and not on the executors, for a labeler that cannot be had.

    Args:
        html: The column of the pages, text or bytes as served (decoded as browsers do, gzip and
            zstd inflated).
        url, content_type: The columns of their addresses and of the HTTP header Content-Type,
            where there are such.
        column: The new column, a struct of the columns that the table `extractions` has for it
            (docs/tables.md), with `text` if asked for.
        labeler, settings, options: As `dripper.extract` takes them.
    """
    from dripper.page.extraction import checked_settings
    from dripper.spark.html_column import add_extractions

    resolved = checked_settings(labeler, settings, options)
    return add_extractions(df, html, url, content_type, column, resolved, text)


def register(
    spark: "SparkSession",
    name: str = "dripper_extract",
    *,
    labeler: str | None = None,
    settings: "Settings | Mapping[str, Any] | None" = None,
    text: bool = False,
    **options: Any,
) -> None:
    """Register a function for SQL in this session:
    `SELECT dripper_extract(html, url).markdown FROM pages`.

    It takes one to three columns, as `extract_column`, and gives the same struct. Raises as that.
    """
    from dripper.page.extraction import checked_settings
    from dripper.spark import html_column

    html_column.register(spark, name, checked_settings(labeler, settings, options), text)


def label_udf(
    labeler: str | None = None, *, settings: "Settings | Mapping[str, Any] | None" = None, **options: Any
) -> Any:
    """Return a pandas UDF that labels blocks: of a page's simplified HTML and the number of its
    blocks it makes a struct of `main` and `probability`, a value for each block, and of
    `confidence`, `error_code` and `error_detail`.

    It is an iterator UDF: each worker keeps one engine, and batches are made by tokens,
    as in the stage `label`. With
    `spark.udf.register("label", label_udf("lm", model=FOLDER))` SQL has it:
    `SELECT page_id, label(simplified_html, size(item_ids)).main FROM blocks`. On CPUs an engine has
    as many threads as a task has cores (`spark.task.cpus`).

    Raises SettingsError or MachineError, here, for a labeler that cannot be had, or that reads
    whole pages (`cpu`); of one that wants GPUs only the settings are looked at.

    Args:
        labeler, settings, options: As `dripper.extract` takes them.
    """
    from dripper.labels.config import split_settings
    from dripper.labels.engine import load_labeler
    from dripper.spark.html_column import labels_function

    return labels_function(split_settings(labeler, settings, options), load_labeler)
