"""Training of a small model for the labeler `encoder`: `python -m dripper.train.encoder`."""
