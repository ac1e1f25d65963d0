"""Defines the objects that all steps of a run share."""

from dataclasses import dataclass

from pyspark.sql import SparkSession

from dripper.settings import Settings
from dripper.spark.ledger.forgotten import NO_RULES, Rules
from dripper.spark.ledger.lease import Lease
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.tables.store import Tables


@dataclass(frozen=True, slots=True)
class Work:
    """The shared objects of a run on an output."""

    spark: SparkSession
    tables: Tables
    ledger: Ledger
    lease: Lease
    settings: Settings
    rules: Rules = NO_RULES
    """The rules for forgotten pages."""
