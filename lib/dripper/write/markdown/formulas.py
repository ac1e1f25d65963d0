"""Finds a page's formulas and writes them as LaTeX. Formulas are MathML, KaTeX, MathJax, images
with LaTeX in their `alt`, and LaTeX between delimiters in text."""

import re
from collections.abc import Iterator
from urllib.parse import unquote_plus

from dripper.tree.tree import Tree, attributes, unescape
from dripper.write.markdown.inert import HOLE

_RENDERED = re.compile(r"\b(?:katex|MathJax(?:_Display|_SVG|_CHTML)?|mjx-chtml)\b")
_REPEATED = re.compile(r"\b(?:katex-html|MathJax_Preview|MJX_Assistive_MathML)\b")
_MARKED = re.compile(r"\b(?:math-tex|math(?:jax)?[-_ ](?:inline|display|block)|arithmatex)\b")
_IMAGE = re.compile(r"\b(?:latex|mwe-math-fallback-image[\w-]*|tex2jax|math)\b")
_IMAGE_SOURCE = re.compile(r"latex\.php|codecogs\.com|mathtex\.cgi|math/render/|mimetex", re.IGNORECASE)
_IN_ADDRESS = re.compile(
    r"(?:codecogs\.com/[^?]*|latex\.php|mathtex\.cgi|mimetex\.cgi)\?(?:latex=)?(.+)|[?&]cht=tx&(?:.*&)?chl=([^&]+)"
)
"""LaTeX in the URL of a rendering service."""
_SOURCES = ("data-math", "data-tex", "data-latex", "data-entry", "data-formula")
"""Attributes that hold an element's LaTeX."""
_DELIMITED = re.compile(r"\s*(\\\(|\\\[|\$\$?)(.*?)(\\\)|\\\]|\$\$?)\s*", re.DOTALL)
_DISPLAY_STYLE = re.compile(r"\{\\(?:displaystyle|textstyle) (.*)\}", re.DOTALL)
_FORGING = re.compile(r"<(?=[A-Za-z/!?]|[^\s<>]*@)|&(?=#?[A-Za-z0-9]{1,40};)|!(?=\[)|\](?=[(\[:])|`")
"""Characters in LaTeX that Markdown would read as part of a tag, a character reference, an image, a
link or code. A space after the character prevents this without changing the formula. A backslash
would be read as LaTeX."""
_FORGED = {"`": "\u2018"}
_TEX_ENCODING = re.compile(r"application/x-(?:la)?tex|^(?:La)?TeX$")

_OPENS = re.compile(r"\\\(|\\\[|\$\$|\$[^$\n]*+\$|\[tex\]|\\begin\{(\w+\*?)\}")
_ENDS = re.compile(r"\\end\{(\w+\*?)\}")
_CLOSING = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "[tex]": "[/tex]"}


_SIGNS = ("math", "mjx-", "codecogs", "cht=tx", "data-entry", "data-formula", "data-latex")
_TEX = re.compile("tex(?!t)")
_SIMPLE_TEX = re.compile(r"\$(?=[^\s$])[^$\n\ufdd0\ufdd2]{0,300}[_^][^$\n\ufdd0\ufdd2]{0,300}(?<=[^\s$])\$(?![0-9])")
"""LaTeX without a backslash. Its subscripts and superscripts must not be escaped."""


def may_be_formula(tags: str) -> bool:
    """Return whether a start tag, or any tag in a string of joined tags, may be a formula. Without
    this filter, every attribute on the page would be parsed.

    Searching lower-case text for each word is much faster than one case-insensitive search for all
    words.
    """
    tags = tags.lower()
    return any(map(tags.__contains__, _SIGNS)) or ("tex" in tags and _TEX.search(tags) is not None)


def may_have_tex(text: str) -> bool:
    """Return whether running text may hold LaTeX."""
    return "\\" in text or "[tex]" in text or ("$" in text and _SIMPLE_TEX.search(text) is not None)


