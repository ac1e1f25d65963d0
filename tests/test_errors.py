"""Errors for people and codes for rows."""

import pickle
from enum import StrEnum

import pytest

from dripper.errors import (
    ErrorCode,
    FileError,
    FileErrorKind,
    InputError,
    MachineError,
    PageError,
    SettingsError,
    UsageError,
)


@pytest.mark.parametrize("code", ErrorCode)
@pytest.mark.parametrize("detail", ["", "a limit of 3: 4"])
def test_a_page_error_comes_through_a_process_boundary(code: ErrorCode, detail: str) -> None:
    error = pickle.loads(pickle.dumps(PageError(code, detail)))
    assert (error.code, error.detail) == (code, detail)
    assert str(error) == (f"{code.value}: {detail}" if detail else code.value)


@pytest.mark.parametrize("kind", FileErrorKind)
def test_a_file_error_comes_through_a_process_boundary(kind: FileErrorKind) -> None:
    error = pickle.loads(pickle.dumps(FileError(kind, "a.warc: no")))
    assert (error.kind, str(error)) == (kind, "a.warc: no")
    assert isinstance(error, InputError)


@pytest.mark.parametrize("codes", [ErrorCode, FileErrorKind])
def test_codes_are_plain_words_for_sql(codes: type[StrEnum]) -> None:
    assert all(code.value == code.name.lower() and code.value.isidentifier() for code in codes)


@pytest.mark.parametrize("kind", [SettingsError, InputError, MachineError])
def test_what_a_person_can_mend_is_one_family_and_what_a_page_does_another(kind: type[Exception]) -> None:
    assert issubclass(kind, UsageError)
    assert not issubclass(PageError, UsageError)
