"""Trains the `neuscraper` labeler: `python -m dripper_lab.train.neuscraper`."""