def cut_tex(text: str, holes: list[str]) -> str:
    """Return text with its LaTeX replaced by numbered placeholders. Without this step, backslashes
    and underscores in the LaTeX would be escaped."""
    if "\\" in text or "[tex]" in text:
        pieces, position = list[str](), 0
        for start, end in find_tex(text):
            pieces += [text[position:start], _add_hole(holes, text[start:end])]
            position = end
        text = "".join([*pieces, text[position:]])
    if "$" in text and ("_" in text or "^" in text):
        text = _SIMPLE_TEX.sub(lambda match: _add_hole(holes, match.group()), text)
    return text


def _add_hole(holes: list[str], tex: str) -> str:
    if tex.startswith("\\begin"):
        tex = f"$${tex}$$"
    holes.append(delimit(tex.removeprefix("[tex]").removesuffix("[/tex]")))
    return HOLE.format(len(holes) - 1)


def find_tex(text: str) -> Iterator[tuple[int, int]]:
    r"""Yield the start and end of each piece of LaTeX in running text: `\(…\)`, `\[…\]`, `$$…$$`,
    `[tex]…[/tex]`, an environment, or `$…$` on one line with a backslash inside.

    Takes linear time even if there are many openers and no closers, because the last closer of each
    kind is looked up first.

    >>> text = r"a \(b\) $c$ $\d$ \(e"
    >>> [text[start:end] for start, end in find_tex(text)]
    ['\\(b\\)', '$\\d$']
    """
    last = {mark: text.rfind(mark) for mark in _CLOSING.values()}
    if "\\begin{" in text:
        last |= {match.group(): match.start() for match in _ENDS.finditer(text)}
    position = 0
    while match := _OPENS.search(text, position):
        start, opener = match.start(), match.group()
        mark = f"\\end{{{match[1]}}}" if match[1] else _CLOSING.get(opener, "")
        position = start + 1
        if not mark:
            end = match.end() if "\\" in opener else -1
        elif last.get(mark, -1) <= match.end():
            end = -1
        else:
            end = text.find(mark, match.end() + 1) + len(mark)
        if end >= 0:
            yield start, end
            position = end


def read_formula(tree: Tree, element: int) -> str | None:
    """Return the Markdown of a formula: `$…$`, or `$$…$$` for a display formula. Return None if the
    element is not a formula, and "" if it repeats a formula that is written elsewhere.

    The page's LaTeX source is used if there is any. Otherwise, MathML is converted.
    """
    name, tag = tree.tags[element], tree.start_tag(element)
    values = attributes(tag)
    names = values.get("class", "")
    source = next((value for key in _SOURCES if (value := values.get(key, "").strip())), "")
    if source and source not in ("true", "false", "1", "0"):
        return delimit(source, display="isplay" in names or "block" in names or _is_in_display(tree, element))
    if name == "math":
        return _convert_mathml(tree, element, display="display=" in tag and "inline" not in tag)
    if name == "mjx-container":
        return _convert_inner_math(tree, element, display="display=" in tag)
    if name == "img":
        alt = values.get("alt", "").strip()
        if not alt and (found := _IN_ADDRESS.search(values.get("src", ""))):
            alt = unquote_plus(found[1] or found[2])
            return delimit(alt, display="display" in names)
        is_formula = _IMAGE.search(names) or _IMAGE_SOURCE.search(values.get("src", ""))
        return delimit(alt, display="display" in names) if alt and is_formula else None
    if not names:
        return None
    if _REPEATED.search(names):
        return ""
    if _RENDERED.search(names):
        return _convert_inner_math(tree, element, display="isplay" in names or _is_in_display(tree, element))
    if _MARKED.search(names) and tree.lasts[element] == element:
        text = unescape(tree.parts[tree.opens[element] + 1])
        return delimit(text, display="display" in names) if _DELIMITED.fullmatch(text) else None
    return None


