"""Computes the features that the network reads: one row of numbers for each block."""
