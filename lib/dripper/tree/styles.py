"""Decides whether the declarations in a style attribute or a rule hide an element.

Properties follow CSS 2.2, CSS Display 3, CSS Masking 1, CSS Transforms 2 and CSS Containment 2.
Lengths are converted to pixels, with typical values for units that depend on a font or a window.
"""

import re
from collections.abc import Iterable, Mapping
from enum import Enum

from dripper.tree.elements import words


class Way(Enum):
    """A way in which an element is hidden."""

    DISPLAY = "display"
    """The element has no box, so nothing inside it can be visible."""
    VISIBILITY = "visibility"
    """The element is invisible, except for elements inside it with `visibility: visible`."""
    TEXT = "text"
    """The letters have no size, have no colour or are off screen. Nested elements may have visible
    letters."""
    BOX = "box"
    """The box is transparent, empty, clipped or off screen."""
    NAME = "name"
    """A class marks the element as text for screen readers, or an attribute hides the element from
    screen readers."""
    NEVER = "never"
    """The element is never shown."""


Declarations = Mapping[str, str]
"""Maps properties to values, both in lower case."""

MAY_HIDE = re.compile(
    r"none|hidden|collapse|opacity|clip|indent|scale|transparent|zoom|rotate|matrix|font\s*:|rgba|hsla|#\w{3}0\b|#\w{6}00|"
    r"-\s*\d{2,}|\d{4}|(?:height|width|size)\s*:\s*[.01]|background.*color|color.*background|\\|/\*|calc",
    re.DOTALL,
)
"""Matches every lower-case style that can hide an element."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:0{0,4}(4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a]|3[0-9]|2d|5f)(?:\s|(?![0-9a-f]))|([g-z]))")
"""A CSS escape of a letter, a digit, `-` or `_`."""
_URL = re.compile(r"url\([^)]*\)?")
_MOST = 10_000
"""Maximum number of characters to read from a style."""

_LENGTH = re.compile(
    r"(?:calc\(\s*)?([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(px|r?em|ex|ch|%|[sld]?v(?:w|h|min|max|i|b)|pt|pc|cm|mm|in|q)?\s*\)?"
)
_PIXELS = {"": 1.0, "px": 1.0, "pt": 4 / 3, "pc": 16.0, "cm": 37.8, "mm": 3.78, "in": 96.0, "q": 0.94}
_PIXELS |= {"em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "%": 10.0}
_OFF = 500.0
"""A box is off screen if it has a negative offset of at least this many pixels."""
_FAR = 5_000.0
"""A box is off screen if it has a positive offset (other than `top`) of at least this many pixels.
The number is high because rows of slides are long."""
_DOT = 1.0
"""Boxes and letters of at most this size in pixels are invisible."""
_CLEAR = 0.02
"""Boxes of at most this opacity are invisible."""

_NUMBERS = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?:px|r?em|%|v[wh]|pt)?")
_SCALES = re.compile(r"\b(scale(?:x|y|3d)?|matrix(?:3d)?|rotate[xy])\(([^()]*)\)")
_TRANSLATES = re.compile(r"\btranslate(?:x|y|3d)?\(([^()]*)\)")
_SHAPE = re.compile(r"\b(inset|circle|ellipse|polygon|rect|xywh)\(([^()]*)\)?")
_FILTER = re.compile(r"\bopacity\(\s*([^()]*)\)")
_FONT = re.compile(r"(?:^|\s)(0|1px|0?\.\d+px|0(?:px|em|rem|%|pt))(?:/|\s)")
_COLOURS = {
    "white": "#ffffff", "black": "#000000", "red": "#ff0000", "blue": "#0000ff", "green": "#008000",
    "yellow": "#ffff00", "gray": "#808080", "grey": "#808080", "silver": "#c0c0c0",
}  # fmt: skip
_FUNCTION = re.compile(r"(rgb|hsl)a?\(([^()]*)\)")


def read_declarations(style: str) -> dict[str, str]:
    """Parse a style into its declarations. If a property is repeated, the last `!important`
    declaration wins. If there is none, the last declaration wins.

    Takes linear time.

    >>> read_declarations("Display: NONE; color: red !important; color: blue")
    {'display': 'none', 'color': 'red'}
    """
    declared: dict[str, str] = {}
    add_declarations(declared, set(), clean(style))
    return declared


def clean(style: str) -> str:
    """Return a style in lower case, with escapes resolved, and without comments and URLs."""
    style = style[:_MOST].lower()
    if "/*" in style:
        style = _COMMENT.sub(" ", style)
    if "\\" in style:
        style = resolve_escapes(style)
    return _URL.sub("url()", style) if "url(" in style else style


def resolve_escapes(text: str) -> str:
    """Resolve escapes of letters, digits, `-` and `_` in lower-case CSS (CSS Syntax 3, 4.3.7).
    Escapes of other characters are kept."""
    return _ESCAPE.sub(lambda escape: escape[2] or chr(int(escape[1], 16)).lower(), text)


def add_declarations(declared: dict[str, str], important: set[str], style: str) -> None:
    """Add the declarations of a clean style to `declared`. Later declarations replace earlier ones,
    but only an important declaration replaces an important one."""
    for part in style.split(";"):
        name, colon, value = part.partition(":")
        if not colon:
            continue
        name, value = name.strip(), value.strip()
        if "!" in value:
            value, _, mark = value.partition("!")
            value = value.rstrip()
            if mark.strip() == "important":
                important.add(name)
        elif name in important:
            continue
        declared[name] = value


def find_way(declared: Declarations) -> Way | None:
    """Return the way in which declarations hide an element, or None.

    A box with a height transition is not hidden, because a click opens it.
    """
    if "height" in declared.get("transition", ""):
        return None
    if declared.get("display") == "none":
        return Way.DISPLAY
    if declared.get("visibility") in ("hidden", "collapse") or declared.get("content-visibility") == "hidden":
        return Way.VISIBILITY if "content-visibility" not in declared else Way.BOX
    if _is_clear(declared) or _is_clipped(declared) or _is_empty(declared) or _is_off(declared):
        return Way.BOX
    return Way.TEXT if _has_no_letters(declared) else None


def shows(declared: Declarations) -> bool:
    """Return whether these declarations would show an element that other declarations hide."""
    if any(name in declared and declared[name] not in _NOTHING for name in _SIZED):
        return True
    return any(name in declared and not declared[name].startswith("-") for name in _MOVED)


_NOTHING = frozenset({"0", "0px", "0%", ".0", "0.0", "none", "hidden", "collapse", "transparent"})
_SIZED = words("display visibility opacity height max-height width max-width font-size content-visibility color")
_MOVED = words("left top right bottom text-indent transform translate scale clip clip-path filter margin-left inset")


def read_length(value: str) -> float | None:
    """Convert a CSS length to pixels, approximately. Return None if the value is not a length.

    >>> read_length("-999em"), read_length("calc(0px)"), read_length("auto")
    (-15984.0, 0.0, None)
    """
    match = _LENGTH.fullmatch(value)
    if match is None:
        return None
    return float(match[1]) * _PIXELS.get(match[2] or "", 12.8)


def _is_off(declared: Declarations) -> bool:
    """Return whether a box is off screen."""
    for name in ("left", "top", "right", "bottom", "inset-inline-start", "inset-block-start"):
        length = read_length(declared[name]) if name in declared else None
        # `top` does not count, because readers scroll down.
        is_far = length is not None and length >= _FAR and name != "top" and not declared[name].endswith("%")
        if is_far or (length is not None and length <= -_OFF):
            return True
    if "inset" in declared and any(_is_far_back(value) for value in declared["inset"].split()):
        return True
    if any(_is_far_back(declared.get(name, "")) for name in ("margin-left", "margin-top", "margin-inline-start")):
        return not any((read_length(declared.get(name, "")) or 0) >= _OFF for name in ("padding-left", "padding-top"))
    if "margin" in declared and any(map(_is_far_back, declared["margin"].split()[::3])):
        return True
    moved = ",".join(_TRANSLATES.findall(declared.get("transform", "")) + declared.get("translate", "").split())
    return any(_is_far_back(value.strip()) and not value.strip().endswith("%") for value in moved.split(","))


def _is_far_back(value: str) -> bool:
    length = read_length(value)
    return length is not None and length <= -_OFF


def _is_clear(declared: Declarations) -> bool:
    """Return whether a box is transparent or scaled to nothing."""
    if "opacity" in declared and _is_at_most(declared["opacity"], _CLEAR):
        return True
    if "filter" in declared and (found := _FILTER.search(declared["filter"])) and _is_at_most(found[1].strip(), _CLEAR):
        return True
    if "zoom" in declared and 0 < (_read_share(declared["zoom"]) or 0) <= _CLEAR:
        return True
    if any(_is_at_most(value, _CLEAR) for value in declared.get("scale", "").split()[:2]):
        return True
    for name, values in _SCALES.findall(declared.get("transform", "")):
        numbers = [number.strip() for number in values.split(",")]
        if name.startswith("rotate"):
            if numbers[0] in ("90deg", "-90deg", "270deg", ".25turn", "0.25turn"):
                return True
        else:
            axes = numbers[:4:3] if name == "matrix" else numbers[:6:5] if name == "matrix3d" else numbers[:2]
            if any(_is_at_most(number, _CLEAR) for number in axes if not number.startswith("-")):
                return name != "matrix" or numbers[1:3] in (["0", "0"], [])
    return False


def _read_share(value: str) -> float | None:
    length = _LENGTH.fullmatch(value)
    if length is None or length[2] not in (None, "%"):
        return None
    return float(length[1]) / (100 if length[2] else 1)


def _is_at_most(value: str, limit: float) -> bool:
    share = _read_share(value)
    return share is not None and share <= limit


def _is_clipped(declared: Declarations) -> bool:
    """Return whether a box is clipped to nothing."""
    shape = _SHAPE.search(declared.get("clip", "")) or _SHAPE.search(declared.get("clip-path", ""))
    shape = shape or _SHAPE.search(declared.get("-webkit-clip-path", ""))
    if shape is None:
        return False
    name, inside = shape[1], shape[2]
    numbers = [read_length(number) or 0.0 for number in _NUMBERS.findall(inside.partition(" at ")[0])]
    if name == "rect":
        if len(numbers) != 4:
            return False
        top, right, bottom, left = numbers
        return bottom - top <= _DOT or right - left <= _DOT
    if name == "inset":
        sides = (numbers * 4)[:4] if len(numbers) == 1 else [*numbers, *numbers[-2:], *numbers[-2:]][:4]
        if len(numbers) == 3:
            sides = [*numbers, numbers[1]]
        whole = 1000.0  # 100 %, as `read_length` returns it.
        return len(sides) == 4 and (sides[0] + sides[2] >= whole or sides[1] + sides[3] >= whole)
    if name == "polygon":
        return len(set(numbers[::2])) <= 1 or len(set(numbers[1::2])) <= 1
    return bool(numbers) and min(numbers[2:4] if name == "xywh" else numbers[:2]) <= 0


def _is_empty(declared: Declarations) -> bool:
    """Return whether a box has no height or width and hides its overflow."""
    if not any(
        value.split()[:1] and value.split()[-1] in ("hidden", "clip", "auto", "scroll")
        for name in ("overflow", "overflow-x", "overflow-y", "contain")
        if (value := declared.get(name, "").replace("strict", "hidden").replace("paint", "hidden"))
    ):
        return False
    if any(re.search("[1-9]", declared.get(name, "")) for name in ("padding", "padding-bottom", "padding-top")):
        return False
    return any(_is_dot(declared.get(name)) for name in _SIZES)


_SIZES = (
    "height",
    "max-height",
    "width",
    "max-width",
    "block-size",
    "inline-size",
    "max-block-size",
    "max-inline-size",
)


def _is_dot(value: str | None) -> bool:
    length = read_length(value) if value else None
    return length is not None and length <= _DOT


def _has_no_letters(declared: Declarations) -> bool:
    """Return whether letters have no size, have no visible colour or are off screen."""
    if _is_dot(declared.get("font-size")) or ("font" in declared and _FONT.search(declared["font"])):
        return True
    if "text-indent" in declared:
        value = declared["text-indent"].split()[0] if declared["text-indent"] else ""
        length = read_length(value) or 0.0
        if length <= -_OFF or length >= _FAR or (length >= 1000.0 and "overflow" in declared):
            return True
    fill = declared.get("-webkit-text-fill-color", declared.get("color"))
    if fill is None or "text" in declared.get("background-clip", declared.get("-webkit-background-clip", "")):
        return False
    colour = read_colour(fill)
    if colour == "" or colour is None:
        return colour == "" and "text-shadow" not in declared
    behind = declared.get("background-color", declared.get("background", ""))
    return colour == read_colour(behind)


def read_colour(value: str) -> str | None:
    """Return a colour as `#` and six hex digits, "" for a transparent colour, or None for an
    unknown value.

    >>> read_colour("#FFF".lower()), read_colour("rgb(255, 255, 255)"), read_colour("#00000000")
    ('#ffffff', '#ffffff', '')
    """
    value = _COLOURS.get(value, value)
    if value == "transparent":
        return ""
    if value.startswith("#") and value[1:].isalnum():
        digits = value[1:]
        if len(digits) in (3, 4):
            digits = "".join(digit * 2 for digit in digits)
        return None if len(digits) not in (6, 8) else "" if digits[6:] == "00" else f"#{digits[:6]}"
    if function := _FUNCTION.fullmatch(value):
        numbers = re.split(r"[\s,/]+", function[2].strip())
        if len(numbers) == 4 and _is_at_most(numbers[3], _CLEAR):
            return ""
        if function[1] == "rgb" and len(numbers) >= 3 and all(number.isdigit() for number in numbers[:3]):
            return "#" + "".join(f"{min(int(number), 255):02x}" for number in numbers[:3])
        if function[1] == "hsl" and len(numbers) >= 3 and numbers[2] in ("100%", "0%"):
            return "#ffffff" if numbers[2] == "100%" else "#000000"
    return None


def join(blocks: Iterable[str], inline: str) -> dict[str, str]:
    """Combine the declarations of rule blocks and of a style attribute. Blocks come weakest first,
    and the attribute is strongest."""
    declared: dict[str, str] = {}
    important = set[str]()
    for block in blocks:
        add_declarations(declared, important, block)
    add_declarations(declared, important, inline)
    return declared
