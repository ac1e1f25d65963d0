"""The format of the tables' data files: session settings, and the order of the rows."""

WITHOUT_VECTORS = {
    "spark.databricks.delta.delete.deletionVectors.persistent": "false",
    "spark.databricks.delta.merge.deletionVectors.persistent": "false",
    "spark.databricks.delta.update.deletionVectors.persistent": "false",
}
"""Settings that prevent deletion vectors. REORG alone is not enough: Delta 4.0 skips the files of a
clustered table, such as `published`. A write with `replaceWhere` also deletes rows, and Delta 4.0
cannot mark rows in a table with a column `path`, such as the ledger, because it joins the rows with
a column of that name."""
DATA_FILES = {
    # 0.64 times the size with Snappy, Spark's default.
    "spark.sql.parquet.compression.codec": "zstd",
    # If the bounds of a row group exclude a page, the group's texts are not read. The default, 128
    # MiB, gives one group per file.
    "parquet.block.size": str(8 << 20),
}
"""Settings that let a reader that looks for one page read only part of one file."""
ORDER = {"extractions": ("batch", "host", "url")}
"""Order of the rows in a data file. The partition column comes first, because Delta sorts by it
anyway."""
