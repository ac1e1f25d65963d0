"""Pure functions that process the HTML of one page: parse, split into blocks, simplify, prune and
convert to Markdown."""

from dripper.html.blocks.page import Page, UnknownItemError
from dripper.html.markdown import to_markdown, to_text
from dripper.html.profiles.registry import PROFILES, Profile, find_profile, preprocess, preprocess_utf8, prune
from dripper.html.rewrite import rewrite
from dripper.html.tree.blocks import Block
from dripper.html.tree.parser import DEFAULT_LIMITS, NO_LIMITS, ParserLimits
from dripper.html.tree.tree import Tree

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
    "rewrite",
    "to_markdown",
    "to_text",
]
