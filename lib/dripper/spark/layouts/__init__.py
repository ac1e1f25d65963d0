"""Layouts on Spark, in staged runs of a chain."""
