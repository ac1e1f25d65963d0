"""Trains the weights of labelers from labelled pages; needs the `[train]` extra."""
