"""Routes pages to labelers: whether a run is staged, and which pages the next labeler of a chain
gets.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dripper.errors import SettingsError
from dripper.labels.chain import chain_of
from dripper.labels.registry import bound_of, find_entry, runs_staged
from dripper.settings import LabelerSettings, Settings


def is_staged(settings: Settings) -> bool:
    """Return whether a run with these settings is staged. Raises SettingsError if layouts.enabled
    is set for a labeler that cannot use it."""
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
    if not find_entry(first).tells_confidence:
        raise SettingsError(
            f"labeler.name={labeler.name}: layouts.enabled goes by probabilities and a confidence, which {first} does not "
            "give; cpu does"
        )
    return True


def with_escalated(pages: DataFrame, labeler: LabelerSettings) -> DataFrame:
    """Return the pages of a batch with the column `escalated`, which is set for pages with blocks.
    A page without labels counts as the least sure.

    Args:
        pages: With `simplified_html` (null: no blocks) and `first_labels`.
    """
    goes_on = confidence() < bound_of(labeler)
    return pages.withColumn("escalated", F.when(F.col("simplified_html").isNotNull(), goes_on))


def to_be_labelled() -> Column:
    """Return whether a row of `pages` has a row in `blocks`."""
    is_whole: Column = F.col("error_code").isNull()
    return is_whole & F.coalesce("escalated", F.lit(True))


def confidence() -> Column:
    """Return the first labeler's confidence; -1 if there is none."""
    return F.coalesce("first_labels.confidence", F.lit(-1.0))
