"""Which paths name S3, and what in it: known without the packages that read from there."""

from dripper.errors import InputError


def is_s3(path: str) -> bool:
    """Tell whether a path names S3; `s3a` and `s3n` are what Hadoop calls it."""
    return path.startswith(("s3://", "s3a://", "s3n://"))


def bucket_and_key(path: str) -> tuple[str, str]:
    """Split `s3://bucket/key`; raises InputError where there is no bucket.

    >>> bucket_and_key("s3://commoncrawl/crawl-data/x.warc.gz")
    ('commoncrawl', 'crawl-data/x.warc.gz')
    """
    bucket, _, key = path.split("://", 1)[1].partition("/")
    if not bucket:
        raise InputError(f"{path} names no bucket; write s3://bucket/key")
    return bucket, key
