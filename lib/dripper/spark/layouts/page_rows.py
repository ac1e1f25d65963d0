"""Reads the columns of `pages` that are needed to label pages by layout."""

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dripper.layouts import Fingerprints, PageBlocks
from dripper.layouts.page_blocks import to_log_odds
from dripper.page.rows import Row


def has_layout() -> Column:
    """Return the condition that a row of `pages` has all values needed to find the page's
    layout."""
    has_labels: Column = F.col("fingerprints").isNotNull() & F.col("first_labels.probability").isNotNull()
    return has_labels & F.col("host").isNotNull()


def select_with_layout(pages: DataFrame) -> DataFrame:
    """Return the rows of `pages` that have a layout, with the columns for labelling by layout."""
    return pages.where(has_layout()).select("page_id", "batch", "host", "fingerprints", "first_labels")


def page_blocks(row: Row) -> PageBlocks:
    """Return the page's blocks from a row of `select_with_layout`."""
    prints = row["fingerprints"]
    probability = np.array(row["first_labels"]["probability"], np.float32)
    return PageBlocks(fingerprints_of(prints), np.array(prints["words"], np.int32), to_log_odds(probability))


def fingerprints_of(hashes: Row) -> Fingerprints:
    """Return the block hashes of a page, or of an example in `layouts`."""
    return Fingerprints(np.array(hashes["paths"], np.int64), np.array(hashes["texts"], np.int64))
