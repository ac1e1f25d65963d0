"""Spark jobs for this package: sampling pages for annotation, and distributed evaluations."""
