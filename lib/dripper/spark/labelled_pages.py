"""Pages of a batch and their labels meet, for the stage `extract`."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dripper.config import Settings
from dripper.errors import SettingsError
from dripper.labels.fallback import Fallback
from dripper.labels.registry import used_fallback
from dripper.spark.extract_worker import LABEL_COLUMNS

_BROADCAST_BYTES = 256 << 20
"""Labels below it go to every executor; above it, pages are shuffled with their mapping HTML to
meet them."""


def with_labels(pages: DataFrame, labels: DataFrame, settings: Settings) -> tuple[DataFrame, Settings]:
    """Return the rows of `pages` with what the stage reads of those of `labels`, null where there
    are none, and the settings of the labeler that was. Raises SettingsError where its fallback
    lacks something."""
    labels = labels.select("page_id", *(F.col(name).alias(alias) for name, alias in LABEL_COLUMNS.items()))
    told = labels.agg(F.max("labeler"), F.sum(F.coalesce(F.size("main"), F.lit(0)) + 100)).head()
    assert told is not None
    if (told[1] or 0) < _BROADCAST_BYTES:
        labels = F.broadcast(labels)
    first = pages.where(F.col("first_labels").isNotNull()).select("first_labels.labeler").head()
    # The fallback `auto` goes by the labeler that was, whatever the settings of this stage name.
    name = first[0] if first is not None else told[0]
    labeler = settings.labeler.model_copy(update={"name": name} if name else {})
    joined = pages.drop("site_memory").join(labels, "page_id", "left")
    if used_fallback(labeler) == Fallback.TRAFILATURA:
        _check_sources(joined)
    else:
        joined = joined.drop("source")
    return joined, settings.model_copy(update={"labeler": labeler})


def _check_sources(pages: DataFrame) -> None:
    """Raise SettingsError where a page needs the fallback `trafilatura` and its source was not
    kept: Trafilatura would choose otherwise than in one pass."""
    has_main = F.coalesce(F.array_contains("main", True) & (F.size("main") == F.col("n_blocks")), F.lit(False))
    has_first = F.coalesce(F.array_contains("first_labels.main", True), F.lit(False))
    missing = pages.where(F.col("error_code").isNull() & F.col("source").isNull() & ~has_main & ~has_first)
    if not missing.select("page_id").isEmpty():
        raise SettingsError(
            "the fallback trafilatura reads the page as it was, and the stage preprocess kept none, as it ran with another: set "
            "labeler.fallback to cpu, body or empty, or run all stages into a new output with labeler.fallback=trafilatura"
        )
