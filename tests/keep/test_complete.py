"""Related parts stay together: notes, answers, quoted posts, headings."""

import pytest

from dripper.html import preprocess
from dripper.keep.complete import complete
from dripper.keep.embeds import find_embeds
from dripper.keep.references import find_holders, find_references

TEXT = "<p>The wheel had rusted into its bed{}, and two willows grew where the carts had stood.</p>"


def kept(html, main, profile="dripper"):
    """Return the texts of the final main blocks, if the blocks with one of the texts `main` were
    main before."""
    page = preprocess(html, profile)
    chosen = [any(text in block.text for text in main) for block in page.blocks]
    completed = complete(page, chosen).main
    assert complete(page, completed).main == completed
    return [" ".join(block.text.split()) for block, each in zip(page.blocks, completed, strict=True) if each][1:]


@pytest.mark.parametrize(
    ("mark", "notes", "found"),
    [
        ('<sup><a href="#n">1</a></sup>', '<ol><li id="n"><p>Sheet 12.</p></li></ol><p>Menu', ["Sheet 12."]),
        (
            '<sup><a href="#n">1</a></sup>',
            '<ol class="notes"><li id=n><p>Sheet 12.</li><li><p>13</ol>',
            ["Sheet 12.", "13"],
        ),
        (
            '<a id="b" href="#n">*</a>',
            '<h5><a id="n" href="#b">(1)</a></h5><p>Sheet 12.</p><h4>More</h4>',
            ["(1)", "Sheet 12."],
        ),
        (
            '<a id="footnoteref-1" href="javascript:;" class="footnoteref">1</a>',
            '<div id="footnote-1">1. Sheet 12.</div>',
            ["1. Sheet 12."],
        ),
        (
            '<sup><a href="#n">1</a></sup>',
            '<ol class="refs"><li id=n><p>Berg, A.</p><p><a href=x>PubMed</a> <a href=y>Scholar</a></p></ol>',
            ["Berg, A."],
        ),
        # Not notes: a list of places on the page, sources that all marks lead to, a mark above.
        ('<a href="#n">Prices</a>', '<p id="n">Menu', []),
        ('<sup><a href="#n">1</a><a href="#n">2</a></sup>', '<div id="n"><p>a</p><p>b</div>', []),
        ('<a href="#n">1</a>', '<p id="n">Menu', []),
    ],
)
def test_notes_go_with_the_text_that_points_at_them(mark, notes, found):
    assert kept(f"<nav>Home</nav>{TEXT.format(mark)}<div>{notes}</div>", ["willows"]) == found
    assert kept(f"<nav>Home</nav>{TEXT.format(mark)}<div>{notes}</div>", ["Home"]) == []


def test_references_are_numbered_in_the_order_of_their_marks():
    page = preprocess(
        '<p id="t">a<sup><a href="#y" id="m">1</a></sup> b<sup><a href="#x">2</a></sup> c<sup><a href="#y">1</a></sup>'
        '<section class="footnotes"><ol><li id="x">X<li id="y">Y <a href="#m">↩</a></ol></section>'
    )
    tree, references = page.elements, find_references(page.elements)
    notes = {tree.attributes(target)["id"]: number for target, number in references.notes.items()}
    assert notes == {"y": 1, "x": 2}
    assert [tree.attributes(mark)["href"] for mark in references.marks] == ["#y", "#x", "#y"]
    assert [tree.attributes(back)["href"] for back in references.backs] == ["#m"]
    assert {tree.tags[holder] for holder in find_holders(tree, references.notes).values()} == {"section"}


QUESTION = '<p>Text that is main.</p><button aria-controls="a">{}</button><div id="a"><p>{}</p></div><p>Menu</p>'
LONG = "It is open on Tuesdays and Thursdays, from the first of May to the last of October, if it does not rain."


@pytest.mark.parametrize(
    ("answer", "main", "found"),
    [
        (LONG, ["Open?"], ["Open?", LONG]),
        (LONG, ["Tuesdays"], ["Open?", LONG]),
        ("Share", ["Open?"], ["Open?"]),
        (LONG, ["Text"], []),
    ],
)
def test_questions_and_their_answers_go_together(answer, main, found):
    assert kept(QUESTION.format("Open?", answer), [*main, "Text"]) == found


