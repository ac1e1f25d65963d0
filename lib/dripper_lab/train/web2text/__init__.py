"""Training of the labeler `web2text`: `python -m dripper_lab.train.web2text`, and the paper's own
protocol, `python -m dripper_lab.train.web2text.cleaneval`."""
