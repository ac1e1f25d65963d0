"""The Spark session, its capacity, and the placement of GPU engines."""
