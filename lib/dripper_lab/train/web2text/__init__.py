"""Trains the `web2text` labeler: `python -m dripper_lab.train.web2text`. The paper's own protocol
is `python -m dripper_lab.train.web2text.cleaneval`."""
