"""Escapes text for Markdown, so that a page's text cannot become a tag, link, image or list.

A unit is text that a renderer reads as a whole: a paragraph with its forced line breaks, a heading,
or a cell. In a unit, the writer's marks are Unicode noncharacters; the page's own noncharacters are
dropped. Every character that looks like Markdown therefore comes from the page.

Such a character is escaped only if its neighbours would make a renderer read it as a mark. The
escape is a backslash if all renderers support it, otherwise a character reference (`&lt;`).
Emphasis marks are left out if a renderer would show them as characters.
"""

import re
import unicodedata
from collections.abc import Sequence

from dripper.tree.lines import join_lines

HOLE = "\ufdd2{}\ufdd3"
"""A numbered placeholder for code, a formula or a checkbox."""
LINK, IMAGE, TARGET = "\ufdd4", "\ufdd5{}\ufdd3", "\ufdd6{}\ufdd3"
"""Marks for the start of a link's text, the start of an image's text, and the end of either text.
An image mark contains the number of the image's element, and remains in the written unit. An end
mark contains the number of the hole with the destination."""
EMPHASIS = {"strong": ("\ufde6", "\ufde7"), "em": ("\ufde8", "\ufde9"), "del": ("\ufdea", "\ufdeb")}
"""The opening and closing mark of each kind of emphasis."""
OPENERS = "\ufde6\ufde8\ufdea"
_MARKS = "\ufde6-\ufdeb"
_WRITTEN = {"\ufde6": "**", "\ufde7": "**", "\ufde8": "*", "\ufde9": "*", "\ufdea": "~~", "\ufdeb": "~~"}
_CLOSER = dict(EMPHASIS.values())
_RESERVED = re.compile("[\ufdd0-\ufdef]")
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\ufdd0-\ufdef]")
"""Control characters, invisible characters, and the characters that this module uses as marks.
Joiners and direction marks are kept."""
_MAY_WRAP = re.compile("\n\\s*[\u2e80-\uffff]")
"""A line break in the HTML source before Han or kana."""
_SPECIAL = re.compile("[\\\\`*_~\\[\\]<&|!#\n\ufdd2-\ufdeb]")
_STARTS = frozenset("[#>-+=:|*_ 0123456789")
_HOLES = re.compile("\ufdd2(\\d+)\ufdd3")
_ENDS = re.compile("([\ufdd2\ufdd6])(\\d+)\ufdd3")
_EDGE = re.compile(f"([{_MARKS}])")
_EMPTY = re.compile("\ufde6([\\s\u00a0]*)\ufde7|\ufde8([\\s\u00a0]*)\ufde9|\ufdea([\\s\u00a0]*)\ufdeb")
_RENEWED = re.compile("\ufde7([ \u00a0]*)\ufde6|\ufde9([ \u00a0]*)\ufde8|\ufdeb([ \u00a0]*)\ufdea")
_MOST_LAYERS = 8
"""Maximum number of nested emphasis layers that are joined if they end and begin again at the same
position."""
_STRUCTURE = frozenset("\\<>&;\n\ufdd2\ufdd3\ufdd4\ufdd5\ufdd6")
"""Characters that are never moved out of emphasis: marks, and characters that change the meaning of
the text after them. Other punctuation may be moved out."""
_LIST = re.compile(r"([0-9]{1,9})([.)])(?=\s|$)")
_BULLET = re.compile(r"[-+*](?=\s|$)")
_RULE = re.compile(r"([*_-])[ \t]*(?:[*_-][ \t]*){2,}$")
_UNDERLINE = re.compile(r"==*[ \t]*$")
_DELIMITERS = re.compile(r"[ \t|:-]*$")
_TASK = re.compile(r"\[[ xX]\]")
_WORD_IN_BRACKETS = re.compile(f"\\[[^\\[\\]\n{LINK}{IMAGE[0]}{TARGET[0]}]*\\](?![:(])")
"""Brackets that are harmless at the start of a line. Other brackets may begin a link definition,
which in some renderers continues across empty lines."""
_STARS, _LINES, _TILDES, _TICKS = map(re.compile, (r"\*+", "_+", "~+", "`+"))
_PRICE = re.compile(r"\$(?=\s?[0-9])")
_BRACKETS = re.compile(
    f"[{LINK}{IMAGE[0]}]|{TARGET[0]}|\\[[^\\[\\]\\\\\n{LINK}{IMAGE[0]}{TARGET[0]}]*\\](?![(\\[:])|[\\[\\]]"
)
_BACKSLASH = re.compile("\\\\(?=[!-/:-@\\[-`{-~\ufdd2-\ufdeb\n]|$)")
_TAG = re.compile(r"<(?=[A-Za-z/!?]|[^\s<>]*@)")
_ENTITY = re.compile("&(?=#?[A-Za-z0-9]{1,40};)")
_CLOSING_HASH = re.compile(r"(?<![\\#])#+(?=\s*$)")
_PLAIN_ADDRESS = re.compile(r"[!#%'*-;=?-Z_a-z~]*")
_IN_TITLE = re.compile(r"""["&<>\\`|*_\[\]~]""")
_IN_BRACKETS = re.compile(f"{LINK}\\[([^\\[\\]]*)\\](?={TARGET[0]})")
"""A link with brackets around its whole text. Obsidian and Logseq read `[[1]](…)` as a wiki
link."""
_NO_WORDS = re.compile(r"[\W_]+")


