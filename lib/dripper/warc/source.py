"""Opening an archive: a file here, an object in S3, a file behind HTTP."""

from pathlib import Path
from typing import BinaryIO

from dripper.errors import InputError
from dripper.warc.members import Source
from dripper.warc.settings import ReadSettings


class LocalFile:
    """A file on this machine, as a `Source`."""

    def __init__(self, path: str) -> None:
        self._path = Path(path.removeprefix("file://") if path.startswith("file:///") else path)
        try:
            self.size_bytes: int | None = self._path.stat().st_size
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from error
        if self._path.is_dir():
            raise InputError(f"{path} is a folder, not an archive file")

    def open_at(self, offset: int) -> BinaryIO:
        """See `Source`."""
        stream = self._path.open("rb")
        stream.seek(offset)
        return stream


def open_source(path: str, settings: ReadSettings) -> Source:
    """Return the archive at `path`; raises InputError where it does not exist or may not be read."""
    return LocalFile(path)
