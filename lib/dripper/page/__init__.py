"""Splits, labels and extracts one page without Spark, and creates the page's table rows."""
