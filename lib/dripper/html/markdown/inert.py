"""Escapes the text of a page for Markdown, so that it forges no tag, link, image, list or emphasis.

Before the conversion every character that could be read as a mark gives way to a stand-in, one of
Unicode's noncharacters, of which a page's own are dropped. So whatever mark is there afterwards is
the converter's, and each stand-in's neighbours say whether its character would be one as well: only
then it is escaped, by a backslash where all renderers know it, else by a reference (`&lt;`).
Emphasis goes the same way: its marks would show where they do not stand at the edge of a word.
"""

import re
import unicodedata
from collections.abc import Sequence
from html import escape

HOLE = "\ufdd2{}\ufdd3"
"""Where a formula, a code span or a destination goes, by its number."""
CODE_BLOCK = "\ufded{}\ufdee"
"""Where the lines of a code block go."""
EMPHASIS = {"strong": ("\ufde6", "\ufde7"), "em": ("\ufde8", "\ufde9"), "del": ("\ufdea", "\ufdeb")}
"""Marks at either end."""
_WRITTEN = {"\ufde6": "**", "\ufde7": "**", "\ufde8": "*", "\ufde9": "*", "\ufdea": "~~", "\ufdeb": "~~"}
_CLOSER = dict(EMPHASIS.values())
_RESERVED = re.compile("[\ufdd0-\ufdef]")
_UNWRITTEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufdd0-\ufdef]")
_SEPARATOR = "\ufdd0"
_FORCED = "\ufdd1"
"""For a line break that does not end a unit."""
_STAND_IN = dict(zip("\\`*_~[]<&|!#+-=:.)>", map(chr, [*range(0xFDD4, 0xFDE6), 0xFDEC]), strict=True))
_BARE = {stand_in: character for character, stand_in in _STAND_IN.items()}
_STAND_INS = re.compile("[\ufdd4-\ufde5\ufdec]")
_MARKED = re.compile("[\ufdd4-\ufdec]")
_HARMLESS = re.compile("[\ufdd5-\ufdda\ufddd-\ufde5\ufdec]")
"""All but those of the backslash, `<` and `&`, of which what follows decides at last."""


def _compile(pattern: str) -> re.Pattern[str]:
    """Return an expression in which `{x}` is the stand-in for the character x."""
    return re.compile(re.sub(r"\{([^A-Za-z0-9,])\}", lambda match: _STAND_IN[match[1]], pattern))


