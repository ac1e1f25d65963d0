"""What a parser has open is counted from above, whatever a page does to hide it."""

import random
from itertools import islice

import pytest
from selectolax.lexbor import LexborHTMLParser

from dripper.errors import ErrorCode, PageError
from dripper.html.tree.open_elements import Cost, OpenElements, count_costs
from dripper.html.tree.parser import DEFAULT_LIMITS, refuse_costly
from dripper.warc import to_utf8
from support.constructs import UNENDED
from support.labelled import labelled_pages

_TOKENS = (
    "<p> </p> <div> </div> <span> </span> <i#> </i> <b> </b> <table> </table> <td> </td> <tr> </tr> <caption> </caption> "
    "<select> </select> <option> <input> <template> </template> <svg> </svg> <g> </g> <g/> <x/> <desc> </desc> <title> </title> "
    "<style> </style> <script> </script> <!-- --> <![CDATA[ ]]> <object> </object> <a#> </a> <li> </li> <ul> </ul> <button> "
    "</button> <form> </form> <h1> </h1> <h2> </h2> <x> </x> <math> </math> <mi> </mi> <nobr> </nobr> <tbody> <!x "
    "<foreignObject> </foreignObject> <section> </section> <dd> <dl> </dl> <optgroup> <textarea> </textarea> <annotation-xml> "
    "</annotation-xml> <col> <font#> </font> <marquee> </marquee> <noscript> </noscript> <br> <ruby> <rt> </ruby> <body> </body> "
    "</br> text"
)
TOKENS = _TOKENS.split()
TIMES = 40


def costs_of(html: str) -> Cost:
    return list(count_costs(html.lower()))[-1]


def write_pattern(chance: random.Random) -> str:
    """Return a page that repeats a few tags, which open or hide something, many times."""
    before = chance.choices(TOKENS, k=3) if chance.random() < 0.3 else []
    pattern = "".join(chance.choices(TOKENS, k=chance.randint(2, 7)))
    doctype = "<!doctype html>" * (chance.random() < 0.5)
    return doctype + "".join(before) + "".join(pattern.replace("#", f" class=c{i}") for i in range(TIMES))


def measure(html: str) -> tuple[int, int]:
    """Return the depth and the number of a page's elements."""
    node, depth, deepest, count = LexborHTMLParser(html).root, 0, 0, 0
    while node is not None:
        deepest, count = max(deepest, depth), count + 1
        if node.child is not None:
            node, depth = node.child, depth + 1
            continue
        while node is not None and node.next is None:
            node, depth = node.parent, depth - 1
        node = node.next if node is not None else None
    return deepest, count


def read(html: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Return how many elements were held to be open at most, and how often others were repeated."""
    deepest = 0
    start = OpenElements.start

    def watched(page: OpenElements, name: str, attributes: str) -> int:
        nonlocal deepest
        cost = start(page, name, attributes)
        deepest = max(deepest, len(page._names) + len(page._formatting))
        return cost

    with monkeypatch.context() as patch:
        patch.setattr(OpenElements, "start", watched)
        costs = list(count_costs(html.lower()))
    return deepest, costs[-1].repeats if costs else 0


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 40))])
def test_whatever_is_repeated_no_more_is_open_than_counted(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    for html in (write_pattern(chance) for _ in range(100)):
        (deepest, count), (counted, repeats) = measure(html), read(html, monkeypatch)
        # A row, a cell and the like are not counted beside their table.
        assert deepest < 0.8 * TIMES or 6 * counted >= deepest, html
        more = count - 2 * html.count("<") - 20
        assert more <= 4 * TIMES or 4 * repeats >= more, html


@pytest.mark.parametrize("name", UNENDED)
def test_what_keeps_a_parser_searching_is_refused_before_it_takes_seconds(name: str) -> None:
    with pytest.raises(PageError) as caught:
        refuse_costly(UNENDED[name](1_600_000).encode("utf-8", "ignore"))
    assert caught.value.code is ErrorCode.PARSE_FAILED


@pytest.mark.parametrize("name", [name for name in UNENDED if "i class" in name])
def test_formatting_elements_whose_end_closes_nothing_are_counted(name: str) -> None:
    html = UNENDED[name](12_000).encode()
    _, count = measure(html.decode())
    assert count > 10 * html.count(b"<")
    assert costs_of(html.decode()).repeats > count / 4


@pytest.mark.parametrize("page", labelled_pages(), ids=lambda page: page.id)
def test_real_pages_cost_a_hundredth_of_the_limits(page: "object") -> None:
    costs = costs_of(to_utf8(page.html).utf8.decode("latin-1"))  # type: ignore[attr-defined]
    assert costs.steps < DEFAULT_LIMITS.steps / 100
    assert costs.repeats < DEFAULT_LIMITS.repeats / 100


@pytest.mark.parametrize(
    ("html", "steps"),
    [
        ("<div><div><p>a</p></div></div><div>", 0 + 1 + 2 + 0),
        ("<span><span><div>", 2),
        ("<br><img><div>", 0),
        ("<span><span></x></x>", 2 + 2),
        ("<div><div></x><div></div>", 1 + 2 + 2),
        ("<p><span>a<p>", 2),
        ("<div><!--</div>--><div>", 1),
        ("<div a='</div>'><div>", 1),
        ("<div><script>'</div>'</script><div>", 1),
        ("<table><tr><td><div>a<td><div>", 1 + 1 + 2 + 3 + 2),
        ("<select><option>a<option>b</select><div>", 1 + 2 + 2),
    ],
)
def test_steps_are_the_elements_above_what_searches_them(html: str, steps: int) -> None:
    assert costs_of(html).steps == steps


def test_a_page_is_read_only_as_far_as_it_is_asked() -> None:
    assert [cost.steps for cost in islice(count_costs("<div>" * 1_000_000), 3)] == [0, 1, 3]
