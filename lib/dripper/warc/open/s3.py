"""Opens archives in S3 and S3-compatible storage systems through boto3."""

import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    NoCredentialsError,
    ParamValidationError,
)
from urllib3.exceptions import HTTPError

from dripper.addresses import loggable_text
from dripper.errors import FileError, FileErrorKind
from dripper.settings import S3Settings
from dripper.warc.open.base import Readable, parse_whole_number
from dripper.warc.open.remote import (
    RemoteFile,
    check_range,
    format_byte_range,
    format_etag_version,
    get_pace,
    retry,
)
from dripper.warc.open.source import bucket_and_key

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

CONNECTION_ERRORS = (BotoCoreError, HTTPError, OSError)
"""The exceptions that boto3 raises when a connection fails or breaks."""

_PASSING = frozenset({"SlowDown", "Throttling", "ThrottlingException", "RequestTimeout", "InternalError"})
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"})
_GONE = frozenset({"404", "NoSuchKey", "NoSuchBucket"})
_DENIED = frozenset(
    {"401", "403", "AccessDenied", "AllAccessDisabled", "InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch"}
)


def s3_client(settings: S3Settings) -> "S3Client":
    """Return this process's client. Clients are cached, because creating one takes 86 ms of CPU
    time, and a cached client reuses its connections."""
    return _make_client(settings, os.getpid())


@lru_cache(maxsize=8)
def _make_client(settings: S3Settings, process: int) -> "S3Client":
    """Create a client for one process. A forked child must not use its parent's connections.

    The client itself never retries. `retry` and `RangeStream` do, at the rate that the machine's
    processes share.
    """
    config = Config(
        retries={"mode": "standard", "total_max_attempts": 1},
        connect_timeout=settings.timeout_seconds,
        read_timeout=settings.timeout_seconds,
        signature_version=UNSIGNED if settings.anonymous else None,
        s3={"addressing_style": "path"} if settings.endpoint_url else None,
    )
    client: S3Client = boto3.session.Session().client(
        "s3", endpoint_url=settings.endpoint_url, region_name=settings.region, config=config
    )
    pace = get_pace(settings.endpoint_url or "s3")

    def learn(response_dict: dict[str, Any] | None, **_: Any) -> None:
        if response_dict is not None:
            pace.learn_from(response_dict["status_code"])

    client.meta.events.register("before-send.s3", lambda **_: pace.wait())
    client.meta.events.register("response-received.s3", learn)
    return client


class S3Object(RemoteFile):
    """One S3 object. The constructor raises FileError if the object cannot be read.

    head_bytes: See `open_source`.
    """

    errors = CONNECTION_ERRORS

    def __init__(self, path: str, settings: S3Settings, head_bytes: int | None = 0) -> None:
        super().__init__(path, settings.max_attempts)
        self._settings = settings
        bucket, key = bucket_and_key(path)
        self._request: dict[str, Any] = {"Bucket": bucket, "Key": key} | _name_payer(settings)
        self._etag: str | None = None
        self._ask_first(head_bytes)

    def _connect(self, offset: int, end: int | None) -> Readable:
        is_first = self._etag is None
        ranged = (
            self._request | {"Range": format_byte_range(offset, end)} | ({} if is_first else {"IfMatch": self._etag})
        )
        try:
            answer = _ask(self._path, self._settings, lambda client: client.get_object(**ranged))
        except FileError as error:
            if not (is_first and _is_empty(error)):
                raise
            # HEAD is only the fallback, because its responses have no body that explains a refusal.
            self._note(_ask(self._path, self._settings, lambda client: client.head_object(**self._request)))
            return BytesIO()
        body: Readable = answer["Body"]
        try:
            check_range(answer.get("ContentRange") or ("none" if is_first else None), offset, self.size_bytes)
        except ConnectionError:
            body.close()
            raise
        if is_first:
            self._note(answer)
        return body

    def _note(self, answer: dict[str, Any]) -> None:
        """Set size and version from the first response. The size comes from Content-Range, because
        a wrong Content-Length would end the file too early."""
        self._etag = answer["ETag"]
        self.version = format_etag_version(self._etag)
        self.size_bytes = parse_whole_number(answer.get("ContentRange", "0").rpartition("/")[2])