_ANYWHERE = "\\`*_~[]|"
# The converter takes a no-break space at a line's start away.
_AT_START = re.compile(f"({_SEPARATOR}(?=[ \u00a00-9.)+=:#>-])[ \u00a0]*[0-9]{{0,9}})([.)]|(?<![0-9])[-+=:#>])")
_AT_END = re.compile(f"!(?={_SEPARATOR})|#(?= *{_SEPARATOR})")
_DESTINATION = re.compile(r"\]\((\d+)\)")
_HOLE = re.compile("\ufdd2(\\d+)\ufdd3")
_FENCE = re.compile("```([^\n`]*)\n([^\n\ufded]*)\ufded(\\d+)\ufdee\n[^\n`]*```")
_STRAY_BLOCK = re.compile("(?:``` *)?\ufded(\\d+)\ufdee(?: *```)?")
_MANY_LINES = re.compile(r"\n\n\n+")
_EDGE = re.compile("([\ufde6-\ufdeb])")
_EMPTY = re.compile("\ufde6(\\s*)\ufde7|\ufde8(\\s*)\ufde9|\ufdea(\\s*)\ufdeb")
_RENEWED = re.compile("\ufde7([ \u00a0]*)\ufde6|\ufde9([ \u00a0]*)\ufde8|\ufdeb([ \u00a0]*)\ufdea")
_ANY_TILDE = ("~", _STAND_IN["~"])
_MOST_LAYERS = 8
"""Of marks that end and begin again at one place: what is deeper stays as it is, or is left out."""
_STRUCTURE = frozenset("[]!\\<>`|*~;\n\ufdd2\ufdd3" + _STAND_IN["<"] + _STAND_IN["&"])
"""Real marks, and characters that make others something: emphasis cannot give them up as it does
punctuation at its edge."""
_PREFIX = re.compile(r"(?:[ >]|[-+*] |\d{1,9}[.)] )*(#{1,6} )?")
_LIST = _compile(r"([0-9]{1,9})([{.}{)}])(?=\s|$)")
_BULLET = _compile(r"[{-}{+}{*}](?=\s|$)")
_RULE = _compile(r"([{*}{_}{-}-])[ \t]*(?:[{*}{_}{-}-][ \t]*){2,}$")
_UNDERLINE = _compile(r"[{=}=]=*[ \t]*$")
_DELIMITERS = _compile(r"[ \t|:{|}{:}{-}-]*$")
_DASH = _compile(r"[{-}-]")
_BAR = _compile("{|}")
_TASK = _compile(r"{[}[ xX]{]}")
_WORD_IN_BRACKETS = _compile(r"{[}[^{[}{]}\[\]\n]*{]}(?![:(])")
"""At a line's start other brackets may begin the definition of a link, some renderers think over
empty lines."""
_STARS = _compile(r"{*}+")
_LINES = _compile(r"{_}+")
_TILDES = _compile(r"{~}+")
_TICKS = _compile(r"{`}+")
_BRACKETS = _compile(r"(?<!\\)[\[\]]|{[}[^{[}{]}\[\]\\\n]*{]}(?![(\[:])|[{[}{]}]")
_BACKSLASH = _compile("{\\}(?=[!-/:-@\\[-`{-~\ufdd2{\\}{<}{&}\n]|$)")
_TAG = _compile(r"{<}(?=[A-Za-z/!?]|[^\s<>{<}]*@)")
_ENTITY = _compile("{&}(?=#?[A-Za-z0-9]{1,40};)")
_CLOSING_HASH = re.compile(r"(?<![\\#])#+(?=\s*$)")
_PLAIN_ADDRESS = re.compile(r"[!#%'*-;=?-Z_a-z~]*")
_ENTITY_IN_ADDRESS = re.compile("&(?=#?[A-Za-z0-9]{1,40};)")


def drop_reserved(text: str) -> str:
    """Return a page's characters without those that stand for something here."""
    return _RESERVED.sub("", text)


def has_reserved(text: str) -> bool:
    """Tell whether one of those is there."""
    return _RESERVED.search(text) is not None


def drop_unwritten(text: str) -> str:
    """Return a page's characters without those, and without control characters, of which no
    Markdown is made."""
    return _UNWRITTEN.sub("", text)


def has_unwritten(text: str) -> bool:
    """Tell whether one of those is there."""
    return _UNWRITTEN.search(text) is not None


def mask_marks_in_texts(texts: list[str]) -> list[str]:
    """Return serialised texts with stand-ins for what could be a mark, wherever they end up, and
    blanks for the source's line breaks, which say nothing."""
    joined = _SEPARATOR + _SEPARATOR.join(texts) + _SEPARATOR
    for character in "\n\t\r\f":
        if character in joined:
            joined = joined.replace(character, " ")
    if "&" in joined:
        joined = joined.replace("&lt;", _STAND_IN["<"]).replace("&gt;", ">").replace("&quot;", '"')
        joined = joined.replace("&nbsp;", "\u00a0").replace("&amp;", _STAND_IN["&"]).replace("&", _STAND_IN["&"])
    for character in _ANYWHERE:
        if character in joined:
            joined = joined.replace(character, _STAND_IN[character])
    joined = _AT_START.sub(lambda match: match[1] + _STAND_IN[match[2]], joined)
    if "!" in joined or "#" in joined:
        joined = _AT_END.sub(lambda match: _STAND_IN[match[0]], joined)
    return joined[1:-1].split(_SEPARATOR)


def mask_marks(text: str) -> str:
    """Return characters with stand-ins, ready for a text or a value of HTML."""
    return escape(_mask_line(text))


