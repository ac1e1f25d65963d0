"""Scores extractors on labeled pages, and reports the scores."""