def drop_unseen(text: str) -> str:
    """Return a page's text without invisible characters and without the characters that this module
    uses as marks. Two lines of Han or kana are joined.

    >>> drop_unseen("För\\u00adder \\u6c34\\n\\u8eca")
    'Förder \\u6c34\\u8eca'
    """
    return text if text.isascii() and text.isprintable() else join_lines(_UNSEEN.sub("", text))


def drop_unseen_in_all(texts: list[str]) -> list[str]:
    """Apply `drop_unseen` to each text."""
    joined = "".join(texts)
    is_clean = not _UNSEEN.search(joined) and (joined.isascii() or not _MAY_WRAP.search(joined))
    return texts if is_clean else list(map(drop_unseen, texts))


def leave_marks(text: str) -> str:
    """Case-fold text and remove its punctuation, to compare strings by their wording.

    >>> leave_marks("Rain, in Bergen!")
    'rain in bergen'
    """
    return _NO_WORDS.sub(" ", text).strip().casefold()


def write_code_span(code: str) -> str:
    """Return text as a code span; "" if the text is blank.

    >>> write_code_span("a`b")
    '``a`b``'
    """
    code = " ".join(code.split())
    fence = "`" * (1 + count_ticks(code))
    return f"{fence} {code} {fence}" if code[:1] == "`" or code[-1:] == "`" else f"{fence}{code}{fence}" if code else ""


def count_ticks(code: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, _TICKS.findall(code)), default=0)


def is_plain(address: str) -> bool:
    """Return whether a URL needs no escaping as a link destination."""
    return _PLAIN_ADDRESS.fullmatch(address) is not None


def write_destination(address: str, title: str, text: str = "") -> str:
    """Return the part of a link or image between the parentheses: the URL and the title. The title
    is left out if it repeats `text`, the part between the brackets."""
    if title and leave_marks(title) in ("", leave_marks(text)):
        title = ""
    if not is_plain(address):
        if re.search(r"\)", re.sub(r"\([^()]*\)", "", address)) or "(" in re.sub(r"\([^()]*\)", "", address):
            address = address.replace("(", "%28").replace(")", "%29")
        address = re.sub(
            r"""[\s<>"\\`|\[\]]""", lambda match: f"%{ord(match[0]):02X}" if match[0] < "\x7f" else "", address
        )
        address = _ENTITY.sub("&amp;", _RESERVED.sub("", address))
    title = " ".join(_RESERVED.sub("", title).split())
    return f'{address} "{_IN_TITLE.sub(_write_reference, title)}"' if title else address


def _write_reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def write_inert_line(text: str, before: str = "") -> str:
    """Return one line of Markdown: the mark `before`, then text that is shown literally.

    >>> write_inert_line("<b> of [a](b), snake_case, 2 * 3", "# ")
    '# &lt;b> of [a\\\\](b), snake_case, 2 * 3'
    """
    return before + write_unit(" ".join(drop_unseen(text).split()), (), mark=before)


