"""What every job works with: session, tables, ledger, the lease on them, settings."""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from dripper.config import Settings
from dripper.spark.lease import Lease
from dripper.spark.ledger import Ledger
from dripper.spark.tables import Tables


@dataclass(frozen=True, slots=True)
class Work:
    """One run over one output."""

    spark: SparkSession
    tables: Tables
    ledger: Ledger
    lease: Lease
    settings: Settings
