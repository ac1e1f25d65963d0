"""Writes simplified and mapping HTML for the profiles `mineru-1.0` and `mineru-1.1`, byte for byte
as MinerU-HTML 1.0.0 and 1.1.2 do, losses included.

The public weights were trained only on this output. If this module drops text or misplaces an id,
MinerU does the same. The default profile corrects these errors. There are three differences from
the `dripper` profile: the tree (see `clean`), the paragraphs that are dropped, and the positions of
the ids in the mapping HTML.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from dripper.blocks.block import Block
from dripper.blocks.page import Page
from dripper.blocks.profiles.mineru.clean import find_scripts, read_clean
from dripper.blocks.profiles.mineru.prune import prune_exactly
from dripper.blocks.profiles.mineru.second_parse import FORBIDDEN, show_angles
from dripper.blocks.profiles.mineru.v1_0 import MINERU_1_0
from dripper.blocks.profiles.mineru.v1_1 import MINERU_1_1
from dripper.blocks.profiles.mineru.version import CleanPage, Version
from dripper.blocks.profiles.registry import Profile
from dripper.blocks.segment import Paragraph, number, segment
from dripper.blocks.simplify import ELLIPSIS, HEAD, TAIL, WRAPPER, ShortTags, shorten_lists, write_simplified
from dripper.errors import ErrorCode, PageError
from dripper.tree.elements import LIBXML2_VOID
from dripper.tree.parser import Reading
from dripper.tree.scan import scan
from dripper.tree.tree import Tree, attributes, escape

_RAW_TEXT = frozenset({"xmp", "noembed", "noframes", "plaintext"})
_BAD_NAME = re.compile(r"""[\s"&'/<>]""")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_DATA_UID = re.compile(r"""[\t\n\f\r ]data-uid(?:="[^"]*"|='[^']*')?(?=[\t\n\f\r >])""")


@dataclass(frozen=True, kw_only=True, slots=True)
class MineruProfile(Profile):
    """A profile that reproduces the output of one MinerU-HTML version byte for byte."""

    version: Version

    def preprocess(self, html: bytes, reading: Reading) -> Page:
        """Split a UTF-8 page into blocks. Hidden text is treated as in MinerU-HTML."""
        return preprocess_exactly(html, self.version, reading)


V1_0, V1_1 = (
    MineruProfile(name=version.name, version=version, prune=partial(prune_exactly, version=version))
    for version in (MINERU_1_0, MINERU_1_1)
)


def preprocess_exactly(html: bytes, version: Version, reading: Reading) -> Page:
    """Split and simplify a UTF-8 page as this version of MinerU-HTML does. Raises
    PageError(PARSE_FAILED) if that version fails on the page."""
    clean = read_clean(html, version, reading)
    tree, texts = clean.tree, clean.texts
    kinds = version.classify(tree, texts, clean.removed)
    paragraphs, entered = segment(tree, texts, clean.removed, kinds)
    survivors = _keep_survivors(clean, version, list(map(Paragraph._make, paragraphs)), entered)
    parts = _parse_again(clean)
    short = ShortTags(tree.names, partial(_CONTROL.sub, "\ufffd") if clean.has_forbidden else str)
    shorten_lists(tree, parts, [paragraph[:3] for paragraph in survivors])
    shown = [paragraph for paragraph in survivors if _is_shown(parts, paragraph, short)]
    blocks = number(tree, texts, shown, check=False)
    for block in blocks:
        version.truncate(tree, parts, block)
    for index, text in clean.void_text.items():
        short[parts[index] + text] = short[parts[index]] + text
        parts[index] += text
    _open_empty_items(tree, parts)
    surround = partial(version.surround, tree, texts) if version.surround else None
    simplified_html = show_angles(HEAD + write_simplified(tree, parts, short, blocks, surround) + TAIL)
    mapping_html = show_angles(_Mapper(clean, version, entered).write(blocks))
    return Page(tree, blocks, clean.title, version.name, simplified_html, mapping_html, metadata=clean.metadata)


