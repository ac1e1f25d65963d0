"""A run's row in the table `runs`."""

import json

from dripper.labels.config import load
from dripper.spark.run.output import changed_settings


def test_settings_are_kept_without_what_is_secret() -> None:
    given = (
        "reading.list_prefix=https://user:SECRET@e.org/?sig=SECRET",
        "labels.lm.endpoint=http://user:SECRET@host:8000/v1",
        "labels.lm.api_key=SECRET",
        "spark.properties.a.b=SECRET",
        "reading.page_bytes=5000",
    )
    kept = changed_settings(load(assignments=given))
    assert "SECRET" not in kept
    assert json.loads(kept)["reading"] == {"list_prefix": "https://e.org/", "page_bytes": 5000}
