"""Trains a small causal model for the `lm` labeler: `python -m dripper_lab.train.lm`."""
