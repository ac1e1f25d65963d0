"""Turns one page's bytes into an extraction, without Spark: splits, labels and finishes the page.
Also makes the page's table rows."""
