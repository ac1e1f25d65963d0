"""A page is found by its position in an archive, in any storage format."""

from pathlib import Path

import pytest

from dripper.errors import InputError
from dripper.warc import read_records
from dripper.warc.read import reader as module
from dripper.warc.read.reader import read_record_at
from support.archives import STORAGES, http, page, store, warc

RECORDS = [warc(f"http://example.org/{n}", http(page(n))) for n in range(4)]


@pytest.mark.parametrize("storage", STORAGES)
def test_every_page_is_found_by_its_place(tmp_path: Path, storage: str) -> None:
    file = tmp_path / "a.warc"
    file.write_bytes(store(RECORDS, storage).data)
    records = list(read_records(str(file)))
    assert len(records) == 4
    for record in records:
        assert read_record_at(str(file), record.offset, record.page_id) == record


def test_the_one_record_is_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(store(RECORDS, "gzip").data)
    wanted = list(read_records(str(file)))[2]
    monkeypatch.setattr(module, "read_records", None)
    assert read_record_at(str(file), wanted.offset, wanted.page_id).payload == page(2)


def test_another_file_in_its_place_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(store(RECORDS, "gzip").data)
    with pytest.raises(InputError, match="no such page at byte 7: is it another file by now"):
        read_record_at(str(file), 7, "0" * 32)
    file.write_bytes(b"")
    with pytest.raises(InputError, match="no such page"):
        read_record_at(str(file), 0, "0" * 32)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_record_at(str(tmp_path / "gone.warc"), 0, "0" * 32)
