"""Labelers that load nothing without a checkpoint, or a package with a model."""

NEED_A_CHECKPOINT = frozenset({"lm", "encoder", "neuscraper", "reader"})
"""Their own tests make one, and include the tests that other labelers get elsewhere."""
