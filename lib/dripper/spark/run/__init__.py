"""A run: takes batches of archives through their stages, checks them, and commits them."""
