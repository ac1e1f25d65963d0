"""Measures how alike an extracted text and the true one are."""

from dripper.eval.metrics.overlap import Score, rouge_n

__all__ = ["Score", "rouge_n"]
