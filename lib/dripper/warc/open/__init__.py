"""Opens archives wherever they are kept: paths, lists, S3, HTTP, other storages."""
