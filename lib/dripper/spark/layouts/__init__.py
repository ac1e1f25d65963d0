"""Layouts on Spark, in a staged run of a chain."""
