"""Measures how well extractors do. Nothing here is needed to extract."""

from dripper.eval.metrics import Score, rouge_n

__all__ = ["Score", "rouge_n"]
