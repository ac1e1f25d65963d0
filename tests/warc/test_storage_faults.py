"""With any storage fault, a file gives its rows, or the first of them and the reason for the rest;
the next run completes it."""

from collections.abc import Iterator

import pytest

from dripper.errors import FileErrorKind
from support.fault_proxy import Fault, faulty, seeded
from support.storage_night import Night, Reading, faults_done, leave_out_pauses, read, storage

N_FILES = 4
S3_ONLY = {Fault.EXPIRED}


@pytest.fixture(scope="module")
def bucket() -> Iterator[tuple[str, list[str]]]:
    with storage(N_FILES, 12) as running:
        yield running


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_pauses(monkeypatch)


@pytest.mark.parametrize("scheme", ["s3", "http"])
def test_a_bad_night_changes_nothing(bucket: tuple[str, list[str]], scheme: str) -> None:
    endpoint, keys = bucket
    kinds = tuple(fault for fault in Fault if scheme == "s3" or fault not in S3_ONLY)
    outcome = Night()
    with faulty(endpoint, lambda *_: None) as proxy:
        true: dict[str, Reading] = {key: read(key, proxy.endpoint, scheme, 60, 5) for key in keys}
        proxy.choose = seeded(20, 0.5, kinds)
        while faults_done(proxy) < 40:
            for key in keys:
                outcome.add(key, read(key, proxy.endpoint, scheme, 0.25, 12), true[key])
        assert len(proxy.faults) > 6
        proxy.choose = lambda *_: None
        again = Night()
        for key in keys:
            again.add(key, read(key, proxy.endpoint, scheme, 60, 5), true[key])
    assert outcome.differences == again.differences == []
    assert set(outcome.failed) <= {FileErrorKind.EXPIRED, FileErrorKind.UNREACHABLE}
    assert not again.failed, again.reasons


@pytest.mark.parametrize("scheme", ["s3", "http"])
def test_a_fault_that_never_ends_fails_the_file_with_its_reason(bucket: tuple[str, list[str]], scheme: str) -> None:
    endpoint, keys = bucket
    with faulty(endpoint, lambda *_: None) as proxy:
        true = read(keys[0], proxy.endpoint, scheme, 60, 5)
        for fault in Fault:
            proxy.choose = lambda method, _, fault=fault: fault if method == "GET" else None
            patience = 0.25 if fault == Fault.STALL else 60  # a busy machine is not silent storage
            records, report = read(keys[0], proxy.endpoint, scheme, patience, 2)
            assert records == true[0][: len(records)]
            if report.error is None:  # some is wrong with every answer, and yet each brings the file further
                assert len(records) == len(true[0])
            elif fault == Fault.EXPIRED:
                assert report.error_kind == (FileErrorKind.EXPIRED if scheme == "s3" else FileErrorKind.UNREADABLE)
            else:
                assert report.error_kind == FileErrorKind.UNREACHABLE
                assert "gave up" in report.error