POST = '<p>He wrote:</p><blockquote class="{}"><p>The yard fell silent.</p>— Ana B.</blockquote><p>Then it rained.</p>'


@pytest.mark.parametrize(
    ("classes", "main", "found"),
    [
        ("twitter-tweet", ["wrote", "rained"], ["The yard fell silent.", "— Ana B.", "Then it rained."]),
        ("x instagram-media", ["wrote", "rained"], ["The yard fell silent.", "— Ana B.", "Then it rained."]),
        ("twitter-tweet", ["wrote"], []),
        ("admonition note", ["wrote", "rained"], ["The yard fell silent.", "— Ana B.", "Then it rained."]),
        ("tweet", ["wrote", "rained"], ["Then it rained."]),
    ],
)
def test_quoted_posts_are_main_where_their_neighbours_are(classes, main, found):
    assert kept(POST.format(classes), main) == found
    assert len(find_embeds(preprocess(POST.format(classes)).elements)) == (classes != "tweet")


TABLE = "<p>Text before.</p><div><table><tr><th>Wood<tr><td>{}</table></div><p>Text after.</p>"


@pytest.mark.parametrize(
    ("cell", "main", "found"),
    [
        ("Oak", ["Text"], ["Wood Oak", "Text after."]),
        ("Oak", ["before"], []),
        ("<a href=x>Oak</a>", ["Text"], ["Text after."]),
        ("<table><tr><td>Oak</table>", ["Text"], ["Text after."]),
    ],
)
def test_a_data_table_between_main_text_is_main(cell, main, found):
    assert kept(TABLE.format(cell), main) == found


LONG = "Much text of a page, of which a heading is a small part."


@pytest.mark.parametrize(
    ("html", "main", "found"),
    [
        ("<h2>Walls</h2><p>text</p>", ["text"], ["Walls", "text"]),
        ("<div><div><h3>Walls</h3></div><p>text</p></div>", ["text"], ["Walls", "text"]),
        ("<div><h3>Related</h3></div><p>text</p>", ["text"], ["Related", "text"]),
        ("<aside><p>x</p><h3>Related</h3></aside><p>text</p>", ["text"], ["text"]),
        ("<h1>Title</h1><p>text</p>", ["text"], ["text"]),
        ("<h3>Author:</h3><p>a</p><h3>Author:</h3><p>b</p>", ["a", "b"], ["a", "b"]),
        # Headings without content.
        (f"<p>{LONG}</p><h2>More</h2><p>menu</p>", ["text", "More"], [LONG]),
        ("<p>text</p><h2>More</h2><p>menu</p><h3>Sub</h3><p>text", ["text", "More"], ["text", "More", "Sub", "text"]),
        ("<div><h2>Lead</h2><p>menu</p></div><p>text</p>", ["text", "Lead"], ["Lead", "text"]),
        ("<h2>Shots</h2><p>menu <img src=a.png></p>", ["Shots"], ["Shots"]),
        ("<h2>Your order</h2><p>menu <input name=a></p>", ["Shots", "order"], ["Your order"]),
        ("<h2><a href=x>One</a></h2><p>menu</p>", ["One"], ["One"]),
        ("<h2>One</h2><p>menu</p><h2>Two</h2><p>menu</p>", ["One", "Two"], ["One", "Two"]),
    ],
)
def test_headings_go_with_what_they_announce(html, main, found):
    assert kept(f"<p>First.</p>{html}", ["First.", *main]) == found


CARDS = ("One", "Two", "Three")


@pytest.mark.parametrize(
    ("card", "main", "found"),
    [
        ("<li><a href=x>{0}</a><p>text", ["One", "text"], ["One", "text", "Two", "text", "Three", "text"]),
        ("<li><a href=x>{0}</a><p>text", ["text"], ["One", "text", "Two", "text", "Three", "text"]),
        ("<li><a href=x>{0}</a><p>of {0}", ["of One"], ["of One"]),
        ("<li><a href=x>{0}</a><p><a href=x>of {0}</a>", ["of One", "of Two"], ["One", "of One", "Two", "of Two"]),
        ("<li><a href=x>{0}</a><p>menu", ["One"], ["One"]),
        ("<li><b>{0}</b><p>text", ["One", "text"], ["One", "text", "text", "text"]),
        ("<li><a href=x>More</a><p>{0}", ["One", "Two", "Three"], ["One", "Two", "Three"]),
    ],
)
def test_titles_are_kept_if_most_records_have_main_text_behind_them(card, main, found):
    assert kept(f"<p>First.</p><ul>{''.join(map(card.format, CARDS))}</ul>", ["First.", *main]) == found