def write_unit(unit: str, holes: Sequence[str], mark: str = "", *, in_table: bool = False) -> str:
    """Return a unit as Markdown: escape characters that would be read as marks, write the unit's
    marks, and fill its holes. Takes time linear in the length of the result.

    Args:
        mark: The heading or item mark before the unit on its line, or "".
    """
    if not _SPECIAL.search(unit) and (mark[:1] == "#" or unit[:1] not in _STARTS):
        return unit
    if _EDGE.search(unit):
        unit = _settle_emphasis(unit).strip(" \n")
    inside = "".join(holes[int(number)] for number in _HOLES.findall(unit)) if "\ufdd2" in unit else ""
    if "\\" in unit:
        unit = _BACKSLASH.sub(r"\\\\", unit)
    if "&" in unit or "<" in unit:
        unit = _TAG.sub("&lt;", _ENTITY.sub("&amp;", unit))
    # Python-Markdown pairs backticks across cells.
    unit = _escape_pairs(unit, inside + "`" if in_table else inside)
    if "[" in unit or "]" in unit:
        unit = _escape_brackets(unit)
    if "!" in unit:
        unit = unit.replace(f"!{LINK}", f"\\!{LINK}")
    if in_table:
        unit = unit.replace("|", "\\|")
    elif mark[:1] == "#":
        if end := _CLOSING_HASH.search(unit):
            unit = f"{unit[: end.end() - 1]}\\#" if end.start() else unit
    elif "\n" not in unit:
        unit = _escape_start(unit, mark, is_first=True)
    else:
        lines = unit.split("\n")
        unit = "  \n".join(_escape_start(line.strip(" "), mark, is_first=not index) for index, line in enumerate(lines))
    if unit.isascii():
        return unit
    if f"{LINK}[" in unit:
        unit = _IN_BRACKETS.sub(rf"{LINK}\\[\1\\]", unit)
    unit = _EDGE.sub(_write_mark, unit.replace(f"{LINK}^", f"{LINK}&#94;").replace(LINK, "["))
    if "\ufdd3" not in unit:
        return unit

    def fill(match: re.Match[str]) -> str:
        hole = holes[int(match[2])] if match[1] == "\ufdd2" else f"]({holes[int(match[2])]})"
        return hole.replace("|", "\\|") if in_table else hole

    return _ENDS.sub(fill, unit)


def _write_mark(match: re.Match[str]) -> str:
    return _WRITTEN[match[0]]


def _escape_start(line: str, mark: str, *, is_first: bool) -> str:
    """Escape the start of a line that would begin a list, a quotation, a heading, a rule, an
    underline, the second line of a table, or a link definition."""
    first = line[:1]
    if first not in _STARTS:
        return line
    if first == "[":
        return line if _WORD_IN_BRACKETS.match(line) and not (mark and _TASK.match(line)) else f"\\{line}"
    if first in ("#", ">") or _BULLET.match(line) or _RULE.match(line):
        return f"\\{line}"
    if match := _LIST.match(line):
        return f"{match[1]}\\{line[match.end() - 1 :]}"
    if not is_first and _UNDERLINE.match(line):
        return f"&#61;{line[1:]}"
    if line and _DELIMITERS.match(line) and (not is_first or "|" in line):
        at = line.find("-")
        at = at if at >= 0 else line.find("|")
        return f"{line[:at]}\\{line[at:]}" if at >= 0 else line
    return line


def _escape_pairs(unit: str, inside: str) -> str:
    """Escape stars, underscores, tildes, dollar signs and backticks that could form pairs.

    Args:
        inside: The content of the unit's holes.
    """
    # Python-Markdown does not treat spaces next to forced line breaks as spaces.
    has_breaks = "\n" in unit
    if "*" in unit:
        runs = list(_STARS.finditer(unit))
        marks = sum(has_breaks or not _stands_alone(unit, run) for run in runs)
        if marks > 1 or (marks and ("*" in inside or not _UNSTARRED.isdisjoint(unit))):
            unit = _escape_runs(unit, runs, "\\*")
    if "_" in unit:
        runs = [run for run in _LINES.finditer(unit) if not _stands_in_word(unit, run)]
        marks = sum(has_breaks or not _stands_alone(unit, run) for run in runs)
        if marks > 1 or (marks and "_" in inside):
            unit = _escape_runs(unit, runs, "\\_")
    if "~" in unit:
        runs = list(_TILDES.finditer(unit))
        opens = [match.start() for match in runs if unit[match.end() : match.end() + 1].strip()]
        closes = [match.start() for match in runs if unit[match.start() - 1 : match.start()].strip()]
        is_fence = any(len(match[0]) > 2 for match in runs)
        if is_fence or "~" in inside or "\ufdea" in unit or (opens and closes and opens[0] < closes[-1]):
            # Not all renderers support escaped tildes.
            unit = _escape_runs(unit, runs, "&#126;")
    if "$" in unit and "$" in inside:
        # Some renderers read the text between two prices as a formula.
        unit = _PRICE.sub("&#36;", unit)
    if "`" in unit:
        runs = list(_TICKS.finditer(unit))
        if len(runs) > 1 or len(runs[0][0]) > 2 or "`" in inside:
            unit = _escape_runs(unit, runs, "\\`")
    return unit


