"""The Spark session, what it can run at once, and where GPU engines run."""
