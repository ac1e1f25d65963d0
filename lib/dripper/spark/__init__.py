"""The Spark code: planning, tables and stages. No other part of the product imports pyspark.

Programs can import four functions. `extract_column` and `register` extract pages that are already
in a table, `register_passages` splits their Markdown, and `label_udf` labels their blocks.
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
    """Return `df` with a new column that holds the main content of each page, or an error.

    All rows are kept. A page that is null, empty, not HTML, or over a limit in the settings gets an
    `error_code`. Each row is extracted only once, even if a query uses the column several times.
    The package must be installed on the executors.

    Args:
        html: The column with the pages, as text or as raw bytes. Bytes are decoded as browsers
            decode them, after gzip or zstd decompression.
        url, content_type: The columns with the pages' URLs and Content-Type headers, if available.
        column: The name of the new column. Its type is a struct with the result columns of the
            `extractions` table (docs/tables.md).
        text: Whether to add a field `text` with the main content as plain text.
        labeler, settings, options: As for `dripper.extract`.

    Raises:
        InputError: If an input column is missing or has the wrong type, or if the new column
            already exists.
        SettingsError, MachineError: If the labeler cannot be loaded. This is checked here, before
            any executor starts.
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
    """Register a SQL function that extracts pages.

    Use it like this: `SELECT dripper_extract(html, url).markdown FROM pages`. The function takes
    one to three columns (html, url and content_type, as in `extract_column`). It returns a struct
    with the same fields as the column that `extract_column` adds. Raises SettingsError or
    MachineError as `extract_column` does.
    """
    from dripper.page.extraction import checked_settings
    from dripper.spark import html_column

    html_column.register(spark, name, checked_settings(labeler, settings, options), text)


def register_passages(spark: "SparkSession", name: str = "dripper_passages") -> None:
    """Register a SQL function that splits Markdown into passages.

    Use it like this: `SELECT url, inline(dripper_passages(markdown, posts, 200)) FROM extractions`.
    The arguments are the columns `markdown` and `posts`, and the maximum number of words in a
    passage. The last two are optional. The function returns an array of structs with the fields of
    `dripper.page.passages.Passage`, or null if `markdown` is null.
    """
    from dripper.page.passages import passages

    def cut(markdown: str | None, posts: Any = None, max_words: int = 200) -> list[Any] | None:
        return None if markdown is None else [astuple(each) for each in passages(markdown, max_words, posts or ())]

    fields = "text:string,offset:int,headings:array<string>,kind:string,words:int,author:string,published:string"
    spark.udf.register(name, cut, f"array<struct<{fields}>>")


def label_udf(
    labeler: str | None = None, *, settings: "Settings | Mapping[str, Any] | None" = None, **options: Any
) -> Any:
    """Return a pandas UDF that labels blocks.

    The UDF takes a page's simplified HTML and its number of blocks. It returns a struct. The arrays
    `main` and `probability` have one value per block. The other fields are `confidence`,
    `error_code` and `error_detail`.

    To use it in SQL, call `spark.udf.register("label", label_udf("lm", model=FOLDER))`. After that,
    `SELECT page_id, label(simplified_html, size(item_ids)).main FROM blocks` works. The UDF is an
    iterator UDF: each worker keeps one engine and limits the number of tokens in a batch, like the
    `label` stage. On CPUs, an engine uses as many threads as a task has cores (`spark.task.cpus`).

    Args:
        labeler, settings, options: As for `dripper.extract`.

    Raises:
        SettingsError, MachineError: If the labeler cannot be loaded, or if it needs whole pages
            instead of blocks, like `cpu`. This is checked here, before any executor starts. If the
            labeler needs GPUs, only its settings are checked.
    """
    from dripper.labels.config import split_settings
    from dripper.labels.engine import load_labeler
    from dripper.spark.html_column import labels_function

    return labels_function(split_settings(labeler, settings, options), load_labeler)
