import json
from pathlib import Path

import pytest

from dripper.errors import InputError
from dripper_lab.datasets import DATA_SETS, Role, count_pages
from dripper_lab.train.digest import SAMPLE
from dripper_lab.wrong_truths import Fault, WrongTruth, parse_entry, wrong_truths

SHARED_DATA = Path(__file__).parents[3] / "shared" / "data"


def test_the_list_names_training_sets_alone_each_page_once_with_a_reason() -> None:
    listed = wrong_truths()
    text = (Path(__file__).parents[2] / "lib/dripper_lab/recipes/wrong_truths.jsonl").read_text(encoding="utf-8")
    assert len(listed) == len(text.splitlines()) > 70
    for (data_set, name), entry in listed.items():
        assert (entry.data_set, entry.id) == (data_set, name)
        assert DATA_SETS[data_set].role is Role.TRAIN_SHIPS
        assert entry.reason.endswith(".")
    assert {entry.kind_of_fault for entry in listed.values()} == set(Fault)


def test_the_pages_in_the_repository_are_not_listed() -> None:
    assert not {name for data_set, name in wrong_truths() if data_set == "wcxb-dev"} & SAMPLE


@pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="needs the data folder ../shared/data")
def test_every_listed_page_is_in_its_set_and_counted() -> None:
    listed = wrong_truths()
    for data_set in {data_set for data_set, _ in listed}:
        counted = {
            name: n for name, n in count_pages(SHARED_DATA, data_set).bad.items() if name.startswith("wrong truth")
        }
        assert sum(counted.values()) == sum(name == data_set for name, _ in listed)


ENTRY = {"data_set": "fundus", "id": "a", "kind_of_fault": "part", "reason": "It stops."}


def test_an_entry_of_the_list() -> None:
    entry = parse_entry(json.dumps(ENTRY), 1)
    assert entry == WrongTruth("fundus", "a", Fault.PART, "It stops.")
    assert entry.bad == "wrong truth: part"


@pytest.mark.parametrize(
    "row", [{}, [], ENTRY | {"kind_of_fault": "ugly"}, ENTRY | {"more": 1}, {"kind_of_fault": "part", "id": "a"}]
)
def test_a_line_that_is_not_an_entry(row: object) -> None:
    with pytest.raises(InputError, match=r"wrong_truths\.jsonl line 3 is not an entry"):
        parse_entry(json.dumps(row), 3)
