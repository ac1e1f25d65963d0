"""Training of the labeler `reader`: twelve layers of a multilingual encoder learn from labelled
pages, and teach six: `python -m dripper_lab.train.reader`."""
