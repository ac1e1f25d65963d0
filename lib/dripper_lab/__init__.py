"""Data sets, training, annotation and evaluation. Extraction does not need this package."""
