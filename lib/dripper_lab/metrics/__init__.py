"""Metrics of how alike an extracted text and the true one are."""