def delimit(source: str, *, display: bool = False) -> str:
    r"""Return LaTeX source between dollar signs. If the source already has delimiters, they decide
    whether it is a display formula.

    >>> delimit(r"\[ x^2 \]"), delimit(r"{\displaystyle a}")
    ('$$x^2$$', '$a$')
    """
    if match := _DELIMITED.fullmatch(source):
        display = match.group(1) in ("\\[", "$$")
        source = match.group(2)
    if match := _DISPLAY_STYLE.fullmatch(source.strip()):
        source = match.group(1)
    source = " ".join(_FORGING.sub(lambda match: _FORGED.get(match[0], match[0] + " "), source).split())
    if not source:
        return ""
    return f"$${source}$$" if display else f"${source}$"


def _is_in_display(tree: Tree, element: int) -> bool:
    parent = tree.parents[element]
    return parent >= 0 and "isplay" in tree.start_tag(parent)


def _convert_inner_math(tree: Tree, element: int, *, display: bool) -> str | None:
    """Convert the first `math` inside a rendered formula, or the `data-mathml` attribute that
    MathJax 2 writes. Return "" if the formula's LaTeX follows in an element of its own.
    """
    for inner in range(element + 1, tree.lasts[element] + 1):
        if tree.tags[inner] == "math":
            return _convert_mathml(tree, inner, display=display)
    mathml = tree.attributes(element).get("data-mathml")
    if mathml:
        return _run_converter(mathml, display=display)
    following = tree.lasts[element] + 1
    if following < len(tree) and "math-tex" in tree.start_tag(following):
        return ""
    return None


def _convert_mathml(tree: Tree, element: int, *, display: bool) -> str:
    """Return the LaTeX that comes with a `math` element (annotation, `alttext`); if there is none,
    convert the element."""
    for inner in range(element + 1, tree.lasts[element] + 1):
        if tree.tags[inner] == "annotation" and _TEX_ENCODING.search(tree.attributes(inner).get("encoding", "")):
            return delimit(unescape(tree.parts[tree.opens[inner] + 1]), display=display)
    alternative = tree.attributes(element).get("alttext", "")
    if alternative.strip():
        return delimit(alternative, display=display)
    return _run_converter("".join(tree.parts[tree.opens[element] : tree.closes[element] + 1]), display=display)


_FENCES = dict(zip("(){}[]|", map(chr, range(0xE000, 0xE007)), strict=True))
"""Private-use characters that replace parentheses and other fences in MathML. The converter would
write `(` as `\\left(\\right.`."""
_WRITTEN_FENCES = {sign: f"\\{fence}" if fence in "{}" else fence for fence, sign in _FENCES.items()}
_TABLE, _TABLE_END, _BINOMIAL = "\ue007", "\ue008", "\ue009"
"""Private-use characters that mark the start of a table, the end of a table, and a fraction without
a bar. The converter marks none of these."""
_PRIVATE = re.compile("[\ue000-\ue00b]")
_FENCE = re.compile(r"<mo(?: [^>]*)?>\s*([(){}\[\]|])\s*</mo>")
_BRACE = re.compile(r"[{}](?=[^<>]*<)")
_FENCED_TABLE = re.compile(r"<mfenced([^>]*)>\s*(<mtable(?:(?!<mfenced).)*?</mtable>)\s*</mfenced>", re.DOTALL)
_NO_LINE = re.compile(r"""<mfrac\s[^>]*linethickness=["']0[a-z]*["'][^>]*>""")
_INNER_TABLE = re.compile(
    "([\ue000\ue002\ue004\ue006]?) *\ue007([^\ue007\ue008]*)\ue008(?: *([\ue001\ue003\ue005\ue006]))?"
)
_WRITTEN_TABLE = re.compile("\ue00a([0-9]+)\ue00b")
_MATRICES = {
    "\ue000\ue001": "pmatrix",
    "\ue002\ue003": "Bmatrix",
    "\ue004\ue005": "bmatrix",
    "\ue006\ue006": "vmatrix",
    "\ue002": "cases",
}
_RELATION = re.compile(r"& *(?:=|<|>|\\(?:leq?|geq?|approx|equiv|sim|neq?|to|rightarrow)\b|[≤≥≈≡∼≠→])")
_CHOOSE = re.compile("\ue000 *\ue009 *\\\\frac([^\ue000-\ue009]*?) *\ue001|\ue009 *\\\\frac")
_MOST_TABLES = 20
"""Maximum depth of nested tables."""


