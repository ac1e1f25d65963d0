"""Archives in S3, and in what speaks its language, through boto3."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from urllib3.exceptions import HTTPError

from dripper.errors import FileError, FileErrorKind, InputError
from dripper.settings import S3Settings
from dripper.warc.members import Readable
from dripper.warc.remote import RangeStream, etag_version

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_CONNECTION_ERRORS = (BotoCoreError, HTTPError, OSError)


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


def s3_client(settings: S3Settings) -> "S3Client":
    """Return a client that retries throttled and failed requests, slowing down as S3 asks (botocore's adaptive
    mode)."""
    config = Config(
        retries={"mode": "adaptive", "total_max_attempts": settings.max_attempts},
        connect_timeout=settings.timeout_seconds,
        read_timeout=settings.timeout_seconds,
        signature_version=UNSIGNED if settings.anonymous else None,
        s3={"addressing_style": "path"} if settings.endpoint_url else None,
    )
    return boto3.session.Session().client(
        "s3", endpoint_url=settings.endpoint_url, region_name=settings.region, config=config
    )


class S3Object:
    """One object, as a `Source`. Raises InputError where it cannot be read."""

    def __init__(self, path: str, settings: S3Settings) -> None:
        self._path = path
        self._settings = settings
        self._bucket, self._key = bucket_and_key(path)
        self._client = s3_client(settings)
        try:
            head = self._client.head_object(Bucket=self._bucket, Key=self._key)
        except (ClientError, BotoCoreError) as error:
            raise explain(path, error, settings) from error
        self.size_bytes: int | None = head["ContentLength"]
        self._etag = head["ETag"]
        self.version: str | None = etag_version(self._etag)

    def open_at(self, offset: int) -> Readable:
        """See `Source`."""
        attempts = self._settings.max_attempts
        return RangeStream(self._path, self._connect, offset, self.size_bytes, _CONNECTION_ERRORS, attempts)

    def _connect(self, offset: int) -> Readable:
        try:
            got = self._client.get_object(
                Bucket=self._bucket, Key=self._key, Range=f"bytes={offset}-", IfMatch=self._etag
            )
        except ClientError as error:
            raise explain(self._path, error, self._settings) from error
        return got["Body"]


def list_objects(bucket: str, prefix: str, settings: S3Settings) -> Iterator[tuple[str, int, str | None]]:
    """Yield (key, bytes, version) of a bucket's objects whose keys start with `prefix`, in the order of keys."""
    try:
        for page in s3_client(settings).get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
            for entry in page.get("Contents", []):
                yield entry["Key"], entry["Size"], etag_version(entry.get("ETag"))
    except (ClientError, BotoCoreError) as error:
        raise explain(f"s3://{bucket}/{prefix}", error, settings) from error


def explain(path: str, error: Exception, settings: S3Settings) -> FileError:
    """Return an error that says what to do about what S3 answered."""
    response: Any = getattr(error, "response", {})
    code = str(response.get("Error", {}).get("Code", ""))
    if code in ("404", "NoSuchKey", "NoSuchBucket"):
        return FileError(FileErrorKind.GONE, f"{path} does not exist")
    if code in ("412", "PreconditionFailed"):
        return FileError(FileErrorKind.CHANGED, f"{path} was changed while it was read; run again")
    if code in ("ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"):
        return FileError(
            FileErrorKind.EXPIRED, f"{path}: the AWS credentials have expired ({code}); renew them and run again"
        )
    if isinstance(error, NoCredentialsError):
        return FileError(
            FileErrorKind.DENIED,
            f"{path}: no AWS credentials were found; set some up, or reading.s3.anonymous=true for a public bucket",
        )
    if code in ("403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch"):
        hint = (
            "the bucket may not be public"
            if settings.anonymous
            else "for a public bucket set reading.s3.anonymous=true"
        )
        return FileError(FileErrorKind.DENIED, f"{path}: access denied ({code}); {hint}")
    if code in ("301", "PermanentRedirect"):
        return FileError(FileErrorKind.UNREADABLE, f"{path}: the bucket is in another region; set reading.s3.region")
    return FileError(FileErrorKind.UNREACHABLE, f"{path}: {error}")
