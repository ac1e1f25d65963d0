"""Opens archives from local paths, path lists, S3, HTTP and other storage systems."""
