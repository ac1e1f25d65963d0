"""What a user may set about reading archives."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class S3Settings:
    """How `s3://` paths are opened.

    endpoint_url: of a server other than AWS; None: AWS. region: None: as boto3 finds it. anonymous: send no
    credentials, as public buckets allow. max_attempts: of one request, adaptive retries included (botocore's
    `adaptive` mode), and how often in a row a dropped connection is resumed without a new byte. timeout_seconds: of
    one read or connect.
    """

    endpoint_url: str | None = None
    region: str | None = None
    anonymous: bool = False
    max_attempts: int = 10
    timeout_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """How archives are found and read.

    page_bytes: a page whose body, inflated, is larger becomes a record with `PAGE_TOO_LARGE`; it also bounds the
    memory of a reader (about four times as much at worst). statuses: HTTP statuses that make a page, such as "2xx" or
    "404"; responses without any status are pages. list_prefix: what relative lines of an `@list` are joined to, such
    as "s3://commoncrawl/".
    """

    page_bytes: int = 32 * 1024 * 1024
    statuses: tuple[str, ...] = ("2xx",)
    list_prefix: str | None = None
    s3: S3Settings = field(default_factory=S3Settings)

    def keeps(self, status: int | None) -> bool:
        """Tell whether a response of this status is a page."""
        return status is None or str(status) in self.statuses or f"{status // 100}xx" in self.statuses