def write_inert_line(text: str, before: str = "") -> str:
    """Return characters as one line of Markdown that shows them and nothing else, after `before`,
    the line's own mark.

    >>> write_inert_line("<b> of [a](b), snake_case, 2 * 3", "# ")
    '# &lt;b> of [a\\\\](b), snake_case, 2 * 3'
    """
    return replace_stand_ins(before + _mask_line(text), [])


def _mask_line(text: str) -> str:
    text = " ".join(drop_reserved(text).split())
    return mask_marks_in_texts([text.replace("&", "&amp;").replace("<", "&lt;")])[0]


def write_code_span(code: str) -> str:
    """Return characters as a code span; "" where there are only blanks.

    >>> write_code_span("a`b")
    '``a`b``'
    """
    code = " ".join(code.split())
    fence = "`" * (1 + _count_ticks(code))
    return f"{fence} {code} {fence}" if code[:1] == "`" or code[-1:] == "`" else f"{fence}{code}{fence}" if code else ""


def is_plain(address: str) -> bool:
    """Tell whether an address can stand in a destination as it is."""
    return _PLAIN_ADDRESS.fullmatch(address) is not None


_NO_WORDS = re.compile(r"[\W_]+")


def leave_marks(text: str) -> str:
    """Return the words of a text, in one case: equal for texts that say the same.

    >>> leave_marks("Rain, in Bergen!")
    'rain in bergen'
    """
    return _NO_WORDS.sub(" ", text).strip().casefold()


def write_destination(address: str, title: str, text: str = "") -> str:
    """Return an address, and the title of an image or a link, as they stand between the
    parentheses; without a title that says the same as `text`, between the brackets."""
    if title and leave_marks(title) in ("", leave_marks(text)):
        title = ""
    if not is_plain(address):
        if re.search(r"\)", re.sub(r"\([^()]*\)", "", address)) or "(" in re.sub(r"\([^()]*\)", "", address):
            address = address.replace("(", "%28").replace(")", "%29")
        address = re.sub(
            r"""[\s<>"\\`|\[\]]""", lambda match: f"%{ord(match[0]):02X}" if match[0] < "\x7f" else "", address
        )
        address = _ENTITY_IN_ADDRESS.sub("&amp;", drop_reserved(address))
    title = " ".join(drop_reserved(title).split())
    return f'{address} "{re.sub(_IN_TITLE, _write_reference, title)}"' if title else address


_IN_TITLE = re.compile(r"""["&<>\\`|*_\[\]~]""")


def _write_reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def replace_stand_ins(markdown: str, holes: Sequence[str]) -> str:
    """Return Markdown with characters in place of their stand-ins, escaped where they would be
    marks, and with its holes filled. Linear in what it returns."""
    if not has_reserved(markdown) and not holes:
        return markdown
    # cmark-gfm takes [^ of a link for a footnote.
    markdown = _DESTINATION.sub(lambda match: f"](\ufdd2{match[1]}\ufdd3)", markdown).replace("[^", "[&#94;")
    units = markdown.replace("  \n", f"  {_FORCED}").split("\n")
    markdown = "\n".join(unit if unit.isascii() else _escape_unit(unit.replace(_FORCED, "\n"), holes) for unit in units)
    # Empty lines say no more than one; there may be several where emphasis held nothing.
    markdown = _MANY_LINES.sub("\n\n", markdown)
    markdown = _HOLE.sub(lambda hole: holes[int(hole[1])], markdown)
    markdown = _FENCE.sub(lambda match: _write_fenced(match, holes), markdown)
    # Where there is no room for lines, as in a heading.
    return (
        _STRAY_BLOCK.sub(lambda match: write_code_span(holes[int(match[1])]), markdown)
        if "\ufded" in markdown
        else markdown
    )


def _write_fenced(match: re.Match[str], holes: Sequence[str]) -> str:
    language, indent, number = match.groups()
    code = holes[int(number)]
    fence = "`" * max(3, 1 + _count_ticks(code))
    lines = "\n".join((indent + line).rstrip() if not line else indent + line for line in [*code.split("\n"), fence])
    return f"{fence}{language}\n{lines}"


