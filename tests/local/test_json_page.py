"""A page that comes as JSON."""

import pytest

from dripper.local.json_page import read_json_page


def test_members_in_any_order() -> None:
    body = ' \n{ "url" : "u" ,\n"html":"<p>\\u00e9\\"\\n" } \n'
    assert read_json_page(body.encode()) == {"url": "u", "html": '<p>é"\n'}


@pytest.mark.parametrize(
    "body",
    [
        *("", "{}", "[]", "null", '"<p>"', '{"url": "u"}', '{"html": null}', '{"html": "a", "html": "b"}'),
        *('{"html": "a"', '{"html": "a",}', '{"html": "a"} {}', '{"html": "a", "wait": 3}', '{"html": "\\ud8"}'),
        *("[" * 100_000, '{"html": ' + "[" * 100_000),
    ],
)
def test_any_other_form_is_refused(body: str) -> None:
    with pytest.raises(ValueError):
        read_json_page(body.encode())


def test_other_encodings_are_refused() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        read_json_page('{"html": "é"}'.encode("latin-1"))
