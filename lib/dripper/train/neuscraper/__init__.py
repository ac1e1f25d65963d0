"""Training of the labeler `neuscraper`: `python -m dripper.train.neuscraper`."""
