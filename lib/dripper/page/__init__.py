"""Splits, labels and extracts one page without Spark, and makes the page's table rows."""
