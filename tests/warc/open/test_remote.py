"""Connections that break."""

import io

import pytest

from dripper.errors import InputError
from dripper.warc.open.remote import RangeStream
from support.storage_night import leave_out_pauses

DATA = bytes(range(256)) * 100


class Breaking(io.BytesIO):
    """Gives `n_bytes`, then an error or an early end."""

    def __init__(self, data: bytes, n_bytes: int, error: type[Exception] | None) -> None:
        super().__init__(data[:n_bytes])
        self.error = error

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        if not data and self.error:
            raise self.error("broken")
        return data


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_pauses(monkeypatch)


def read_all(stream: RangeStream) -> bytes:
    return b"".join(iter(lambda: stream.read(1000), b""))


@pytest.mark.parametrize("error", [ConnectionResetError, TimeoutError, None])
def test_it_goes_on_where_it_broke(error: type[Exception] | None) -> None:
    offsets = []

    def open_at(offset: int) -> Breaking:
        offsets.append(offset)
        return Breaking(DATA[offset:], 3000, error)

    assert read_all(RangeStream("x", open_at, 500, len(DATA), (OSError,), 2)) == DATA[500:]
    assert offsets == list(range(500, len(DATA), 3000))


def test_it_gives_up_after_so_many_attempts_without_a_byte() -> None:
    attempts = []

    def open_at(offset: int) -> Breaking:
        attempts.append(offset)
        return Breaking(DATA[offset:], 100 if offset == 0 else 0, ConnectionResetError)

    stream = RangeStream("s3://b/k", open_at, 0, len(DATA), (OSError,), 3)
    assert stream.read(1000) == DATA[:100]
    with pytest.raises(InputError, match="s3://b/k: gave up at byte 100 after 3 attempts: broken"):
        stream.read(1000)
    assert attempts == [0, 100, 100]


def test_an_error_that_is_none_of_the_connection_is_not_tried_again() -> None:
    def open_at(offset: int) -> Breaking:
        raise InputError("access denied")

    with pytest.raises(InputError, match="access denied"):
        RangeStream("x", open_at, 0, len(DATA), (OSError,), 5).read(1)


def test_an_unknown_size_ends_where_the_connection_ends() -> None:
    assert read_all(RangeStream("x", lambda offset: io.BytesIO(DATA[offset:]), 0, None, (OSError,), 1)) == DATA


def test_nothing_is_opened_for_an_empty_file() -> None:
    assert RangeStream("x", lambda _: pytest.fail("opened"), 0, 0, (OSError,), 1).read(1) == b""
