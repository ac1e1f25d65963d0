"""The names of months in the package."""

from importlib.resources import files

from dripper_lab.months import list_months


def test_the_table_is_that_of_cldr() -> None:
    table = files("dripper.facts.metadata").joinpath("months.txt").read_text("utf-8").splitlines()
    assert table == list_months()
    names = " ".join(table).split()
    assert len(names) == len(set(names)) > 500
