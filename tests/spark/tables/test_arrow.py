"""Arrow schemas equal the schemas that Spark makes."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DayTimeIntervalType, StructField, StructType

from dripper.spark.tables.arrow import arrow_schema
from dripper.spark.tables.schemas import TABLES, nullable

OWN = (
    "a binary, b boolean, c tinyint, d smallint, e decimal(12,3), f timestamp_ntz, "
    "g map<string, struct<h: array<date> NOT NULL>>"
)
"""Columns that people may add to a table, of types that no table of the project has."""


@pytest.mark.spark
def test_schemas_are_those_of_spark(spark: SparkSession) -> None:
    tables = StructType([StructField(name, StructType(of[0].fields)) for name, of in TABLES.items()])
    for columns in (tables, StructType.fromDDL(OWN)):
        made = spark.createDataFrame([], columns).toArrow().schema
        assert arrow_schema(columns) == made
        assert (
            arrow_schema(nullable(columns.fields))
            == spark.createDataFrame([], nullable(columns.fields)).toArrow().schema
        )


def test_a_type_that_is_not_known_is_named() -> None:
    with pytest.raises(TypeError, match="no Arrow type is known for Spark's interval day to second"):
        arrow_schema(StructType([StructField("took", DayTimeIntervalType())]))