@pytest.mark.parametrize(
    ("html", "main", "found"),
    [
        # Most of the texts at one place are main.
        ("<ul><li><p>Oak<li><p>Ash<li><p>Elm</ul>", ["Oak", "Elm"], ["Oak", "Ash", "Elm"]),
        ("<ul><li><p>Oak<li><p><a href=x>Ash</a><li><p>Elm</ul>", ["Oak", "Elm"], ["Oak", "Elm"]),
        ("<table><tr><td><p>1<td><p>a<tr><td><p>2<td><p>b<tr><td><p>3<td><p>c</table>", ["1", "3", "a", "b", "c"], 6),
        ("<ul><li><p>Oak<li><p>Ash<li><p>Elm</ul>", ["Oak"], ["Oak"]),
        ("<p class=a>Oak</p><p>Ash</p><p class=b>Elm</p>", ["Oak", "Elm"], ["Oak", "Elm"]),
        # Names of speakers, between main text.
        ("<div><p>Ana<p>Why?</div><div><p>Tom<p>No.</div><div><p>Ana<p>Oh.</div>", ["Why", "No"], 6),
        ("<div><p>Ana<p>Why?</div><div><p>Tom<p>No.</div><div><p>Ana<p>Oh.</div>", ["Why"], ["Why?"]),
        # A list that a colon announces, a term of a definition, and a legend.
        ("<p>Woods:</p><ul><li><p>Oak<li><p>Ash</ul>", ["Woods"], ["Woods:", "Oak", "Ash"]),
        ("<p>Woods</p><ul><li><p>Oak<li><p>Ash</ul>", ["Woods"], ["Woods"]),
        ("<p>See:</p><ul><li><p><a href=x>Oak</a><li><p>Ash</ul>", ["See"], ["See:"]),
        (
            "<dl><dt>Weir<dd><p>A dam.<dt>Sluice<dd><p>A gate.</dl>",
            ["dam", "gate"],
            ["Weir", "A dam.", "Sluice", "A gate."],
        ),
        ("<fieldset><legend>Weir</legend><p>A dam.</fieldset>", ["dam"], ["Weir", "A dam."]),
        ("<fieldset><legend>Weir</legend></fieldset><p>A dam.", ["dam"], ["A dam."]),
        # Controls next to a heading.
        ("<div><h2>Walls</h2><span>[<a href=e>edit</a>]</span></div><p>Oak</p>", ["Oak"], ["Walls", "Oak"]),
        ("<section><h2>Links</h2><a href=e>Home</a></section><p>Oak</p>", ["Oak"], ["Oak"]),
    ],
)
def test_what_belongs_to_main_siblings_lists_and_terms_is_main(html, main, found):
    texts = kept(f"<p>First.</p>{html}<p>Last.</p>", ["First.", *main, "Last."])[:-1]
    assert (len(texts) if isinstance(found, int) else texts) == found


def test_a_page_of_data_alone_keeps_it():
    page = preprocess('<div>{"os":"32KB","cb":12}</div>')
    assert complete(page, [True]).main == [True]


def test_a_page_with_nothing_main_stays_so():
    page = preprocess(f"<h2>a</h2>{TEXT}")
    assert complete(page, [False, False]).main == [False, False]


@pytest.mark.parametrize(
    "piece", ['<sup><a href="#n">1</a></sup>', "<h2>a</h2><p>b</p>", '<div aria-controls="n">', "<x-y>a", "<rt>"]
)
def test_large_pages_are_completed_in_linear_time(piece):
    page = preprocess(f'<p>text</p>{piece * 4_000}<div class="notes" id="n">note</div>')
    assert len(complete(page, [index % 2 == 0 for index in range(len(page.blocks))]).main) == len(page.blocks)


def test_headings_that_are_most_of_what_is_kept_stay() -> None:
    rows = "".join(f"<h3>The ferry {name}</h3><p>{20 * 'It leaves at noon. '}</p>" for name in "abcdef")
    page = preprocess(f"<h1>Ferries</h1>{rows}")
    titles = [block.text.startswith("The ferry") for block in page.blocks]
    assert complete(page, titles).main == titles
