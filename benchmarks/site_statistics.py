"""Memory and time of the host statistics (`site_blocks`), by the number of pages (docs/sites.md).

python benchmarks/site_statistics.py [--millions 1 3 10] [--hosts-a-page 0.1]

Pages are generated: 24 to 48 blocks, a third of which are the frame of the host, the others the
page's own. One host has a tenth of all pages; the other hosts' pages follow Zipf's law. Each number
of pages is a process of its own, two cores, the job's own Spark session; the figures are wall and
CPU seconds of it and all that it starts, the largest memory of JVM and Python workers together, and
the rows that are left. Pages are generated twice, as the sums read them twice: what that takes is
in the figures. Needs no data.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from _processes import timed_run
from dripper.labels.config import load
from dripper.spark.session.session import open_session
from dripper.spark.sites.sums import site_sums
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.schemas import FIRST_LABELS, SITE_MEMORY

FEWEST, MOST = 24, 48
"""Blocks of a page."""
FRAME = 12
PATHS = 10
"""Both: of a host: texts that all of its pages have, and paths."""
LARGEST = 0.1
"""Share of all pages that one host has."""
SIGNATURE = 32
SCHEMA = StructType(
    [
        StructField("page_id", StringType()),
        StructField("batch", LongType()),
        StructField("host", StringType()),
        StructField("layout_id", StringType()),
        StructField("site_memory", SITE_MEMORY),
        StructField("first_labels", FIRST_LABELS),
    ]
)


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return whole numbers as hashes (splitmix64)."""
    hashed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashed = (hashed ^ (hashed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (hashed ^ (hashed >> np.uint64(31))).astype(np.int64)


def hosts_of(ids: npt.NDArray[np.int64], n_hosts: int) -> npt.NDArray[np.int64]:
    """Return the host of each page: 0 for a tenth, else by Zipf's law with exponent 1."""
    place = mixed(ids.astype(np.uint64) + np.uint64(7)).astype(np.uint64) / 2.0**64
    rest = np.maximum(place - LARGEST, 0) / (1 - LARGEST)
    return np.where(place < LARGEST, 0, np.minimum(n_hosts, np.floor(np.exp(rest * np.log(n_hosts)))).astype(np.int64))


def generate_pages(batches: Iterable[pa.RecordBatch], n_hosts: int) -> Iterator[pa.RecordBatch]:
    """Yield the pages of ids, a batch of pages for each batch of ids."""
    schema = arrow_schema(SCHEMA)
    for batch in batches:
        ids = batch.column(0).to_numpy()
        hosts = hosts_of(ids, n_hosts)
        blocks = _generate_blocks(ids, hosts)
        columns = [
            pa.array([f"{key & (2**64 - 1):016x}{'0' * 16}" for key in mixed(ids.astype(np.uint64)).tolist()]),
            pa.array(np.ones(len(ids), np.int64)),
            pa.array([f"host{host}.example" for host in hosts.tolist()]),
            pa.array([f"{host:016x}" for host in hosts.tolist()]),
            _make_structs(schema.field("site_memory").type, blocks),
            _make_structs(schema.field("first_labels").type, blocks),
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _generate_blocks(ids: npt.NDArray[np.int64], hosts: npt.NDArray[np.int64]) -> dict[str, pa.Array]:
    """Return what is remembered of the blocks of each page, by the name of its field: the first
    FRAME blocks have texts that all pages of a host share."""
    numbers = FEWEST + mixed(ids.astype(np.uint64)).astype(np.uint64) % np.uint64(MOST - FEWEST + 1)
    offsets = np.concatenate([[0], np.cumsum(numbers.astype(np.int64))]).astype(np.int32)
    of_page = np.repeat(np.arange(len(ids)), numbers.astype(np.int64))
    place = np.arange(offsets[-1]) - offsets[of_page]
    at = (hosts[of_page].astype(np.uint64) << np.uint64(8)) + place.astype(np.uint64)
    own = (ids[of_page].astype(np.uint64) << np.uint64(8)) + place.astype(np.uint64) + np.uint64(1 << 60)
    paths = mixed((hosts[of_page].astype(np.uint64) << np.uint64(8)) + (place % PATHS).astype(np.uint64))
    odds = (mixed(own).astype(np.uint64) >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
    of_signature = np.arange(0, len(ids) * SIGNATURE + 1, SIGNATURE, dtype=np.int32)
    return {
        "paths": pa.ListArray.from_arrays(offsets, paths),
        "texts": pa.ListArray.from_arrays(offsets, np.where(place < FRAME, mixed(at), mixed(own))),
        "words": pa.ListArray.from_arrays(offsets, (place % 40).astype(np.int32)),
        "signature": pa.ListArray.from_arrays(of_signature, np.repeat(hosts, SIGNATURE).astype(np.int32)),
        "probability": pa.ListArray.from_arrays(offsets, odds),
        "confidence": pa.array(np.full(len(ids), 0.9)),
    }


def _make_structs(kind: pa.StructType, values: dict[str, pa.Array]) -> pa.StructArray:
    """Return a struct for each page; fields without values are null."""
    n = len(values["confidence"])
    fields = [values[one.name].cast(one.type) if one.name in values else pa.nulls(n, one.type) for one in kind]
    return pa.StructArray.from_arrays(fields, fields=list(kind))


def pages(spark: SparkSession, n_pages: int, n_hosts: int) -> DataFrame:
    """Return generated pages, in tasks of 100,000."""
    ids = spark.range(0, n_pages, 1, max(2, n_pages // 100_000))
    return ids.mapInArrow(lambda batches: generate_pages(batches, n_hosts), SCHEMA)


def memory_of(root: int) -> int:
    """Return the bytes that a process and those below it hold."""
    parents, held = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            held[int(folder.name)] = int((folder / "statm").read_text().split()[1]) * resource.getpagesize()
        except (OSError, ValueError, IndexError):
            continue
    below = {root}
    while more := {process for process, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(held.get(process, 0) for process in below)


def one(n_pages: int, n_hosts: int) -> dict[str, float]:
    """Make the statistics of so many pages, and return what it took."""
    most, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.5):
            most[0] = max(most[0], memory_of(os.getpid()))

    properties = ("master=local[2]", "properties.spark.sql.shuffle.partitions=16", "properties.spark.driver.memory=3g")
    more = "properties.spark.sql.execution.arrow.maxRecordsPerBatch=512"
    settings = load(assignments=[f"spark.{each}" for each in (*properties, more)])
    spark = open_session(settings.spark, "site_statistics")
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            site_sums(pages(spark, n_pages, n_hosts)).write.parquet(f"{folder}/sums")
            seconds = time.monotonic() - started
            sums = spark.read.parquet(f"{folder}/sums")
            rows, largest = sums.count(), sums.where("host = 'host0.example'").count()
            size = sum(file.stat().st_size for file in Path(folder).rglob("*.parquet"))
    finally:
        ended.set()
        watcher.join()
        spark.stop()
    return {
        "seconds": seconds,
        "memory": most[0] / 2**30,
        "rows": rows,
        "largest": largest,
        "bytes": size / 2**20,
    }


def main(argv: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--millions", nargs="+", type=float, default=[1, 3, 10], help="pages, in millions")
    parser.add_argument("--hosts-a-page", type=float, default=0.1)
    parser.add_argument("--one", nargs=2, type=int, metavar=("PAGES", "HOSTS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.one:
        sys.stdout.write(json.dumps(one(*arguments.one)) + "\n")
        return 0
    print("| pages | hosts | wall s | µs a page | CPU s | GiB | rows | of the largest host | MiB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for millions in arguments.millions:
        n_pages = round(millions * 1e6)
        n_hosts = round(n_pages * arguments.hosts_a_page)
        command = [sys.executable, __file__, "--one", str(n_pages), str(n_hosts)]
        done = timed_run(command, sorted(os.sched_getaffinity(0))[:2])
        if done.code != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
        told = json.loads(done.stdout.splitlines()[-1])
        cells = (f"{told['seconds']:.0f}", f"{1e6 * told['seconds'] / n_pages:.0f}", f"{done.cpu:.0f}")
        sizes = (f"{told['memory']:.1f}", f"{told['rows']:,}", f"{told['largest']:,}", f"{told['bytes']:,.0f}")
        print(f"| {n_pages:,} | {n_hosts:,} | {' | '.join((*cells, *sizes))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
