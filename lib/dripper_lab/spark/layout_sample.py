"""Samples pages with different layouts from the `pages` table, for annotation by people or a large
model (Dripper paper 4.1).

For each layout of a host, one page is a candidate. Nearly equal layouts count as one, and each host
contributes its most frequent layouts. Quotas by language or kind of page limit the number of
sampled candidates. The same seed gives the same pages, however Spark partitions the table.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructType

from dripper.errors import InputError, PageError, SettingsError
from dripper.html import preprocess
from dripper.layouts.skeletons import Skeleton, join_layouts, skeleton
from dripper.page.rows import Row
from dripper.spark.layouts.choice import grouped_mapper
from dripper.spark.tables.store import Tables

QUOTAS = ("language", "page_kind")
"""The columns that quotas can refer to."""
OTHER = "other"
"""The name for all other values, and for pages without a value, in a quota."""

_ROUNDING = 1e-9
"""A tolerance, because fractions such as 0.1 have no exact binary representation."""
_MOST_OF_HOST = 2000
"""The maximum number of pages per host to compare with each other. The paper uses 10,000."""
_LANGUAGE = r"""(?i)<html\b[^>]*?\slang\s*=\s*["']?([a-z]+)"""
_CANDIDATE = StructType().add("page_id", StringType()).add("layout_id", StringType()).add("layout_pages", LongType())


@dataclass(frozen=True, slots=True)
class Sampling:
    """The size and quotas of a sample.

    quotas: Column in `QUOTAS` → value → maximum fraction of `size`.
    """

    size: int
    of_host: int = 3
    quotas: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    seed: int = 0


def parse_quotas(typed: Sequence[str]) -> dict[str, dict[str, float]]:
    """Parse the quotas on the command line. Return column → value → maximum fraction.

    Raises SettingsError if a quota is invalid.

    >>> parse_quotas(["language=en:0.5,other:0.3", "page_kind=article:0.4"])
    {'language': {'en': 0.5, 'other': 0.3}, 'page_kind': {'article': 0.4}}
    """
    quotas: dict[str, dict[str, float]] = {}
    for each in typed:
        of, _, listed = each.partition("=")
        if of not in QUOTAS:
            raise SettingsError(f"the quota {each!r} is of nothing that is known: {' or '.join(QUOTAS)}=VALUE:SHARE,…")
        if of in quotas:
            raise SettingsError(f"the quota {each!r} is the second of {of}: give all values of it in one")
        quotas[of] = _parse_shares(each, listed)
    return quotas


def _parse_shares(quota: str, listed: str) -> dict[str, float]:
    shares: dict[str, float] = {}
    for each in listed.split(","):
        value, _, typed = each.rpartition(":")
        try:
            share = float(typed)
        except ValueError:
            share = math.nan
        if not value.strip() or value.strip() in shares or not 0 <= share <= 1:
            raise SettingsError(
                f"the quota {quota!r}: {each!r} is not a value with a share from 0 to 1, as in en:0.5,de:0.2"
            )
        shares[value.strip()] = share
    if sum(shares.values()) > 1 + _ROUNDING:
        raise SettingsError(f"the quota {quota!r}: its shares are more than 1 in all")
    return shares


def draw_pages(tables: Tables, sampling: Sampling) -> list[Row]:
    """Return the sampled pages: page_id, url, host, warc_file, warc_offset, charset, language,
    page_kind, layout_id, and layout_pages, the number of the host's pages with this layout.

    Raises InputError if the `pages` table does not exist, as after a single-pass run.
    """
    if not tables.exists("pages"):
        raise InputError(
            f"{tables.location()} has no table pages: jobs/preprocess.py makes it, a run in one pass (jobs/run.py) does not"
        )
    pages = tables.read("pages").where(F.col("error_code").isNull() & (F.col("n_blocks") > 0))
    order = _draw(sampling)
    candidates = _choose_candidates(pages, sampling).join(_describe(pages, tables), "page_id")
    if sampling.quotas:
        place = F.row_number().over(Window.partitionBy(*sampling.quotas).orderBy(order))
        candidates = candidates.withColumn("place", place).where(F.col("place") <= sampling.size).drop("place")
    else:
        candidates = candidates.orderBy(order).limit(sampling.size)
    return fill_quotas((row.asDict() for row in candidates.orderBy(order).toLocalIterator()), sampling)


def fill_quotas(candidates: Iterable[Row], sampling: Sampling) -> list[Row]:
    """Return the first candidates that satisfy the quotas, at most `sampling.size`."""
    taken: Counter[tuple[str, str]] = Counter()
    pages: list[Row] = []
    for page in candidates:
        if len(pages) == sampling.size:
            break
        values = [(of, _value_of(page[of], shares)) for of, shares in sampling.quotas.items()]
        most = [sampling.quotas[of].get(value, 1.0) * sampling.size for of, value in values]
        if all(taken[value] + 1 <= limit + _ROUNDING for value, limit in zip(values, most, strict=True)):
            taken.update(values)
            pages.append(page)
    return pages


def _value_of(value: str | None, shares: Mapping[str, float]) -> str:
    return value if value in shares and value is not None else OTHER


def _draw(sampling: Sampling) -> Column:
    return F.sha2(F.concat(F.lit(f"{sampling.seed} "), "page_id"), 256)


def _choose_candidates(pages: DataFrame, sampling: Sampling) -> DataFrame:
    """Return one page for each of the most frequent layouts of every host."""
    place = F.row_number().over(Window.partitionBy("host").orderBy(_draw(sampling)))
    compared = pages.select(
        *("page_id", F.coalesce("host", F.lit("")).alias("host"), "layout_id", "fingerprints.signature"),
        F.when(F.col("layout_id").isNull() | F.col("fingerprints").isNull(), F.col("source")).alias("html"),
    ).withColumn("place", place)
    compared = compared.where(F.col("place") <= _MOST_OF_HOST).repartition("host").sortWithinPartitions("host", "place")

    def choose(rows: Iterable[Row]) -> Iterator[Row]:
        yield from _choose_of_host(rows, sampling.of_host)

    return compared.mapInArrow(grouped_mapper(("host",), choose, _CANDIDATE), _CANDIDATE)


def _choose_of_host(rows: Iterable[Row], most: int) -> Iterator[Row]:
    skeletons = {row["page_id"]: built for row in rows if (built := _skeleton_of(row)) is not None}
    layouts = join_layouts(skeletons.values())
    first: dict[str, str] = {}
    for page_id, built in skeletons.items():
        first.setdefault(layouts[built.layout_id].layout_id, page_id)
    sizes = Counter(layouts[built.layout_id].layout_id for built in skeletons.values())
    for layout_id, size in sizes.most_common(most):
        yield {"page_id": first[layout_id], "layout_id": layout_id, "layout_pages": size}


def _skeleton_of(row: Row) -> Skeleton | None:
    if row["html"] is None:
        return Skeleton(row["layout_id"], np.array(row["signature"], np.int32))
    try:
        return skeleton(preprocess(row["html"]))
    except PageError:
        return None


def _describe(pages: DataFrame, tables: Tables) -> DataFrame:
    """Return the metadata of each page. Language and kind come from `extractions` if the page is
    there."""
    names = ("page_id", "url", "host", "warc_file", "warc_offset", "charset")
    declared = F.lower(F.regexp_extract("source", _LANGUAGE, 1))
    language, kind = F.when(declared != "", declared), F.col("first_labels.page_kind")
    described = pages.select(*names, language.alias("declared"), kind.alias("first_kind"))
    if not tables.exists("extractions"):
        return described.withColumnsRenamed({"declared": "language", "first_kind": "page_kind"})
    extracted = tables.read("extractions").select("page_id", "language", "page_kind")
    return described.join(extracted, "page_id", "left").select(
        *names,
        F.coalesce("language", "declared").alias("language"),
        F.coalesce("page_kind", "first_kind").alias("page_kind"),
    )