def _keep_survivors(
    clean: CleanPage, version: Version, paragraphs: list[Paragraph], entered: list[int]
) -> list[Paragraph]:
    """Return the paragraphs that survive when MinerU writes and re-parses each one. Strip the first
    text of each run."""
    survivors, kept_before = [], set[tuple[int, str]]()
    tree, texts = clean.tree, clean.texts
    body_is_split = any(tree.tags[element] == "body" for element in entered)
    bad_tags = _find_bad_tags(clean)
    may_be_lost = bool(bad_tags or clean.void_text or clean.has_forbidden)
    for paragraph in paragraphs:
        element, first, _, is_run = paragraph
        is_body = is_run and tree.tags[element] == "body"
        if is_body and version.surround is None:
            continue
        is_dissolved = _find_dissolved(tree, paragraph, version)
        if (
            is_dissolved
            and body_is_split
            and tree.tags[element] not in version.inline
            and tree.lasts[element] > element
        ):
            # MinerU looks for the element's children in the wrong place, and drops the block.
            continue
        root = tree.parents[element] if is_dissolved else element
        if version.fails_on_braces and _is_fatal(tree.start_tag(root)):
            raise PageError(ErrorCode.PARSE_FAILED, "a block has an attribute such as `{x}y` (MinerU-HTML fails)")
        if may_be_lost and _is_lost(clean, paragraph, root, bad_tags):
            continue
        if is_run and first % 2 == 0 and (body_is_split or not is_body):
            texts[first] = texts[first].strip()
            if not _elements(clean, paragraph):
                if (element, texts[first]) in kept_before:
                    continue
                kept_before.add((element, texts[first]))
        survivors.append(paragraph)
    return survivors


def _elements(clean: CleanPage, paragraph: Paragraph | Block) -> list[int]:
    """Return the outermost elements of a run, without removed elements."""
    return [i for i in clean.tree.siblings(paragraph.first, paragraph.last) if not clean.removed[i]]


def _find_dissolved(tree: Tree, paragraph: Paragraph | Block, version: Version) -> bool:
    """Return whether the paragraph is an element that replaced a run of the body, because the run
    contained nothing else."""
    element = paragraph.element
    return (
        not paragraph.is_run and tree.tags[element] in version.not_block and tree.tags[tree.parents[element]] == "body"
    )


def _is_lost(clean: CleanPage, paragraph: Paragraph, root: int, bad_tags: Collection[str]) -> bool:
    """Return whether MinerU fails on a paragraph. It fails if the root has a bad tag, if text
    directly inside the root has forbidden characters, or if the root is a void element with
    text."""
    tree, texts = clean.tree, clean.texts
    element, first, _, is_run = paragraph
    if tree.start_tag(root) in bad_tags:
        return True
    if not is_run:
        if clean.void_text.get(first, "").strip():
            return True
        return clean.has_forbidden and tree.opens[element] != tree.closes[element] and _find_forbidden(texts[first + 1])
    if not clean.has_forbidden:
        return False
    elements = _elements(clean, paragraph)
    direct = [texts[tree.closes[child] + 1] for child in elements]
    # The wrapper in the mapping HTML takes over the text before the run unchanged, including white
    # space.
    direct.append(tree.parts[tree.opens[elements[0]] - 1] if elements else texts[first])
    return any(map(_find_forbidden, direct))


def _find_forbidden(text: str) -> bool:
    return bool(FORBIDDEN.search(text))


def _find_bad_tags(clean: CleanPage) -> set[str]:
    """Return the start tags that lxml refuses because of their name, an attribute's name, or a
    character in the tag."""
    tags = clean.tree.names
    bad_names = {name for name in set(tags.values()) if _BAD_NAME.search(name)}
    bad = {tag for tag, name in tags.items() if name in bad_names} if bad_names else set()
    if clean.has_forbidden:
        bad.update(tag for tag in tags if _find_forbidden(tag))
    if " {" in "".join(tags):
        bad.update(tag for tag in tags if " {" in tag and any(map(_is_bad_name, attributes(tag))))
    return bad


