"""One page, pure functions: parse, blocks, simplified and mapping HTML, prune, Markdown."""

from dripper.blocks.numbering import Block
from dripper.blocks.page import Page
from dripper.blocks.pruning import UnknownItemError
from dripper.html.core import preprocess, preprocess_utf8, prune, restore
from dripper.html.profiles import PROFILES, Profile, find_profile
from dripper.html.rewrite import rewrite
from dripper.markdown import to_markdown, to_text
from dripper.markup.limits import DEFAULT_LIMITS, NO_LIMITS, ParserLimits
from dripper.markup.tree import Tree

__all__ = [
    "DEFAULT_LIMITS",
    "NO_LIMITS",
    "PROFILES",
    "Block",
    "Page",
    "ParserLimits",
    "Profile",
    "Tree",
    "UnknownItemError",
    "find_profile",
    "preprocess",
    "preprocess_utf8",
    "prune",
    "restore",
    "rewrite",
    "to_markdown",
    "to_text",
]
