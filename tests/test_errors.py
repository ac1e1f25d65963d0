"""Errors for people and codes for rows."""

import pickle

import pytest

from dripper.errors import ErrorCode, InputError, MachineError, PageError, SettingsError, UsageError


@pytest.mark.parametrize("code", ErrorCode)
@pytest.mark.parametrize("detail", ["", "a limit of 3: 4"])
def test_a_page_error_comes_through_a_process_boundary(code: ErrorCode, detail: str) -> None:
    error = pickle.loads(pickle.dumps(PageError(code, detail)))
    assert (error.code, error.detail) == (code, detail)
    assert str(error) == (f"{code.value}: {detail}" if detail else code.value)


def test_codes_are_plain_words_for_sql() -> None:
    assert all(code.value == code.name.lower() and code.value.isidentifier() for code in ErrorCode)


@pytest.mark.parametrize("kind", [SettingsError, InputError, MachineError])
def test_what_a_person_can_mend_is_one_family_and_what_a_page_does_another(kind: type[Exception]) -> None:
    assert issubclass(kind, UsageError)
    assert not issubclass(PageError, UsageError)
