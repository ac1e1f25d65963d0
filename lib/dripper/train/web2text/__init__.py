"""Training of the labeler `web2text`: `python -m dripper.train.web2text`, and the paper's own
protocol, `python -m dripper.train.web2text.cleaneval`."""
