"""The Spark side: planning, the tables, the stages. No other part of the product imports pyspark.

For programs: `extract_column`, and in SQL the function of `register`, extract pages that are
already in a table; `label_udf` labels their blocks.
"""

from collections.abc import Mapping
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from dripper.settings import Settings

__all__ = ["extract_column", "label_udf", "register", "register_passages"]


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
    """Return `df` with one more column: the main content of each page, or the reason why there is
    none.

    Every row stays a row. A page that is null, empty, no HTML, or over the limits of the settings
    has an `error_code`. Each row is extracted once, however the column is used. The package must be
    installed on the executors.

    Raises InputError if an input column is missing or of another type, or if the new column exists
    already; SettingsError or MachineError, here and not on the executors, if the labeler cannot be
    loaded.

    Args:
        html: The column of the pages, text or bytes as served (decoded as browsers do, gzip and
            zstd inflated).
        url, content_type: The columns of their addresses and of the HTTP header Content-Type, if
            there are any.
        column: The new column, a struct of the columns that the table `extractions` has for it
            (docs/tables.md), with `text` if asked for.
        labeler, settings, options: The same as for `dripper.extract`.
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
    """Register a function for SQL in this session: `SELECT dripper_extract(html, url).markdown FROM
    pages`.

    It takes one to three columns, as `extract_column`, and returns the same struct. It raises the
    same errors.
    """
    from dripper.page.extraction import checked_settings
    from dripper.spark import html_column

    html_column.register(spark, name, checked_settings(labeler, settings, options), text)


def register_passages(spark: "SparkSession", name: str = "dripper_passages") -> None:
    """Register a function for SQL in this session that cuts Markdown into passages: `SELECT url,
    inline(dripper_passages(markdown, posts, 200)) FROM extractions`.

    It takes the columns `markdown` and `posts`, and the most words of a passage. The last two are
    optional. It returns an array of structs with the fields of `dripper.page.passages.Passage`;
    null for null.
    """
    from dripper.page.passages import passages

    def cut(markdown: str | None, posts: Any = None, max_words: int = 200) -> list[Any] | None:
        return None if markdown is None else [astuple(each) for each in passages(markdown, max_words, posts or ())]

    fields = "text:string,offset:int,headings:array<string>,kind:string,words:int,author:string,published:string"
    spark.udf.register(name, cut, f"array<struct<{fields}>>")


def label_udf(
    labeler: str | None = None, *, settings: "Settings | Mapping[str, Any] | None" = None, **options: Any
) -> Any:
    """Return a pandas UDF that labels blocks. From a page's simplified HTML and the number of its
    blocks, it makes a struct of `main` and `probability`, with a value for each block, and of
    `confidence`, `error_code` and `error_detail`.

    It is an iterator UDF: each worker keeps one engine, and batches are made by tokens, as in the
    stage `label`. After `spark.udf.register("label", label_udf("lm", model=FOLDER))`, SQL can call
    it: `SELECT page_id, label(simplified_html, size(item_ids)).main FROM blocks`. On CPUs an engine
    has as many threads as a task has cores (`spark.task.cpus`).

    Raises SettingsError or MachineError, here and not on the executors, if the labeler cannot be
    loaded, or if it reads whole pages (`cpu`). For a labeler that needs GPUs, only the settings are
    checked.

    Args:
        labeler, settings, options: The same as for `dripper.extract`.
    """
    from dripper.labels.config import split_settings
    from dripper.labels.engine import load_labeler
    from dripper.spark.html_column import labels_function

    return labels_function(split_settings(labeler, settings, options), load_labeler)
