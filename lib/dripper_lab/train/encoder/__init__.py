"""Trains a small model for the `encoder` labeler: `python -m dripper_lab.train.encoder`."""
