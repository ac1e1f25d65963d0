"""Reports for users: the summary of a run, its HTML report, and cost estimates."""
