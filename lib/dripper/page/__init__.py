"""Takes one page from bytes to an extraction, without Spark: prepare, label, finish. Also makes the
rows that tables hold of it."""
