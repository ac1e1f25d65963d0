"""Converts Spark schemas to Arrow schemas, for data that passes between Python and the JVM.

PySpark's own function is private, and its arguments differ between Spark 4.0 and 4.2.
"""

import pyarrow as pa
from pyspark.sql.types import ArrayType, DataType, DecimalType, MapType, StructField, StructType

_TYPES = {
    "binary": pa.binary(),
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "date": pa.date32(),
    "double": pa.float64(),
    "float": pa.float32(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "short": pa.int16(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
"""Arrow types, by `DataType.typeName` of Spark's type."""


def arrow_schema(columns: StructType) -> pa.Schema:
    """Return the Arrow schema of these columns.

    Raises TypeError for a type that this project's tables do not use, such as intervals.
    """
    return pa.schema([_field(column) for column in columns])


def arrow_type(kind: DataType) -> pa.DataType:
    """Return the Arrow type for a Spark type. Raises TypeError as `arrow_schema` does."""
    if isinstance(kind, StructType):
        return pa.struct([_field(field) for field in kind])
    if isinstance(kind, ArrayType):
        return pa.list_(pa.field("element", arrow_type(kind.elementType), kind.containsNull))
    if isinstance(kind, MapType):
        values = pa.field("value", arrow_type(kind.valueType), kind.valueContainsNull)
        return pa.map_(pa.field("key", arrow_type(kind.keyType), nullable=False), values)
    if isinstance(kind, DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if kind.typeName() not in _TYPES:
        raise TypeError(f"no Arrow type is known for Spark's {kind.simpleString()}")
    return _TYPES[kind.typeName()]


def _field(field: StructField) -> pa.Field:
    return pa.field(field.name, arrow_type(field.dataType), field.nullable)
