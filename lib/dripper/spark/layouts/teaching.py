"""Creates templates from the representatives' labels, and updates the rows of `layouts`."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType, StructField, StructType

from dripper.labels import Labels
from dripper.layouts import PageBlocks
from dripper.layouts.templates import LEAST_CONSISTENT, Template, learn, measure_consistency
from dripper.page.rows import Row
from dripper.page.stages import read_first_labels
from dripper.spark.layouts.choice import CHOSEN, FAILED, INCONSISTENT, KEY, TEMPLATE, grouped_mapper
from dripper.spark.layouts.page_rows import fingerprints_of, page_blocks, select_with_layout
from dripper.spark.tables.schemas import EXAMPLE

_TAUGHT = StructType(
    [
        *(StructField("host", StringType()), StructField("layout_id", StringType())),
        *(StructField("taught", StringType()), StructField("learned", ArrayType(EXAMPLE))),
    ]
)


def with_examples(layouts: DataFrame, labels: DataFrame, pages: DataFrame) -> DataFrame:
    """Return the batches' rows of `layouts`, with the examples and states from the new labels.

    Each example is stored in the row of its own batch. A representative without labels or without a
    main block does not become an example.

    Args:
        labels, pages: Rows of these batches. From `labels`, only the rows of representatives are
            used.
    """
    representatives = layouts.where(F.col("state") == CHOSEN).select(
        "batch", *KEY, F.explode("representatives").alias("page_id")
    )
    answers = labels.select("page_id", "batch", "main", "labeler", "labeler_version")
    known = select_with_layout(pages).select("page_id", "batch", "fingerprints", "first_labels")
    rows = representatives.join(answers, ["page_id", "batch"], "left").join(known, ["page_id", "batch"])
    rows = rows.repartition(*KEY).sortWithinPartitions(*KEY, "page_id")
    taught = rows.mapInArrow(grouped_mapper(KEY, _learn_layout, _TAUGHT), _TAUGHT)
    # Layouts that were decided before keep their state.
    is_taught = (F.col("state") == CHOSEN) & F.col("taught").isNotNull()
    is_own = lambda example: F.array_contains("representatives", example["page_id"])  # noqa: E731
    return (
        layouts.join(taught, KEY, "left")
        .withColumn("examples", F.when(is_taught, F.filter("learned", is_own)).otherwise(F.col("examples")))
        .withColumn("state", F.when(is_taught, F.col("taught")).otherwise(F.col("state")))
        .drop("taught", "learned")
    )


def _learn_layout(group: Iterable[Row]) -> Iterator[Row]:
    """Yield the state of a layout, and the examples from its representatives."""
    rows = list(group)
    good = [row for row in rows if _is_usable(row)]
    examples = [(page_blocks(row), read_first_labels(row["first_labels"]), _main(row["main"])) for row in good]
    key = {name: rows[0][name] for name in KEY}
    yield key | {"taught": state_of(examples), "learned": [_example(row) for row in good]}


def state_of(examples: Sequence[tuple[PageBlocks, Labels, npt.NDArray[np.bool_]]]) -> str:
    """Return the state of a layout, given its labelled representatives.

    Each example has the page's blocks, the first labeler's labels, and the next labeler's labels,
    an array of shape (n_blocks,).
    """
    if not examples:
        return FAILED
    return TEMPLATE if measure_consistency(examples) >= LEAST_CONSISTENT else INCONSISTENT


def _is_usable(row: Row) -> bool:
    main = row["main"]
    return main is not None and any(main) and len(main) == len(row["fingerprints"]["words"])


def _main(main: Sequence[bool]) -> npt.NDArray[np.bool_]:
    return np.array(main, bool)


def _example(row: Row) -> dict[str, Any]:
    hashes = {name: row["fingerprints"][name] for name in ("paths", "texts", "words")}
    return hashes | {name: row[name] for name in ("page_id", "main", "labeler", "labeler_version")}


def template_of(examples: Iterable[Row]) -> Template:
    """Return the template learned from examples in `layouts`, in any order."""
    return learn((_restore_blocks(example), _main(example["main"])) for example in examples)


def _restore_blocks(example: Row) -> PageBlocks:
    words = np.array(example["words"], np.int32)
    # Templates learn from the next labeler's labels, and ignore the first labeler's log odds.
    return PageBlocks(fingerprints_of(example), words, np.zeros(len(words), np.float32))


def taught_by(examples: Iterable[Row]) -> str:
    """Return the names and versions of the labelers that labelled the examples.

    >>> taught_by([{"labeler": "lm", "labeler_version": "2"}] * 2)
    'lm 2'
    """
    return " + ".join(sorted({f"{example['labeler']} {example['labeler_version']}" for example in examples}))
