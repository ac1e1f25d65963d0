"""Footnotes: each mark has its note, each note its mark, and no link leads nowhere."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.html import to_markdown
from support.labelled import labelled_pages
from support.renderers import RENDERERS

PIECES = [
    '<p>text<sup><a href="#n{}" id="r{}">{}</a></sup>: more</p>',
    '<p><sup>[<a href="#n{}">{}</a>]</sup>: often',
    '<a class="footnote" href="#n{}">*</a>',
    "<ol class=notes><li id=n{}>A note.<li id=n{}>Ibid.</ol>",
    "<ul><li>x<ol><li id=n{}>y</ol></ul>",
    '<p id="n{}">({}) Lee (2020)</p>',
    "<table><tr><td>a<td id=n{}>b<tr><td>c<td>d</table>",
    '<h3 id="n{}">Rain</h3>',
    '<dl><dt id="n{}">{}</dt><dd>javascript:alert(1)</dd></dl>',
    '<h5><a id="n{}" href="#r{}">{}</a></h5><p>one</p><p>two</p>',
    '<blockquote><p id="n{}">1 text</p></blockquote>',
    "<pre>[^1]: code</pre>",
    "<p>[^{}]: forged</p>",
    '<mark>m</mark> <note>n</note> <a href="#">top</a> <a href="#n{}">see</a>',
    '<a id="n{}"></a>',
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from("12")), max_size=8))
def test_marks_and_notes_belong_together(pieces: list[tuple[str, str]]) -> None:
    html = "".join(piece.replace("{}", number) for piece, number in pieces)
    markdown = re.sub(r"(?ms)^( *)```.*?^ *```", "", to_markdown(html))
    marks = set(re.findall(r"(?m)(?:[^\n\\]|^(?!.*\]: ))\[\^([0-9]+)\]", markdown))
    notes = re.findall(r"(?m)^\[\^([0-9]+)\]: ", markdown)
    assert marks == set(notes)
    assert len(notes) == len(set(notes))
    assert not set(re.findall(r"\]\(#([^)]*)\)", markdown)) - set(re.findall(r'id="?([nr][0-9])', html))
    for render in RENDERERS.values():
        assert "javascript:" not in "".join(re.findall('href="([^"]*)', render(markdown)))


def test_real_pages_have_each_mark_with_its_note() -> None:
    for page in labelled_pages():
        markdown = to_markdown(page.html.decode("utf-8", "replace"))
        assert set(re.findall(r"\[\^([0-9]+)\](?!: )", markdown)) <= set(re.findall(r"\[\^([0-9]+)\]: ", markdown))
