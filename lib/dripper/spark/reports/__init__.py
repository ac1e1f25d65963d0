"""What people read of a run: the last lines, the account page, estimates, scores."""
