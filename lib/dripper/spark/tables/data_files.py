"""The form of the tables' data files: settings of the session, and the order of the rows."""

WITHOUT_VECTORS = {
    "spark.databricks.delta.delete.deletionVectors.persistent": "false",
    "spark.databricks.delta.merge.deletionVectors.persistent": "false",
    "spark.databricks.delta.update.deletionVectors.persistent": "false",
}
"""Settings against deletion vectors. REORG alone is not enough: Delta 4.0 skips the files of a
clustered table, such as `published`. A write with `replaceWhere` deletes rows too, and Delta 4.0
cannot mark rows in a table with a column `path`, such as the ledger, because it joins them with a
column of that name."""
DATA_FILES = {
    # 0.64 of the bytes of Snappy, which is Spark's default.
    "spark.sql.parquet.compression.codec": "zstd",
    # If the bounds of a row group exclude a page, none of the group's texts is read. The default of
    # 128 MiB is one group per file.
    "parquet.block.size": str(8 << 20),
}
"""Form of the data files: a reader that looks for one page reads only a part of one file."""
ORDER = {"extractions": ("batch", "host", "url")}
"""Order of the rows of a data file. It begins with the partition, by which Delta sorts the rows
anyway."""
