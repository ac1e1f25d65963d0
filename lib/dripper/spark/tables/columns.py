"""Columns of a table as SQL declares them, and those that a table lacks."""

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from dripper.spark.tables.sql import quoted


def as_added(field: StructField) -> StructField:
    """Return the column as it can be added to a table that has rows: they have no value in it."""
    return StructField(field.name, field.dataType, True, field.metadata)


def missing_fields(wanted: DataType, there: DataType, path: str = "") -> dict[str, StructField]:
    """Return the fields of the type `wanted` that the type `there` lacks, by their path as SQL
    writes it, at any depth.

    >>> old, new = StructType().add("b", "long"), StructType().add("b", "long").add("c", "long")
    >>> list(missing_fields(StructType().add("a", new), StructType().add("a", old)))
    ['a.c']
    """
    if isinstance(wanted, ArrayType) and isinstance(there, ArrayType):
        return missing_fields(wanted.elementType, there.elementType, f"{path}.element")
    if isinstance(wanted, MapType) and isinstance(there, MapType):
        return missing_fields(wanted.keyType, there.keyType, f"{path}.key") | missing_fields(
            wanted.valueType, there.valueType, f"{path}.value"
        )
    if not (isinstance(wanted, StructType) and isinstance(there, StructType)):
        return {}
    fields = {field.name.lower(): field for field in there}
    missing: dict[str, StructField] = {}
    for field in wanted:
        inner = f"{path}.{field.name}" if path else field.name
        known = fields.get(field.name.lower())
        missing |= {inner: field} if known is None else missing_fields(field.dataType, known.dataType, inner)
    return missing


def column_ddl(field: StructField, path: str = "") -> str:
    """Return a column, or at a path a field within one, as SQL declares it."""
    required = "" if field.nullable else " NOT NULL"
    comment = field.metadata.get("comment")
    name = ".".join(f"`{part}`" for part in (path or field.name).split("."))
    return f"{name} {field.dataType.simpleString()}{required}" + (f" COMMENT {quoted(comment)}" if comment else "")
