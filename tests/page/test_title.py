"""The same title is above the Markdown, in the columns and in metadata."""

import pytest

import dripper

BODY = "<article><p>" + 20 * "It rained all day in Bergen, and the ferry did not leave. " + "</p></article>"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>Rain in Bergen | The Daily</title><header><h1>The Daily</h1></header>", "Rain in Bergen"),
        ("<title>Wet day, dry night | The Daily</title><header><h1>It pours</h1></header>", "It pours"),
        ("<title>Acme | Rain gauges and how to read them well at home</title>", "Rain gauges and how to read them well at home"),
        ("<title>City of Chicago | Board Meeting Information</title><h1>Board Meeting Information</h1>",
         "Board Meeting Information"),
    ],
)  # fmt: skip
def test_heading_column_and_metadata_say_the_same(head: str, title: str) -> None:
    extraction = dripper.extract(head + BODY)
    assert extraction.metadata is not None
    assert extraction.title == extraction.metadata.title == title
    assert extraction.markdown.startswith(f"# {title}\n\nIt rained")
    assert extraction.html_title
    assert head.startswith(f"<title>{extraction.html_title}</title>")


def test_a_title_in_the_main_content_is_not_said_twice() -> None:
    page = f"<title>Rain in Bergen</title><article><p><b>Rain in Bergen</b></p>{BODY}</article>"
    markdown = dripper.extract(page).markdown
    assert markdown.startswith("# Rain in Bergen\n")
    assert markdown.count("Rain in Bergen") == 1


TEXT = "<p>" + "The flood came over night, and forty houses of the lower town are lost. " * 6


@pytest.mark.parametrize(
    ("tops", "begins"),
    [
        ("<h1>Houses</h1>{0}<h2>Roads</h2>{0}<h1>Wells</h1>{0}", "# Flood in the lower town\n\n## Houses\n\nThe flood"),
        ("{0}<h1>Houses</h1>{0}<h1>Roads</h1>{0}", "# Flood in the lower town\n\nThe flood"),
        ("<h1>A flood in the lower town</h1>{0}<h1>Roads</h1>{0}", "# A flood in the lower town\n\nThe flood"),
    ],
)
def test_a_heading_that_names_a_part_is_no_title(tops: str, begins: str) -> None:
    page = f"<title>Flood in the lower town</title><main>{tops.format(TEXT)}</main>"
    markdown = dripper.extract(page, labeler="all").markdown
    assert markdown.startswith(begins)
    assert markdown.count("\n# ") == 0
    assert ("\n### Roads" in markdown) == ("<h2>" in tops)
