"""Scores of extractors over labelled pages, and the report of them."""
