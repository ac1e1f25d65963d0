"""Opens archives wherever they are stored: local paths, lists, S3, HTTP, other storages."""
