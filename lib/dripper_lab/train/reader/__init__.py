"""Trains the `reader` labeler with `python -m dripper_lab.train.reader`: a twelve-layer
multilingual encoder is trained on labelled pages, and then distilled to six layers."""
