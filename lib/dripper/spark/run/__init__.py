"""A run: batches of archives go through their stages, are checked, and are committed."""