def _run_converter(mathml: str, *, display: bool) -> str:
    marked = _PRIVATE.sub("", mathml)
    marked = _FENCED_TABLE.sub(_open_fences, marked)
    marked = _FENCE.sub(lambda match: f"<mi>{_FENCES[match[1]]}</mi>", marked)
    marked = _BRACE.sub(lambda match: _FENCES[match[0]], marked)
    # Imported only here, because few pages have a formula.
    from mathml_to_latex.converter import MathMLToLaTeX  # type: ignore[import-untyped]

    marked = marked.replace("<mtable", f"<mrow><mi>{_TABLE}</mi><mtable")
    marked = marked.replace("</mtable>", f"</mtable><mi>{_TABLE_END}</mi></mrow>")
    if _NO_LINE.search(marked):
        marked = marked.replace("</mfrac>", "</mfrac></mrow>").replace("<mfrac", "<mrow><mfrac")
        marked = _NO_LINE.sub(f"<mi>{_BINOMIAL}</mi><mfrac>", marked)
    try:
        latex = _write_tables(MathMLToLaTeX().convert(marked))
    except Exception:
        # The converter raises various errors on broken XML and unknown elements. Write the text of
        # the MathML instead.
        latex = ""
    return delimit(latex or re.sub(r"([{}&])", r"\\\1", unescape(re.sub("<[^>]*>", " ", mathml))), display=display)


def _open_fences(match: re.Match[str]) -> str:
    """Replace an `mfenced` around a table by its fences, written as `mo` elements before and after
    the table."""
    given = attributes(f"<mfenced{match[1]}>")
    opener, closer = given.get("open", "("), given.get("close", ")")
    return f"<mrow><mo>{opener}</mo>{match[2]}<mo>{closer}</mo></mrow>"


def _write_tables(latex: str) -> str:
    """Write each table in LaTeX as an environment. If the table has the fences of a kind of matrix
    or of `cases`, the fences decide the environment. Otherwise, the environment is `aligned` if a
    cell begins with a relation, else `matrix`. An `&` outside tables is escaped."""
    tables: list[str] = []

    def fill(match: re.Match[str]) -> str:
        return tables[int(match[1])]

    def write(match: re.Match[str]) -> str:
        opener, cells, closer = match[1], match[2].strip(), match[3] or ""
        cells = cells.removeprefix("\\begin{matrix}").removesuffix("\\end{matrix}").strip()
        known = _MATRICES.get(opener + closer)
        name = known or ("aligned" if _RELATION.search(cells) else "matrix")
        tables.append(f"\\begin{{{name}}} {_WRITTEN_TABLE.sub(fill, cells)} \\end{{{name}}}")
        written = f"\ue00a{len(tables) - 1}\ue00b"
        return written if known else f"{opener}{written}{closer}"

    latex = _CHOOSE.sub(lambda match: f"\\binom{match[1] or ''}", latex)
    for _ in range(_MOST_TABLES):
        if _TABLE not in latex:
            break
        latex = _INNER_TABLE.sub(write, latex)
    latex = _WRITTEN_TABLE.sub(fill, re.sub(r"(?<!\\)&", r"\\&", latex))
    return _PRIVATE.sub(lambda match: _WRITTEN_FENCES.get(match[0], ""), latex)
