"""What the stage `label` would pay for `mapInPandas` in place of `mapInArrow`, or for a pandas UDF.

    python benchmarks/label_maps.py --data ../shared/data [--pages 1000] [--runs 5] [--encoder]

The first two read the columns of the stage (page_id, simplified_html, n_blocks) and return labels
and probabilities for every block, all of them main: what is timed is the way of the rows, not a
labeler. The last two are the stage's own function and `dripper.spark.label_udf`, with the labeler
`all`, which takes no time, or with a tiny random encoder (--encoder, with `PYTHONPATH=lib:tests`
and PyTorch; `--pages 10 --runs 2` takes two minutes, or ten where others work, too); their rows
have to be equal. Of all runs of each, in turns, on two local tasks, after one that is not counted:
the fastest by the wall, and the mean of the CPU seconds of all processes, which other work on the
machine changes less.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import dripper
from dripper.html import preprocess
from dripper.labels.config import split_settings
from dripper.labels.cost import estimate_tokens
from dripper.labels.engine import load_labeler
from dripper.settings import Settings
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.schemas import LABELS, nullable
from dripper.spark.workers.label import ANSWER, labels_mapper
from dripper.warc import decode
from dripper_lab.datasets import read_pages

OUT = "page_id string, main array<boolean>, probability array<float>"
SCHEMA = pa.schema([("page_id", pa.string()), ("main", pa.list_(pa.bool_())), ("probability", pa.list_(pa.float32()))])
Form = Callable[[DataFrame], DataFrame]


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


def of_stage(settings: Settings) -> Form:
    """Return what the stage makes of its rows."""
    schema = nullable(LABELS.fields)
    mapper = labels_mapper(load_labeler, settings, arrow_schema(schema), None)
    return lambda frame: frame.mapInArrow(mapper, schema).select("page_id", *ANSWER)


def of_udf(labeler: str, options: dict[str, Any]) -> Form:
    """Return the same by the function that SQL has."""
    label = dripper.spark.label_udf(labeler, **options)
    call = label("simplified_html", "n_blocks").alias("labels")
    return lambda frame: frame.select("page_id", call).select("page_id", "labels.*")


def cpu_of_all() -> float:
    """Return the CPU seconds of this process and those that it started, Spark's included."""
    me = psutil.Process()
    times = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


def cost(mapped: DataFrame) -> tuple[float, float]:
    """Return wall and CPU seconds of one pass."""
    start, cpu = time.perf_counter(), cpu_of_all()
    mapped.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start, cpu_of_all() - cpu


def measure(frame: DataFrame, forms: dict[str, Form], n_pages: int, runs: int) -> None:
    """Print milliseconds a page by form."""
    found = {name: list[tuple[float, float]]() for name in forms}
    for _ in range(runs + 1):
        for name, form in forms.items():
            found[name].append(cost(form(frame)))
    for name, costs in found.items():
        wall, cpu = min(wall for wall, _ in costs[1:]), sum(cpu for _, cpu in costs[1:]) / runs
        print(f"| {name} | {1000 * wall / n_pages:.3f} ms a page | {1000 * cpu / n_pages:.3f} CPU ms |", flush=True)


def rows_of(frame: DataFrame, form: Form) -> list[tuple[Any, ...]]:
    """Return the rows by page."""
    return sorted(tuple(row) for row in form(frame).collect())


def main(arguments: list[str]) -> int:
    """Print what each form takes; return 1 where the rows of the stage and of the UDF differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the labelled sets (*.tar.xz)")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--encoder", action="store_true", help="with a tiny random encoder")
    given = parser.parse_args(arguments)
    rows = []
    for page in islice(read_pages(given.data, "wcxb-dev"), given.pages):
        made = preprocess(decode(page.html, page.content_type).text)
        rows.append((page.id, made.simplified_html, len(made.blocks), estimate_tokens(made.simplified_html)))
    print(f"{len(rows)} pages, {sum(row[2] for row in rows)} blocks")
    # Without a virtual environment that is active, workers would take the system's Python.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    columns = "page_id string, simplified_html string, n_blocks int, tokens long"
    none = F.lit(None).cast("string")
    frame = spark.createDataFrame(rows, columns).withColumns(
        {"batch": F.lit(1).cast("long"), "profile": F.lit("dripper"), "first_labels": none}
    )
    frame = frame.repartition(4, "page_id").sortWithinPartitions(F.desc("tokens"), "page_id").cache()
    frame.count()
    forms = {
        "mapInArrow": lambda df: df.mapInArrow(by_arrow, OUT),
        "mapInPandas": lambda df: df.mapInPandas(by_pandas, OUT),
    }
    measure(frame, forms, len(rows), given.runs)
    with tempfile.TemporaryDirectory() as folder:
        labeler, options = "all", dict[str, Any]()
        if given.encoder:
            from dripper_labelers.encoder.reading import Reading
            from support.tiny_encoder import make_encoder

            model = make_encoder(Path(folder) / "tiny", max_position_embeddings=512)
            Reading().save(model)
            labeler, options = "encoder", {"model": str(model), "device": "cpu"}
        # Else the stage's engine has all cores of the machine; a UDF's has one.
        one_thread = {"stages.engines": os.cpu_count()}
        forms = {
            "stage": of_stage(split_settings(labeler, one_thread, options)),
            "label_udf": of_udf(labeler, options),
        }
        measure(frame, forms, len(rows), given.runs)
        is_same = rows_of(frame, forms["stage"]) == rows_of(frame, forms["label_udf"])
    print(f"labeler {labeler}: rows {'equal' if is_same else 'DIFFER'}")
    spark.stop()
    return int(not is_same)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
