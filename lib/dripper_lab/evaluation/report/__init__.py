"""Converts the scores of a run to an HTML report: tables, significance tests, charts, and the worst
pages."""
