"""Training of the labeler `reader`: a twelve-layer multilingual encoder is trained on labelled
pages, and then distilled to six layers. Run `python -m dripper_lab.train.reader`."""
