"""Sums the pages of a batch, host by host, for the table `site_blocks`.

It is made of the table `pages`, so that what is counted is what is stored: a batch that is written
again, or loses a file to another one, is summed again. Hashes and whole numbers move, no page does.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from dripper.page.rows import Row
from dripper.sites import Fingerprints, PageBlocks, SiteStatistics
from dripper.sites.statistics import PageSums, log_odds, sum_page, sum_pages, to_confidence_steps
from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.schemas import SITE_BLOCKS, nullable

PAGE, PATH, TEXT, LAYOUT = "page", "path", "text", "layout"
"""Kinds of rows of `site_blocks`."""
FEW_PAGES = 10
"""Counted pages of a host from which on paths and texts of a single page are not kept: most of them
are that page's own content, and no rule goes by what less than a tenth of the pages has."""

_HASH_DIGITS = 8
_HASHES = float(1 << 32)
"""Both: hexadecimal digits of a page id that choose the sample, and how many numbers they make."""
_PAGES_AT_ONCE = 512
"""Pages that are added up by one call of numpy."""
_SUMS = nullable(SITE_BLOCKS.fields)
_ADDED = (
    *("batch", "host", "layout_id", "site_memory.paths", "site_memory.texts", "site_memory.words"),
    *("site_memory.signature", "first_labels.probability", "first_labels.confidence"),
)


class Bounds(NamedTuple):
    """The most that is kept of a host and a batch."""

    pages: int = 1000
    """Pages that are counted; of more, a sample by the hash in page_id."""
    fingerprints: int = 1000
    """Paths, and as many texts, those on most pages first."""


BOUNDS = Bounds()


def select_remembered(pages: DataFrame) -> DataFrame:
    """Return the rows of `pages` whose hosts can learn from them, with the columns that they need
    and no others."""
    return pages.where(can_be_remembered()).select(
        "page_id", "batch", "host", "layout_id", "site_memory", "first_labels"
    )


def can_be_remembered() -> Column:
    """Return whether the host of a row of `pages` can learn from it."""
    has_memory: Column = F.col("site_memory").isNotNull() & F.col("first_labels.probability").isNotNull()
    return has_memory & F.col("host").isNotNull()


def site_sums(pages: DataFrame, bounds: Bounds = BOUNDS) -> DataFrame:
    """Return the rows of `site_blocks` for pages of `select_remembered`, which is read twice."""
    counts = pages.groupBy("batch", "host").agg(F.count("*").alias("of_host"))
    many = counts.where(F.col("of_host") > bounds.pages)
    counted_pages = pages.join(F.broadcast(many), ["batch", "host"], "left")
    counted_pages = counted_pages.where(F.col("of_host").isNull() | _is_counted(bounds))
    added = counted_pages.select(*_ADDED).mapInArrow(_add_up, _SUMS)
    sums = added.groupBy("batch", "host", "kind", "fingerprint").agg(
        *(F.sum(name).alias(name) for name in ("pages", "words", "log_odds")), F.max("signature").alias("signature")
    )
    # How many pages a host has in all tells a later reader which of them were counted.
    host_rows = counts.withColumn("kind", F.lit(PAGE))
    sums = sums.join(host_rows, ["batch", "host", "kind"], "left").withColumn("words", F.coalesce("of_host", "words"))
    return _keep_most_frequent(sums, bounds.fingerprints).select(*_SUMS.names)


def _is_counted(bounds: Bounds) -> Column:
    """As `is_counted`, in SQL."""
    place = F.conv(F.substring("page_id", 1, _HASH_DIGITS), 16, 10).cast("double") / _HASHES
    is_within: Column = place < F.lit(float(bounds.pages)) / F.col("of_host")
    return is_within


def is_counted(page_id: str, of_host: int, bounds: Bounds) -> bool:
    """Tell whether a page is among those that are counted.

    Args:
        of_host: Pages of its host in its batch.
    """
    return int(page_id[:_HASH_DIGITS], 16) / _HASHES < bounds.pages / of_host


def _keep_most_frequent(sums: DataFrame, most: int) -> DataFrame:
    """Keep of each host the fingerprints on most pages; equal ones in order of the hash."""
    of_host, of_kind = Window.partitionBy("batch", "host"), Window.partitionBy("batch", "host", "kind")
    n_pages = F.max(F.when(F.col("kind") == PAGE, F.col("pages"))).over(of_host)
    place = F.row_number().over(of_kind.orderBy(F.desc("pages"), "fingerprint"))
    is_block = F.col("kind").isin(PATH, TEXT)
    is_rare = is_block & (F.col("pages") == 1) & (F.col("n_pages") >= FEW_PAGES)
    placed = sums.withColumn("n_pages", n_pages).where(~is_rare).withColumn("place", place)
    return placed.where(F.col("place") <= most)