def _is_fatal(tag: str) -> bool:
    """Return whether a tag has an attribute such as `{x}y`. lxml reads `{x}` as a namespace, and
    does not find it."""
    return " {" in tag and any(name[0] == "{" and name.partition("}")[2] for name in attributes(tag))


def _is_bad_name(attribute: str) -> bool:
    """Return whether lxml misreads an attribute name as an unfinished namespace in braces."""
    return attribute.startswith("{") and not attribute.partition("}")[2]


def _parse_again(clean: CleanPage) -> list[str]:
    """Return the page's strings after the second parse, which replaces control characters and
    escapes raw text once more."""
    tree, parts = clean.tree, clean.texts.copy()
    for element, tag in enumerate(tree.tags if not _RAW_TEXT.isdisjoint(tree.tags) else ()):
        if tag in _RAW_TEXT:
            index = tree.opens[element] + 1
            parts[index] = escape(_CONTROL.sub("&#xFFFD;", parts[index]))
            if tag == "plaintext":
                # Nothing ends a `plaintext` element, so it swallows the end tags that MinerU puts
                # after the paragraph.
                parts[index] += escape("</plaintext></body></html>")
    if clean.has_forbidden:
        parts[::2] = [_CONTROL.sub("\ufffd", text) for text in parts[::2]]
    return parts


def _is_shown(parts: list[str], paragraph: Paragraph, short: ShortTags) -> bool:
    """Return whether MinerU numbers a paragraph because it has an image with `src`, or text that is
    not blank. Text right after an image without `src` does not count."""
    before = ""
    for index in range(paragraph.first, paragraph.last + 1):
        part = parts[index]
        if index % 2:
            if part.startswith("<img") and " src=" in short[part]:
                return True
            before = part or before
        elif part and not part.isspace() and (not before.startswith("<img") or part.endswith(ELLIPSIS)):
            return True
        else:
            before = "" if part else before
    return False


def _open_empty_items(tree: Tree, parts: list[str]) -> None:
    """Drop the end tags of empty `li`, as libxml2's writer does."""
    for element in [i for i, tag in enumerate(tree.tags) if tag == "li"]:
        first, last = tree.opens[element] + 1, tree.closes[element]
        if not (parts[first] or any(map(parts.__getitem__, range(first, last)))):
            parts[last] = ""