def _count_ticks(code: str) -> int:
    return max(map(len, re.findall("`+", code)), default=0)


def _escape_unit(unit: str, holes: Sequence[str]) -> str:
    """Settle what a renderer reads together: a paragraph with its forced line breaks, a heading, an
    item's line, or a row of a table, the only one that has a real `|`."""
    if "|" not in unit:
        return _escape_inline(unit, holes) if _MARKED.search(unit) else unit
    cells = (cell if cell.isascii() else _escape_inline(cell, holes, in_table=True) for cell in unit.split("|"))
    return _HOLE.sub(lambda hole: holes[int(hole[1])].replace("|", "\\|"), "|".join(cells))


def _escape_inline(unit: str, holes: Sequence[str], *, in_table: bool = False) -> str:
    if _EDGE.search(unit):
        unit = _write_emphasis(unit)
        # A blank of the emphasis, now behind it.
        unit = unit if in_table else unit.rstrip(" ")
    return _escape_text(unit, holes, in_table=in_table) if _STAND_INS.search(unit) else unit


def _escape_text(unit: str, holes: Sequence[str], *, in_table: bool) -> str:
    inside = "".join(holes[int(number)] for number in _HOLE.findall(unit))
    if not in_table:
        lines = unit.split("\n")
        unit = "\n".join(_escape_start(line, is_first=not index) for index, line in enumerate(lines))
    # Python-Markdown pairs backticks of different cells.
    unit = _escape_pairs(unit, inside + "`" if in_table else inside)
    if _STAND_IN["]"] in unit or _STAND_IN["["] in unit:
        unit = _escape_brackets(unit)
    unit = unit.replace(_STAND_IN["!"] + "[", "\\![")
    if in_table:
        unit = unit.replace(_STAND_IN["|"], "\\|")
    unit = _HARMLESS.sub(lambda match: _BARE[match[0]], unit)
    if _STAND_INS.search(unit):
        unit = _ENTITY.sub("&amp;", _TAG.sub("&lt;", _BACKSLASH.sub(r"\\\\", unit)))
        unit = _STAND_INS.sub(lambda match: _BARE[match[0]], unit)
    if (
        "#" in unit
        and not in_table
        and (end := _CLOSING_HASH.search(unit))
        and (prefix := _PREFIX.match(unit))
        and prefix[1]
    ):
        unit = unit if end.start() < prefix.end() else unit[: end.end() - 1] + "\\#"
    return unit


def _escape_start(line: str, *, is_first: bool) -> str:
    """Escape what would begin a list, a quotation, a heading, a rule, an underline, the second line
    of a table, or the definition of a link."""
    prefix = _PREFIX.match(line)
    assert prefix is not None
    start, rest = prefix.end(), line[prefix.end() :]
    first = _BARE.get(rest[:1], "")
    if prefix[1] or not (first or rest[:1].isdigit()):
        return line
    if first == "[":
        if not _WORD_IN_BRACKETS.match(rest) or (start and _TASK.match(rest)):
            return f"{line[:start]}\\[{rest[1:]}"
    elif (first and first in "#>") or _BULLET.match(rest) or _RULE.match(rest):
        return f"{line[:start]}\\{first}{rest[1:]}"
    elif match := _LIST.match(rest):
        return f"{line[:start]}{match[1]}\\{_BARE[match[2]]}{rest[match.end() :]}"
    elif not is_first and _UNDERLINE.match(rest):
        return f"{line[:start]}&#61;{rest[1:]}"
    elif _DELIMITERS.match(rest) and (not is_first or _STAND_IN["|"] in rest):
        sign = _DASH.search(rest) or _BAR.search(rest)
        if sign is not None:
            return f"{line[:start]}{rest[: sign.start()]}\\{_BARE.get(sign[0], sign[0])}{rest[sign.end() :]}"
    return line


