"""Whether Delta's commits are safe where the output is: on S3 outside Databricks two drivers can overwrite each other's."""

import re
from collections.abc import Callable

_S3 = re.compile(r"(s3a?|s3n)://", re.IGNORECASE)
_SAFE = "S3DynamoDBLogStore"
"""Delta's log store for several writers: a table of DynamoDB gives each commit to one of them."""

_PACKAGE = "io.delta:delta-storage-s3-dynamodb"


def log_store_problem(output: str, conf_get: Callable[[str], str | None]) -> str | None:
    """Return what to set before two drivers may write to `output`, or None where nothing is missing.

    output: a folder, a prefix or `catalog.schema`; where a catalog keeps its tables is not known here. conf_get: returns a
    Spark property, None where it is not set.

    >>> log_store_problem("/data/out", {}.get)
    >>> print(log_store_problem("s3a://b/out", {}.get)[:50])
    s3a://b/out: two runs at once can lose commits her
    """
    found = _S3.match(output)
    if not found or _on_databricks(conf_get):
        return None
    scheme = found[1].lower()
    keys = (f"spark.delta.logStore.{scheme}.impl", "spark.delta.logStore.class")
    if any(_SAFE in (conf_get(key) or "") for key in keys):
        return None
    return (
        f"{output}: two runs at once can lose commits here, as S3 alone does not tell who was first; let one run at a time "
        f"write, or set {keys[0]}=io.delta.storage.{_SAFE}, spark.io.delta.storage.{_SAFE}.ddb.region and the package "
        f"{_PACKAGE} of your Delta's version"
    )


def _on_databricks(conf_get: Callable[[str], str | None]) -> bool:
    """Tell whether this is Databricks, whose own service orders the commits of all its clusters."""
    return any(conf_get(f"spark.databricks.clusterUsageTags.{name}") for name in ("clusterId", "sparkVersion"))
