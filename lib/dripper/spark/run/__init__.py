"""Runs batches of archives through their stages, checks the results, and commits them."""