def list_objects(bucket: str, prefix: str, settings: S3Settings) -> Iterator[tuple[str, int, str | None]]:
    """Yield (key, size, version) for each object with a key that starts with `prefix`, in key
    order."""
    path = f"s3://{bucket}/{prefix}"
    request: dict[str, Any] = {"Bucket": bucket, "Prefix": prefix} | _name_payer(settings)
    while True:
        answer = retry(
            path,
            lambda: _ask(path, settings, lambda client: client.list_objects_v2(**request)),
            CONNECTION_ERRORS,
            settings.max_attempts,
        )
        for entry in answer.get("Contents", []):
            yield entry["Key"], entry["Size"], format_etag_version(entry.get("ETag"))
        if not answer.get("IsTruncated"):
            return
        request["ContinuationToken"] = answer["NextContinuationToken"]


def _is_empty(error: FileError) -> bool:
    """Return whether S3 rejected a range request because the object is empty."""
    cause: Any = error.__cause__
    return bool(getattr(cause, "response", {}).get("Error", {}).get("Code") == "InvalidRange")


def _name_payer(settings: S3Settings) -> dict[str, str]:
    return {"RequestPayer": "requester"} if settings.requester_pays else {}


def _ask(path: str, settings: S3Settings, ask: "Callable[[S3Client], Any]") -> dict[str, Any]:
    """Return S3's response.

    If the credentials have expired, `ask` is called once more with a new client, which reads the
    credentials again. botocore renews some kinds of credentials itself. Other kinds, such as a
    credentials file, may have been renewed on disk.

    Raises:
        ConnectionError: Another attempt may succeed.
        FileError: Another attempt would fail as well.
    """
    for renewed in (False, True):
        try:
            answer: dict[str, Any] = ask(s3_client(settings))
            return answer
        except (ClientError, NoCredentialsError) as error:
            if _is_passing(error):
                raise ConnectionError(f"S3 answered {error}") from error
            explained = explain(path, error, settings)
            if explained.kind == FileErrorKind.EXPIRED or isinstance(error, NoCredentialsError):
                _make_client.cache_clear()
            if renewed or explained.kind != FileErrorKind.EXPIRED:
                raise explained from error
        except ParamValidationError as error:
            raise explain(path, error, settings) from error
    raise AssertionError("the second attempt returns or raises")


def _is_passing(error: Exception) -> bool:
    """Return whether the error is temporary, which means that S3 is busy or has an internal
    error."""
    response: Any = getattr(error, "response", {})
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    code = response.get("Error", {}).get("Code", "")
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS or code in _PASSING


def explain(path: str, error: Exception, settings: S3Settings) -> FileError:
    """Convert an error from S3 to a FileError that says how to fix the cause."""
    response: Any = getattr(error, "response", {})
    code = str(response.get("Error", {}).get("Code", ""))
    if code in _GONE:
        return FileError(FileErrorKind.GONE, f"{path} does not exist")
    if code in ("412", "PreconditionFailed"):
        return FileError(FileErrorKind.CHANGED, f"{path} was changed while it was read; run again")
    if code in _EXPIRED or isinstance(error, CredentialRetrievalError):
        return FileError(
            FileErrorKind.EXPIRED, f"{path}: the AWS credentials have expired ({code}); renew them and run again"
        )
    if isinstance(error, NoCredentialsError):
        return FileError(
            FileErrorKind.DENIED,
            f"{path}: no AWS credentials were found; set some up, or reading.s3.anonymous=true for a public bucket",
        )
    if code in _DENIED:
        return FileError(FileErrorKind.DENIED, f"{path}: access denied ({code}); {_advise(settings)}")
    if code in ("301", "PermanentRedirect"):
        return FileError(FileErrorKind.UNREADABLE, f"{path}: the bucket is in another region; set reading.s3.region")
    return FileError(FileErrorKind.UNREADABLE, f"{path}: {loggable_text(str(error))}")


def _advise(settings: S3Settings) -> str:
    if settings.anonymous:
        return "the bucket may not be public"
    if settings.requester_pays:
        return "for a public bucket set reading.s3.anonymous=true"
    return "for a public bucket set reading.s3.anonymous=true, for one whose readers pay reading.s3.requester_pays=true"
