"""Takes one page from bytes to an extraction, without Spark: split, label, finish. Also makes the
table rows of a page."""
