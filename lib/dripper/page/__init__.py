"""One page's way, without Spark: prepare, label, finish; and the rows that tables hold of it."""