def _add_up(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give what each page adds to its host; input as `_ADDED` selects it."""
    pending: list[pa.RecordBatch] = []
    for batch in batches:
        pending.append(batch)
        if sum(len(each) for each in pending) >= _PAGES_AT_ONCE:
            yield _sums_of(pa.Table.from_batches(pending).combine_chunks())
            pending = []
    if pending:
        yield _sums_of(pa.Table.from_batches(pending).combine_chunks())


def _sums_of(pages: pa.Table) -> pa.RecordBatch:
    """Return the rows of `site_blocks` that some pages add: a row a path and text of a page, and
    two for itself."""
    lengths = pc.list_value_length(pages.column("paths")).to_numpy()
    words, probability = (_flat(pages, name) for name in ("words", "probability"))
    odds = log_odds(probability.astype(np.float64)).astype(np.float32)
    of_page = np.repeat(np.arange(len(pages)), lengths)
    paths, texts = sum_pages(of_page, _flat(pages, "paths"), _flat(pages, "texts"), words, odds)
    n, every = len(pages), np.arange(len(pages))
    steps = np.array([to_confidence_steps(one) for one in pages.column("confidence").to_pylist()], np.int64)
    layouts = np.array([layout_number(one) for one in pages.column("layout_id").to_pylist()], np.int64)
    nothing = np.zeros(n, np.int64)
    parts = {
        PAGE: PageSums(every, nothing, nothing, steps),
        LAYOUT: PageSums(every, layouts, nothing, nothing),
        PATH: paths,
        TEXT: texts,
    }
    page, fingerprint, n_words, n_odds = (np.concatenate(column) for column in zip(*parts.values(), strict=True))
    sizes = [len(part.page) for part in parts.values()]
    kinds = pa.DictionaryArray.from_arrays(pa.array(np.repeat(np.arange(4), sizes)), list(parts)).cast(pa.string())
    signatures = pages.column("signature").combine_chunks()
    before, after = (pa.nulls(n_rows, signatures.type) for n_rows in (sizes[0], sum(sizes[2:])))
    columns = {
        **{name: pages.column(name).combine_chunks().take(pa.array(page)) for name in ("batch", "host")},
        "kind": kinds,
        "fingerprint": pa.array(fingerprint),
        "pages": pa.array(np.ones(len(page), np.int64)),
        "words": pa.array(n_words),
        "log_odds": pa.array(n_odds),
        "signature": pa.concat_arrays([before, signatures, after]),
    }
    schema = arrow_schema(_SUMS)
    return pa.RecordBatch.from_arrays([columns[field.name].cast(field.type) for field in schema], schema=schema)


def _flat(pages: pa.Table, name: str) -> Any:
    """Return the values of a column of lists, one after the other."""
    return pages.column(name).combine_chunks().flatten().to_numpy(zero_copy_only=False)


def page_blocks(row: Row) -> PageBlocks:
    """Return what a row of `select_remembered` keeps of its page's blocks."""
    memory, labels = row["site_memory"], row["first_labels"]
    odds = log_odds(np.array(labels["probability"], np.float32).astype(np.float64)).astype(np.float32)
    return PageBlocks(fingerprints_of(memory), np.array(memory["words"], np.int32), odds, labels["confidence"])


def fingerprints_of(hashes: Row) -> Fingerprints:
    """Return the hashes of blocks that a `site_memory`, or an example of `layouts`, has."""
    return Fingerprints(np.array(hashes["paths"], np.int64), np.array(hashes["texts"], np.int64))


def layout_number(layout_id: str) -> int:
    """Return a layout_id as a fingerprint.

    >>> layout_number("ffffffffffffffff"), layout_id_of(-1)
    (-1, 'ffffffffffffffff')
    """
    return int.from_bytes(bytes.fromhex(layout_id), signed=True)


def layout_id_of(fingerprint: int) -> str:
    """Return the layout_id that a fingerprint stands for."""
    return fingerprint.to_bytes(8, signed=True).hex()


def sum_counted(page: PageBlocks, of_batch: Collection[tuple[str, int]]) -> SiteStatistics:
    """Return what of a page is in the sums of its host.

    Args:
        of_batch: Kind and fingerprint of the rows that its batch has in `site_blocks`.
    """
    own = sum_page(page)
    if (PAGE, 0) not in of_batch:
        return SiteStatistics()
    paths = {path: added for path, added in own.paths.items() if (PATH, path) in of_batch}
    return SiteStatistics(1, own.confidence, paths, {text: 1 for text in own.texts if (TEXT, text) in of_batch})
