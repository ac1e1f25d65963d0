"""Training of a small causal model for the labeler `lm`: `python -m dripper_lab.train.lm`."""
