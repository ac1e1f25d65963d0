"""The steps that process one page, as pure functions for your own programs: parse, split into
blocks, simplify, prune, convert to Markdown."""

from dripper.blocks.block import Block
from dripper.blocks.page import Page
from dripper.blocks.profiles.registry import PROFILES, Profile, find_profile, preprocess, preprocess_utf8
from dripper.keep.cut import UnknownItemError, prune, prune_page
from dripper.keep.rewrite import rewrite
from dripper.tree.parser import DEFAULT_LIMITS, NO_LIMITS, ParserLimits
from dripper.tree.tree import Tree
from dripper.write.markdown import to_markdown
from dripper.write.text import to_text

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
    "prune_page",
    "rewrite",
    "to_markdown",
    "to_text",
]
