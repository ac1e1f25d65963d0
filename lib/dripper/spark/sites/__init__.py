"""Site memory on Spark: what the pages of a host add up to, and labels that go by it."""
