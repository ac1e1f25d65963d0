"""Training of the labeler `reader`: low-rank adapters of a multilingual encoder, which stays as it
is: `python -m dripper_lab.train.reader`."""