def _escape_pairs(unit: str, inside: str) -> str:
    """Escape stars, underlines, tildes and backticks that could pair.

    inside: what the unit's holes hold.
    """
    # Beside forced line breaks blanks are none to Python-Markdown.
    has_breaks = "\n" in unit
    if _STAND_IN["*"] in unit:
        runs = list(_STARS.finditer(unit))
        marks = sum(has_breaks or not _stands_alone(unit, run) for run in runs)
        if marks > 1 or "*" in unit or (marks and "*" in inside):
            unit = _escape_runs(unit, runs, "\\*")
    if _STAND_IN["_"] in unit:
        runs = [run for run in _LINES.finditer(unit) if not _stands_in_word(unit, run)]
        marks = sum(has_breaks or not _stands_alone(unit, run) for run in runs)
        if marks > 1 or (marks and "_" in inside):
            unit = _escape_runs(unit, runs, "\\_")
    if _STAND_IN["~"] in unit:
        runs = list(_TILDES.finditer(unit))
        opens = [match.start() for match in runs if unit[match.end() : match.end() + 1].strip()]
        closes = [match.start() for match in runs if unit[match.start() - 1 : match.start()].strip()]
        is_fence = any(len(match[0]) > 2 for match in runs)
        if is_fence or "~" in unit + inside or (opens and closes and opens[0] < closes[-1]):
            # Not all renderers know an escaped tilde.
            unit = _escape_runs(unit, runs, "&#126;")
    if _STAND_IN["`"] in unit:
        runs = list(_TICKS.finditer(unit))
        if len(runs) > 1 or len(runs[0][0]) > 2 or "`" in inside:
            unit = _escape_runs(unit, runs, "\\`")
    return unit


def _stands_alone(unit: str, run: re.Match[str]) -> bool:
    """Tell whether blanks stand on both sides of a run."""
    return not unit[run.start() - 1 : run.start()].strip() and not unit[run.end() : run.end() + 1].strip()


def _stands_in_word(unit: str, run: re.Match[str]) -> bool:
    return unit[run.start() - 1 : run.start()].isalnum() and unit[run.end() : run.end() + 1].isalnum()


def _escape_runs(unit: str, runs: list[re.Match[str]], escaped: str) -> str:
    parts, position = list[str](), 0
    for run in runs:
        parts += [unit[position : run.start()], escaped * len(run[0])]
        position = run.end()
    return "".join([*parts, unit[position:]])


def _escape_brackets(unit: str) -> str:
    """Escape brackets inside the text of a link, where they would end it, and before a parenthesis,
    where they would begin a destination. A pair inside a link is no danger: `[[1]](#note)`."""
    depth = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal depth
        bracket = match[0]
        if bracket in "[]":
            depth = max(0, depth + (1 if bracket == "[" else -1))
            return bracket
        if len(bracket) > 1:
            return f"[{bracket[1:-1]}]"
        character = _BARE[bracket]
        begins = character == "]" and unit[match.end() : match.end() + 1] == "("
        return f"\\{character}" if depth or begins else character

    return _BRACKETS.sub(replaced, unit)


def _write_emphasis(unit: str) -> str:
    """Write the marks of emphasis where all renderers read them as such, give punctuation up where
    that helps, and leave them out elsewhere."""
    is_inside = unit[0] not in _CLOSER
    for _ in range(_MOST_LAYERS):
        before = unit
        unit = _EMPTY.sub(lambda match: "".join(filter(None, match.groups())), unit)
        unit = _RENEWED.sub(lambda match: "".join(filter(None, match.groups())), unit)
        if unit == before:
            break
    pieces = _EDGE.split(unit)
    pairs = _pair_marks(pieces)
    paired = {index for pair in pairs for index in pair}
    for index in range(1, len(pieces), 2):
        if index not in paired:
            pieces[index] = ""
    _move_blanks(pieces)
    for first, last in pairs:
        _settle_pair(pieces, first, last)
    text = "".join(_WRITTEN.get(piece, piece) for piece in pieces)
    return text if is_inside else text.lstrip(" ")


