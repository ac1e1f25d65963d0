"""Labelers that load nothing without a checkpoint."""

NEED_A_CHECKPOINT = frozenset({"lm", "encoder", "neuscraper"})
"""Their own tests make one, and hold what other tests ask of every labeler."""
