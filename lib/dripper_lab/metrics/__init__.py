"""Metrics for the similarity between extracted text and ground truth."""
