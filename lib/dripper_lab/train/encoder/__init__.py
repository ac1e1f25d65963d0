"""Training of a small model for the labeler `encoder`: `python -m dripper_lab.train.encoder`."""
