"""The form of the data files that are written here, as settings of the session and as an order."""

WITHOUT_VECTORS = {
    "spark.databricks.delta.delete.deletionVectors.persistent": "false",
    "spark.databricks.delta.merge.deletionVectors.persistent": "false",
    "spark.databricks.delta.update.deletionVectors.persistent": "false",
}
"""REORG alone does not do it: Delta 4.0 leaves the files of a clustered table out, as of
`published`. A write with `replaceWhere` deletes rows too, and Delta 4.0 cannot mark rows in
a table that has a column `path`, as the ledger does: it joins them with a column of that name."""
DATA_FILES = {
    # .64 of the bytes of Snappy, which is Spark's default.
    "spark.sql.parquet.compression.codec": "zstd",
    # Of a row group whose bounds leave a page out, none of the texts is read; the default of 128
    # MiB is one group a file.
    "parquet.block.size": str(8 << 20),
}
"""Form of the data files that are written here: whoever looks for one page reads a part of one."""
ORDER = {"extractions": ("batch", "host", "url")}
"""Order of the rows of a data file. It begins with the partition, by which Delta sorts the rows
anyway."""
