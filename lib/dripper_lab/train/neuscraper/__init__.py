"""Training of the labeler `neuscraper`: `python -m dripper_lab.train.neuscraper`."""
