"""The closed list of errors: exceptions for people and codes for rows.

A :class:`UsageError` ends a command: somebody has to change a flag, a setting, a file or the
machine, and the message says which. A :class:`BusyError` and a :class:`DifferenceError` end a run
that has to wait for another, or that finds other rows than counted. A :class:`PageError` never ends
anything: it becomes the `error_code` and `error_detail` of one row. This module imports nothing of
the package, so that every layer may import it.
"""

from enum import StrEnum


class ErrorCode(StrEnum):
    """The reasons why a page has no extraction: the values of the column `error_code`."""

    EMPTY_PAGE = "empty_page"
    """The response has a body, but no visible text in it, or no more than a notice."""
    PAGE_TOO_LARGE = "page_too_large"
    """The body, inflated, is larger than the setting `reading.page_bytes`."""
    UNREADABLE = "unreadable"
    """A list names a file that is not there, or a row of a table holds no value that can be read.
    Only `dripper extract` has such rows: of jobs, archives that are not there are rows of
    `warc_files`."""
    BODY_UNREADABLE = "body_unreadable"
    """The body cannot be inflated or un-chunked at all (a broken gzip stream, an unknown content
    coding)."""
    NOT_HTML = "not_html"
    """A page without an HTTP header that is no HTML: a PDF, an image, JSON, a feed, noise.
    (In archives such records are skipped.)"""
    PARSE_FAILED = "parse_failed"
    """The parser gave up on the page."""
    TIME_LIMIT = "time_limit"
    """The page used more CPU or wall seconds than `limits.page_cpu_seconds` or
    15 times as much by the clock."""
    MEMORY_LIMIT = "memory_limit"
    """The page wanted more memory than `limits.page_memory_bytes`."""
    CRASHED = "crashed"
    """The process that worked on the page died by itself, twice."""
    OUTPUT_TOO_LARGE = "output_too_large"
    """The main HTML or the Markdown would be many times as large as its source (see
    `html.tree.parser.output_limit`)."""
    LABELER_FAILED = "labeler_failed"
    """The labeler gave no usable labels for this page."""
    INTERNAL = "internal"
    """An exception nobody expected; `error_detail` has its type and place. Please report it."""


class FileErrorKind(StrEnum):
    """The reasons why an archive file was not read to its end: the values of
    `FileReport.error_kind`.

    Those of `LASTING` are for good; a file that failed for another reason may be read by the next
    run.
    """

    GONE = "gone"
    """Nothing is there: no such file, object, bucket or page."""
    NO_FILE = "no_file"
    """Something else is there: a folder, a FIFO, a socket, a device, or links that lead to
    themselves."""
    DENIED = "denied"
    """Access was refused, or no credentials were found. Somebody has to grant it."""
    EXPIRED = "expired"
    """The credentials ran out, and could not be renewed from here."""
    CHANGED = "changed"
    """The file was replaced while it was read."""
    UNREACHABLE = "unreachable"
    """No answer, a busy server or a broken connection, after all attempts."""
    UNREADABLE = "unreadable"
    """Something is there that cannot be read as a file: a scheme without its package, a disk that
    fails."""
    INTERNAL = "internal"
    """An exception nobody expected. Please report it."""


LASTING: frozenset[str] = frozenset({FileErrorKind.GONE, FileErrorKind.NO_FILE})
"""Kinds of errors that another run would meet again until somebody changes the input."""


class UsageError(Exception):
    """A person has to make the change that the message names. Ends a command with exit code 2."""


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
    """The machine lacks something: Java, a jar, a package, a model file."""


class BusyError(Exception):
    """Another run holds the output; nothing was done. Ends a command with exit code 3: the same
    command goes on later."""


class DifferenceError(Exception):
    """The tables have not the rows that the ledger counts; nothing was done. Ends a command with
    exit code 3: a person has to restore a table, or let `jobs/maintain.py --repair` mend it."""


class NoPageError(Exception):
    """A page that was to be forgotten is not in the tables. All else was done. Ends a command with
    exit code 5: somebody has to look at how the address is written."""


class StorageError(Exception):
    """The storage took nothing more, or failed. Ends a command with exit code 3: the same command
    goes on when it works again."""


class PageError(Exception):
    """One page failed. Carried as data: never allowed to end a task.

    >>> str(PageError(ErrorCode.EMPTY_PAGE, "0 visible characters"))
    'empty_page: 0 visible characters'
    """

    def __init__(self, code: ErrorCode, detail: str = "") -> None:
        super().__init__(f"{code.value}: {detail}" if detail else code.value)
        self.code = code
        self.detail = detail

    def __reduce__(self) -> tuple[type["PageError"], tuple[ErrorCode, str]]:
        return PageError, (self.code, self.detail)
