"""How tables name and type their columns."""

from collections.abc import Iterable

from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from dripper import columns


def nullable(fields: Iterable[StructField]) -> StructType:
    """Return the columns as a Python pass gives them: by name and type, any may be null."""
    return StructType([StructField(field.name, field.dataType) for field in fields])


def column(name: str, kind: DataType, comment: str, nullable: bool = True) -> StructField:
    """Return a column of a table, with its comment."""
    return StructField(name, kind, nullable, {"comment": comment})


_TYPES: dict[columns.Kind, DataType] = {
    columns.Kind.STRING: StringType(),
    columns.Kind.INTEGER: IntegerType(),
    columns.Kind.LONG: LongType(),
    columns.Kind.DOUBLE: DoubleType(),
    columns.Kind.TIMESTAMP: TimestampType(),
}


def declared(of: columns.Column) -> StructField:
    """Return a column that `dripper.columns` declares."""
    return column(of.name, spark_type(of.type), of.comment, of.nullable)


def spark_type(kind: columns.Type) -> DataType:
    """Return the type of a column of `dripper.columns` as Spark names it."""
    if isinstance(kind, columns.ListOf):
        return ArrayType(spark_type(kind.items))
    if isinstance(kind, columns.Struct):
        return StructType([StructField(name, spark_type(field)) for name, field in kind.fields])
    return _TYPES[kind]