_UNSTARRED = frozenset("\ufde6\ufde8")
"""Marks that become stars."""


def _stands_alone(unit: str, run: re.Match[str]) -> bool:
    """Return whether a run has white space, or nothing, on each side."""
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
    """Escape three kinds of brackets: brackets inside a link's text, which would end the text;
    brackets before a parenthesis, which would begin a destination; and the brackets of a footnote
    mark. A complete pair of brackets inside a link is harmless: `[[1]](#note)`."""
    depth = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal depth
        bracket = match[0]
        if bracket in (LINK, IMAGE[0]):
            depth += 1
        elif bracket == TARGET[0]:
            depth = max(0, depth - 1)
        elif bracket[:2] == "[^":
            return f"\\{bracket[:-1]}\\]"
        elif len(bracket) == 1:
            begins = f"{bracket}{unit[match.end() : match.end() + 1]}" in ("](", "[^")
            return f"\\{bracket}" if depth or begins else bracket
        return bracket

    return _BRACKETS.sub(replaced, unit)


def _settle_emphasis(unit: str) -> str:
    """Keep the emphasis marks that all renderers read as emphasis, and remove the others.
    Punctuation at an edge is moved out of the emphasis if that helps."""
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
    return "".join(pieces)


def _pair_marks(pieces: list[str]) -> list[tuple[int, int]]:
    """Return the positions of paired opening and closing marks, inner pairs first. A mark without a
    partner, or inside a pair of the same kind, is not paired."""
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
    """Change `pieces` so that emphasis neither begins nor ends with white space."""
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
    """Change `pieces`: move punctuation out of a pair of marks until both marks are at word
    boundaries. If that is not possible, remove the pair."""
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
    while cut and inner[cut - 1] not in _STRUCTURE and not _is_edge(before, outer):
        outer, cut = inner[cut - 1], cut - 1
        before = inner[cut - 1 : cut] or _last(pieces, last - 1)
    pieces[last - 1], pieces[last + 1] = inner[:cut], inner[cut:] + pieces[last + 1]
    # Renderers would read a closing mark and an opening mark right after it as a single mark.
    begins_late = (
        not pieces[first - 1] and pieces[first - 2 : first - 1] not in ([], [""]) and pieces[first - 2] not in _CLOSER
    )
    if not opens or begins_late or not _is_edge(before, outer) or not any(pieces[first + 1 : last : 2]):
        pieces[first] = pieces[last] = ""


def _is_edge(inner: str, outer: str) -> bool:
    """Return whether renderers read a mark between an inner and an outer character as emphasis.
    Return False next to a tilde, because cmark-gfm skips tildes."""
    if "~" in (inner, outer):
        return False
    return bool(inner.strip()) and (inner.isalnum() or not outer.strip() or _is_punctuation(outer))


def _is_punctuation(character: str) -> bool:
    """Return whether all versions of CommonMark count a character as punctuation. Before 0.31,
    non-ASCII symbols did not count."""
    if character.isascii():
        return not character.isalnum()
    return _RESERVED.match(character) is not None or unicodedata.category(character)[0] == "P"


def _next(pieces: list[str], index: int) -> str:
    """Return the first non-mark character after a piece; "" at the end."""
    for i in range(index + 1, len(pieces)):
        if pieces[i] and pieces[i] not in _WRITTEN:
            return pieces[i][0]
    return ""


def _last(pieces: list[str], index: int) -> str:
    for i in range(index - 1, -1, -1):
        if pieces[i] and pieces[i] not in _WRITTEN:
            return pieces[i][-1]
    return ""