def _pair_marks(pieces: list[str]) -> list[tuple[int, int]]:
    """Return where marks open and close, the inner pairs first; what has no other end, or stands
    within its like, is in no pair."""
    pairs, stack = list[tuple[int, int]](), list[int]()
    for index in range(1, len(pieces), 2):
        mark = pieces[index]
        if mark in _CLOSER:
            stack.append(index)
            continue
        while stack and mark in (_CLOSER[pieces[i]] for i in stack):
            first = stack.pop()
            if _CLOSER[pieces[first]] == mark:
                if all(pieces[i] != pieces[first] for i in stack):
                    pairs.append((first, index))
                break
    return pairs


def _move_blanks(pieces: list[str]) -> None:
    """Move blanks at the edges out of emphasis, in place."""
    for index in range(len(pieces) - 2, 0, -2):
        if pieces[index] in _CLOSER:
            bare = pieces[index + 1].lstrip()
            if not pieces[index - 1].endswith(" "):
                pieces[index - 1] += pieces[index + 1][: len(pieces[index + 1]) - len(bare)]
            pieces[index + 1] = bare
    for index in range(1, len(pieces), 2):
        if pieces[index] and pieces[index] not in _CLOSER:
            bare = pieces[index - 1].rstrip()
            if not pieces[index + 1].startswith(" "):
                pieces[index + 1] = pieces[index - 1][len(bare) :] + pieces[index + 1]
            pieces[index - 1] = bare


def _settle_pair(pieces: list[str], first: int, last: int) -> None:
    """Move punctuation out of a pair until it stands at the edges of words, in place; else the pair
    goes."""
    inner, moved = pieces[first + 1], 0
    outer, following = _last(pieces, first), inner[:1] or _next(pieces, first)
    while moved < len(inner) and inner[moved] not in _STRUCTURE and not _is_edge(following, outer):
        outer, moved = inner[moved], moved + 1
        following = inner[moved : moved + 1] or _next(pieces, first + 1)
    opens = _is_edge(following, outer)
    pieces[first - 1], pieces[first + 1] = pieces[first - 1] + inner[:moved], inner[moved:]
    inner = pieces[last - 1]
    cut = len(inner)
    outer, before = _next(pieces, last), inner[-1:] or _last(pieces, last)
    is_end_of_link = inner.endswith("\ufdd3)")
    while cut and inner[cut - 1] not in _STRUCTURE and not _is_edge(before, outer) and not is_end_of_link:
        outer, cut = inner[cut - 1], cut - 1
        before = inner[cut - 1 : cut] or _last(pieces, last - 1)
        is_end_of_link = inner.endswith("\ufdd3)", 0, cut)
    pieces[last - 1], pieces[last + 1] = inner[:cut], inner[cut:] + pieces[last + 1]
    # A mark right behind another's end would be read as one with it.
    begins_late = (
        not pieces[first - 1] and pieces[first - 2 : first - 1] not in ([], [""]) and pieces[first - 2] not in _CLOSER
    )
    if not opens or begins_late or not _is_edge(before, outer) or not any(pieces[first + 1 : last : 2]):
        pieces[first] = pieces[last] = ""


def _is_edge(inner: str, outer: str) -> bool:
    """Tell whether a mark between an inner and an outer character is one of emphasis. (cmark-gfm
    looks through tildes.)"""
    if inner in _ANY_TILDE or outer in _ANY_TILDE:
        return False
    return bool(inner.strip()) and (not _may_be_punctuation(inner) or not outer.strip() or _is_punctuation(outer))


def _may_be_punctuation(character: str) -> bool:
    return not character.isalnum()


def _is_punctuation(character: str) -> bool:
    """Of all versions of CommonMark: before 0.31 symbols outside of ASCII were none."""
    if character.isascii():
        return not character.isalnum()
    return has_reserved(character) or unicodedata.category(character)[0] == "P"


def _next(pieces: list[str], index: int) -> str:
    """Return the first character after a piece that is no mark, "" at the end."""
    for i in range(index + 1, len(pieces)):
        if pieces[i] and pieces[i] not in _WRITTEN:
            return pieces[i][0]
    return ""


def _last(pieces: list[str], index: int) -> str:
    for i in range(index - 1, -1, -1):
        if pieces[i] and pieces[i] not in _WRITTEN:
            return pieces[i][-1]
    return ""
