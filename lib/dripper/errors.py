"""Defines all errors: exceptions that end a command, and error codes for rows.

A :class:`UsageError` ends a command: the user has to change a flag, a setting, a file or the
machine, and the message says which. A :class:`BusyError` ends a run that has to wait for another
run. A :class:`DifferenceError` ends a run if the rows in the tables do not match the ledger's
counts. A :class:`PageError` never ends a run: it becomes the `error_code` and `error_detail` of one
row. This module imports nothing from the package, so that every layer can import it.
"""

from enum import StrEnum


class ErrorCode(StrEnum):
    """Reasons why a page has no extraction: the values of the `error_code` column."""

    EMPTY_PAGE = "empty_page"
    """The response body has no visible text, or only a notice such as "please enable
    JavaScript"."""
    PAGE_TOO_LARGE = "page_too_large"
    """The decompressed body is larger than the `reading.page_bytes` setting."""
    UNREADABLE = "unreadable"
    """A file named in a list does not exist, or a table row cannot be parsed. Only `dripper
    extract` writes this code. Jobs report missing archives as rows of `warc_files`."""
    BODY_UNREADABLE = "body_unreadable"
    """The body cannot be decoded at all, for example because its gzip stream is broken or its
    content coding is unknown."""
    NOT_HTML = "not_html"
    """The content is not HTML but a PDF, an image, JSON, a feed or other data. Only pages without
    an HTTP header get this code; archive records that are not HTML are skipped."""
    PARSE_FAILED = "parse_failed"
    """The page exceeds a limit of the parser, or MinerU-HTML itself fails on the page."""
    TIME_LIMIT = "time_limit"
    """The page took more CPU time than `limits.page_cpu_seconds`, or more wall time than 15 times
    that limit."""
    MEMORY_LIMIT = "memory_limit"
    """The page needed more memory than `limits.page_memory_bytes`."""
    CRASHED = "crashed"
    """Two processes in a row crashed while they worked on the page."""
    OUTPUT_TOO_LARGE = "output_too_large"
    """The main HTML or the Markdown would be many times larger than its source (see
    `tree.parser.output_limit`)."""
    LABELER_FAILED = "labeler_failed"
    """The labeler returned no usable labels for this page."""
    INTERNAL = "internal"
    """An unexpected exception; `error_detail` has its type and location. Please report it."""


class FileErrorKind(StrEnum):
    """Reasons why an archive file was not read to its end: the values of `FileReport.error_kind`.

    The reasons in `LASTING` are permanent. For any other reason, the next run may be able to read
    the file.
    """

    GONE = "gone"
    """There is no such file, object, bucket or URL."""
    NO_FILE = "no_file"
    """The path is not a file but a folder, a FIFO, a socket, a device, or a loop of symbolic
    links."""
    DENIED = "denied"
    """Access was refused, or no credentials were found. Somebody has to grant access."""
    EXPIRED = "expired"
    """The credentials expired, and could not be renewed."""
    CHANGED = "changed"
    """The file was replaced while it was being read."""
    UNREACHABLE = "unreachable"
    """After all attempts, the server still did not answer, was busy, or dropped the connection."""
    UNREADABLE = "unreadable"
    """The file cannot be read: the package for its scheme is missing, or the disk fails."""
    INTERNAL = "internal"
    """An unexpected exception. Please report it."""


LASTING: frozenset[str] = frozenset({FileErrorKind.GONE, FileErrorKind.NO_FILE})
"""The kinds of errors that recur in every run until somebody changes the input."""


class UsageError(Exception):
    """The user has to make the change that the message names. Ends a command with exit code 2."""


class SettingsError(UsageError):
    """A setting is unknown, of the wrong type, or out of range."""


class InputError(UsageError):
    """An input path does not exist, cannot be read, or is of the wrong kind."""


class FileError(InputError):
    """An archive file cannot be opened or read to its end.

    >>> FileError(FileErrorKind.GONE, "a.warc does not exist").kind
    <FileErrorKind.GONE: 'gone'>
    """

    def __init__(self, kind: FileErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type["FileError"], tuple[FileErrorKind, str]]:
        return FileError, (self.kind, str(self))


class MachineError(UsageError):
    """The machine lacks something that is needed, such as Java, a jar, a package or a model
    file."""


class BusyError(Exception):
    """Another run is using the output, and nothing was done. Ends a command with exit code 3: run
    the same command again later."""


class DifferenceError(Exception):
    """The rows in the tables do not match the ledger's counts, and nothing was done. Ends a command
    with exit code 3: somebody has to restore a table, or repair it with `jobs/maintain.py
    --repair`."""


class NoPageError(Exception):
    """A page that the user wants to delete is not in the tables. All other work was done. Ends a
    command with exit code 5: the user has to check the spelling of the page's URL."""


class StorageError(Exception):
    """The storage is full or failed. Ends a command with exit code 3: run the same command again
    when the storage works."""


class PageError(Exception):
    """One page failed. The error is written to the page's row, and never ends a task.

    >>> str(PageError(ErrorCode.EMPTY_PAGE, "0 visible characters"))
    'empty_page: 0 visible characters'
    """

    def __init__(self, code: ErrorCode, detail: str = "") -> None:
        super().__init__(f"{code.value}: {detail}" if detail else code.value)
        self.code = code
        self.detail = detail

    def __reduce__(self) -> tuple[type["PageError"], tuple[ErrorCode, str]]:
        return PageError, (self.code, self.detail)
