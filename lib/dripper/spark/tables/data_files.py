"""Settings for the tables' data files, and the order of their rows."""

WITHOUT_VECTORS = {
    "spark.databricks.delta.delete.deletionVectors.persistent": "false",
    "spark.databricks.delta.merge.deletionVectors.persistent": "false",
    "spark.databricks.delta.update.deletionVectors.persistent": "false",
}
"""Settings that prevent deletion vectors. REORG cannot always remove the vectors: Delta 4.0 skips
the files of a clustered table, such as `published`. A write with `replaceWhere` deletes rows, too.
Delta 4.0 cannot mark these rows as deleted in a table with a `path` column, such as the ledger,
because Delta's own join uses that column name."""
DATA_FILES = {
    # The files are 0.64 times as large as with Snappy, which is Spark's default.
    "spark.sql.parquet.compression.codec": "zstd",
    # If the statistics of a row group exclude a page, the group's text is not read. The default of
    # 128 MiB gives one group per file.
    "parquet.block.size": str(8 << 20),
}
"""Settings that make data files smaller, and let a reader find one page by reading only a part of a
file."""
ORDER = {"extractions": ("batch", "host", "url")}
"""Sort order of the rows in a data file. The partition column comes first, because Delta sorts by
it anyway."""
