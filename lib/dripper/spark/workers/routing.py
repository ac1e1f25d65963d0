"""Decides whether a run is staged, and which pages go to the next labeler of a chain."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dripper.errors import SettingsError
from dripper.labels.chain import chain_of
from dripper.labels.registry import bound_of, find_entry, runs_staged
from dripper.settings import LabelerSettings, Settings


def is_staged(settings: Settings) -> bool:
    """Return whether a run with these settings is staged.

    Raises SettingsError if layouts.enabled is set for a labeler that does not support layouts.
    """
    labeler = settings.labeler
    if not settings.layouts.enabled:
        return runs_staged(labeler)
    if labeler.staged is False:
        raise SettingsError(
            "layouts.enabled makes a run staged, and labeler.staged=false forbids it: leave one of them out"
        )
    first, *later = chain_of(labeler.name)
    if len(later) != 1 or find_entry(first).staged:
        raise SettingsError(
            f"labeler.name={labeler.name}: layouts.enabled is for a chain of two labelers of which the first labels every page "
            "on CPUs, as cpu,lm"
        )
    if labeler.escalate_share is not None:
        raise SettingsError(
            "labeler.escalate_share is for chains without layouts.enabled: of each layout a few pages go on, of pages "
            "in no layout those below labeler.escalate_below"
        )
    if not find_entry(first).tells_confidence:
        raise SettingsError(
            f"labeler.name={labeler.name}: layouts.enabled goes by probabilities and a confidence, which {first} does not "
            "give; cpu does"
        )
    return True


_BINS = 10_000
"""Number of bins in the confidence histogram. Only pages in the bin that contains the limit are
sorted and collected."""


def with_escalated(pages: DataFrame, labeler: LabelerSettings) -> DataFrame:
    """Return a batch's pages with the `escalated` column: whether a page goes to the next labeler.

    The column is null for pages without blocks. A page without labels counts as the least certain.
    Ties in confidence are broken by `page_id`, so that the choice is deterministic.

    Args:
        pages: Rows with `page_id`, `simplified_html` (null: no blocks) and `first_labels`. The rows
            are read up to three times.
    """
    has_blocks = F.col("simplified_html").isNotNull()
    if labeler.escalate_share is None:
        goes_on = confidence() < bound_of(labeler)
    else:
        goes_on = _least_sure(pages.where(has_blocks), labeler.escalate_share)
    return pages.withColumn("escalated", F.when(has_blocks, goes_on))


def to_be_labelled() -> Column:
    """Return the condition that a row of `pages` has a row in `blocks`."""
    is_whole: Column = F.col("error_code").isNull()
    return is_whole & F.coalesce("escalated", F.lit(True))


def confidence() -> Column:
    """Return the expression for the first labeler's confidence; -1 if it has none."""
    return F.coalesce("first_labels.confidence", F.lit(-1.0))


def _least_sure(pages: DataFrame, share: float) -> Column:
    """Return the condition that a page is among the least certain pages.

    `share` is the fraction of `pages` to select, rounded to a whole number of pages.
    """
    bins = pages.groupBy(_bin().alias("bin")).count().orderBy("bin").collect()
    remaining = round(share * sum(row["count"] for row in bins))
    for row in bins:
        if row["count"] > remaining:
            break
        remaining -= row["count"]
    else:
        return F.lit(True)
    within = pages.where(_bin() == row["bin"]).select(confidence().alias("confidence"), "page_id")
    chosen = within.orderBy("confidence", "page_id").limit(remaining).collect()
    if not chosen:
        below: Column = _bin() < row["bin"]
        return below
    last = chosen[-1]
    up_to: Column = F.struct(confidence(), "page_id") <= F.struct(F.lit(last["confidence"]), F.lit(last["page_id"]))
    return up_to


def _bin() -> Column:
    number: Column = F.floor(confidence() * _BINS)
    return number
