"""What the stage `label` would pay for `mapInPandas` in place of `mapInArrow`.

    python benchmarks/label_maps.py --data ../shared/data [--pages 1000]

Both read the columns of the stage (page_id, simplified_html, n_blocks) and return labels and
probabilities for every block, all of them main: what is timed is the way of the rows, not a
labeler. Wall time of the fastest of five runs each, in turns, on two local tasks.
"""

import argparse
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dripper.html import preprocess
from dripper.warc import decode
from dripper_lab.datasets import read_pages

OUT = "page_id string, main array<boolean>, probability array<float>"
SCHEMA = pa.schema([("page_id", pa.string()), ("main", pa.list_(pa.bool_())), ("probability", pa.list_(pa.float32()))])


def by_arrow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """As the stage does it: lists of rows."""
    for batch in batches:
        rows = [labelled(row["page_id"], row["n_blocks"]) for row in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, SCHEMA)


def by_pandas(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """The same rows as data frames."""
    for frame in frames:
        rows = [labelled(page_id, n) for page_id, n in zip(frame["page_id"], frame["n_blocks"], strict=True)]
        yield pd.DataFrame(rows, columns=SCHEMA.names)


def labelled(page_id: str, n_blocks: int) -> dict[str, object]:
    """Every block is main."""
    return {"page_id": page_id, "main": [True] * n_blocks, "probability": np.ones(n_blocks, np.float32)}


def seconds(frame: DataFrame, form: str) -> float:
    """Wall time of one pass."""
    start = time.perf_counter()
    mapped = frame.mapInArrow(by_arrow, OUT) if form == "mapInArrow" else frame.mapInPandas(by_pandas, OUT)
    mapped.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def main() -> None:
    """Print milliseconds a page by form."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets (*.tar.xz)")
    parser.add_argument("--pages", type=int, default=1000)
    given = parser.parse_args()
    rows = []
    for page in islice(read_pages(given.data, "wcxb-dev"), given.pages):
        made = preprocess(decode(page.html, page.content_type).text)
        rows.append((page.id, made.simplified_html, len(made.blocks)))
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    frame = spark.createDataFrame(rows, "page_id string, simplified_html string, n_blocks int").repartition(4).cache()
    frame.count()
    forms = ("mapInArrow", "mapInPandas")
    found = {form: [] for form in forms}
    for _ in range(6):
        for form in forms:
            found[form].append(seconds(frame, form))
    print(f"{len(rows)} pages, {sum(row[2] for row in rows)} blocks")
    for form in forms:
        print(f"| {form} | {1000 * min(found[form][1:]) / len(rows):.3f} ms a page |")
    spark.stop()


if __name__ == "__main__":
    main()
