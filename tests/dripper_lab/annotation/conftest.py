"""One export of the labelled pages for all tests that only read it."""

import pytest

from dripper_lab.annotation.export import Export
from support.annotating import make_export


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Export:
    return make_export(tmp_path_factory.mktemp("annotation") / "work")
