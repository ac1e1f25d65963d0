"""Reports for people: the last lines of a run, its page, estimates, scores."""
