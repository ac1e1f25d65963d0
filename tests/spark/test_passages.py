"""Passages in SQL."""

from typing import Any

import pytest

import dripper
import dripper.spark

pytestmark = pytest.mark.spark
POSTS = "array<struct<author:string,published:string,offset:int,id:string,reply_to:string>>"


def test_passages_in_sql_are_those_of_python(spark: Any) -> None:
    dripper.spark.register_passages(spark)
    markdown = "# Ferry\n\nIt leaves at noon.\n\n- one\n- two\n"
    rows = [
        (1, markdown, None),
        (2, None, None),
        (3, "Hello.\n\nHi.\n", [("Ann", None, 0, None, None), ("Bo", None, 8, "b", "a")]),
    ]
    spark.createDataFrame(rows, f"id int, markdown string, posts {POSTS}").createOrReplaceTempView("some_pages")
    query = "SELECT id, inline(dripper_passages(markdown, posts, 4)) FROM some_pages ORDER BY id, offset"
    found = [(row.id, row.text, tuple(row.headings), row.kind, row.author) for row in spark.sql(query).collect()]
    expected = [(1, each.text, each.headings, each.kind, None) for each in dripper.passages(markdown, 4)]
    assert found == [*expected, (3, "Hello.", (), "post", "Ann"), (3, "Hi.", (), "post", "Bo")]
    assert spark.sql("SELECT size(dripper_passages(markdown)) AS n FROM some_pages WHERE id = 1").head().n == 1