class _Mapper:
    """Puts ids and wrappers into a copy of the page, at the positions at which MinerU finds the
    text again. These can differ from the original positions.
    """

    def __init__(self, clean: CleanPage, version: Version, entered: list[int]) -> None:
        self.clean = clean
        self.version = version
        self.tree = clean.tree
        self.parts = clean.tree.parts.copy()
        self.taken_texts: set[int] = set()
        tags = "".join(clean.tree.names)
        self.has_selected, self.has_uid = "cc-select" in tags, "data-uid" in tags
        self.texts_of: dict[int, dict[str, list[int]]] = {}
        self.body_is_block = not any(self.tree.tags[element] == "body" for element in entered)
        for element in entered:
            if self.tree.tags[element] in version.inline:
                self.set_attribute(element, "cc-block-type", "true")

    def write(self, blocks: list[Block]) -> str:
        """Return the mapping HTML."""
        for block in blocks:
            elements = _elements(self.clean, block) if block.is_run else []
            if self.is_marked(block, elements):
                self.mark(block)
            elif elements:
                self.wrap_elements(block, elements)
            else:
                self.wrap_text(block)
        tree = self.tree
        tree.parts = self.parts
        if self.version.lay_out is not None:
            tree = scan("".join(self.parts), LIBXML2_VOID)
            self.version.lay_out(tree)
        _open_empty_items(tree, tree.parts)
        for element, text in zip(find_scripts(tree), self.clean.scripts, strict=True):
            tree.parts[tree.opens[element] + 1] = text
        if self.has_uid:
            tree.parts[1::2] = [_DATA_UID.sub("", tag) if "data-uid" in tag else tag for tag in tree.parts[1::2]]
        return "".join(tree.parts)

    def is_marked(self, block: Block, elements: list[int]) -> bool:
        """Return whether the id is set on an existing element instead of a wrapper. This is the
        case for a block that is an element, for a run that is the whole body, and for a run with
        elements in an inline root."""
        tag = self.tree.tags[block.element]
        if not block.is_run or (self.body_is_block and tag == "body"):
            return True
        return bool(elements) and block.element == 0 and tag in self.version.inline

    def set_attribute(self, element: int, name: str, value: str) -> None:
        """Set an attribute as lxml does. An existing attribute keeps its position; a new one
        becomes the last attribute."""
        index = self.tree.opens[element]
        tag, new = self.parts[index], f' {name}="{value}"'
        if name not in tag:
            self.parts[index] = tag[:-1] + new + ">"
            return
        replaced, count = re.subn(rf"""[\t\n\f\r ]{name}(=("[^"]*"|'[^']*'))?(?=[\t\n\f\r >])""", new, tag, count=1)
        self.parts[index] = replaced if count else tag[:-1] + new + ">"

    def mark(self, block: Block) -> None:
        """Set the id on a block. Also set `cc-select` if an element inside has this attribute, as
        on annotated pages of WebMainBench."""
        element = block.element
        if self.body_is_block and _find_dissolved(self.tree, block, self.version):
            element = self.tree.parents[element]
        self.set_attribute(element, "_item_id", str(block.item_id))
        for inner in range(element + 1, self.tree.lasts[element] + 1) if self.has_selected else ():
            tag = self.tree.start_tag(inner)
            if "cc-select" in tag and (value := attributes(tag).get("cc-select")) is not None:
                self.set_attribute(element, "cc-select", value)
                break

    def wrapper(self, block: Block) -> str:
        select = self.tree.attributes(block.element).get("cc-select") if self.version.selects_wrappers else None
        return f'<{WRAPPER} _item_id="{block.item_id}"' + (f' cc-select="{select}">' if select is not None else ">")

    def wrap_elements(self, block: Block, elements: list[int]) -> None:
        """Put a wrapper around a run. It includes the text before the run's first element and the
        text after the last element. In some versions, text after a final `br` stays outside."""
        tree, parts = self.tree, self.parts
        before, after = tree.opens[elements[0]] - 1, tree.closes[elements[-1]] + 1
        if before in self.taken_texts:
            parts[before] += self.wrapper(block)
        else:
            parts[before] = self.wrapper(block) + parts[before]
        ends_before_text = not self.version.wraps_last_break and tree.tags[elements[-1]] == "br" and parts[after]
        if after in self.taken_texts or ends_before_text:
            parts[after - 1] += f"</{WRAPPER}>"
        else:
            parts[after] += f"</{WRAPPER}>"
            self.taken_texts.add(after)
        self.taken_texts.add(before)
        inner = elements[0]
        while inner != elements[-1]:
            self.taken_texts.add(tree.closes[inner] + 1)
            inner = tree.lasts[inner] + 1

    def wrap_text(self, block: Block) -> None:
        """Wrap the element's first text that equals the run, if there is one."""
        texts = self.texts_of.get(block.element)
        if texts is None:
            texts = self.texts_of[block.element] = self.direct_texts(block.element)
        places = texts.get(self.clean.texts[block.first], [])
        while places and places[-1] in self.taken_texts:
            places.pop()
        if places:
            index = places.pop()
            self.taken_texts.add(index)
            self.parts[index] = f"{self.wrapper(block)}{self.parts[index]}</{WRAPPER}>"

    def direct_texts(self, element: int) -> dict[str, list[int]]:
        """Return a dict from each stripped text of an element's own text nodes to the indexes of
        these nodes, in descending order."""
        tree = self.tree
        places = [tree.opens[element] + 1] + [tree.closes[child] + 1 for child in tree.children(element)]
        indexes: dict[str, list[int]] = {}
        for index in reversed(places):
            indexes.setdefault(tree.parts[index].strip(), []).append(index)
        return indexes
