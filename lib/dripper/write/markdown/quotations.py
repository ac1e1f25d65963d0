"""Writes quotations, rules, and the rules before posts. Pages also use `blockquote` to indent text
and to enclose posts; such elements are written as plain blocks."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dripper.write.markdown.lines import Lines
from dripper.write.markdown.output import APART
from dripper.write.markdown.source import Source

_BODY = re.compile(r"post|message|content", re.IGNORECASE)
"""Words in the start tag of a `blockquote` that contains a whole post."""
_MOST_AROUND = 32
"""Maximum number of elements around a post's rule to search for the post's first
quotation."""
_SHARE_INDENTED = 0.85
"""A `blockquote` with more than this fraction of the page's text is not a quotation. This is
correct for ten of the eleven such elements on 5,619 training pages; the eleventh is a shop's text
about an album."""
_LEAST_INDENTED = 300
"""A `blockquote` with at most this many characters is written as a quotation."""


@dataclass(slots=True)
class QuotationWriter:
    """Writes the quotations, rules and posts of one tree."""

    source: Source
    lines: Lines
    _rules: dict[int, int] = field(default_factory=dict)
    """Maps a quotation at the start of a post to the rule before the post."""

    def set_apart_posts(self, rules: Sequence[int]) -> None:
        """Set apart the posts. Before each post, there is a rule (`hr`). The elements around these
        rules are written as plain blocks, not as lists, quotations or tables. If most of these
        rules are inside `blockquote`s with the same start tag, these `blockquote`s contain posts,
        so all elements with that start tag are written as plain blocks."""
        tree, roles, holders = self.source.tree, self.source.roles, Counter[str]()
        for rule, following in pairwise([*rules, len(tree)]):
            end = tree.opens[following] if following < len(tree) else len(tree.parts)
            above, holder = tree.parents[rule], ""
            roles[rule] = "post"
            for around in tree.nearest(above, _MOST_AROUND):
                if tree.tags[around] == "blockquote" and self._comes_first(around, rule, end):
                    roles |= {rule: "gone", around: "first-quotation"}
                    self._rules[around], above = rule, tree.parents[around]
                    break
            while above >= 0 and above not in roles:
                roles[above] = "div"
                holder = tree.start_tag(above) if tree.tags[above] == "blockquote" else holder
                above = tree.parents[above]
            holders[holder] += " class=" in holder
        if 2 * max(holders.values()) > len(rules):
            roles |= dict.fromkeys(tree.tagged({max(holders, key=holders.__getitem__)}), "div")

    def _comes_first(self, element: int, rule: int, end: int) -> bool:
        """Return whether a `blockquote` around the rule before a post is a quotation at the start
        of that post."""
        tree, has_text = self.source.tree, self.source.has_text_between
        is_first = not has_text(tree.opens[element], tree.opens[rule]) and has_text(tree.closes[element], end)
        return is_first and _BODY.search(tree.start_tag(element)) is None

    def set_apart_indented(self) -> None:
        """Write a `blockquote` with almost all of the page's text as a plain block. Old pages use
        `blockquote` to indent text."""
        source = self.source
        least = max(_LEAST_INDENTED, _SHARE_INDENTED * sum(map(len, source.texts)))
        source.roles |= {each: "div" for each in source.tree.find("blockquote") if source.size(each) > least}

    def begin(self, element: int, tag: str) -> bool:
        """Begin a quotation."""
        if self.lines.cell is not None or self.lines.n_inline:
            return self.lines.begin_block(element, tag)
        self.lines.begin_container(element, "> ", "> ")
        return False

    def begin_first(self, element: int, tag: str) -> bool:
        """Begin a post with a quotation."""
        self.begin_post(self._rules[element], tag)
        return self.begin(element, tag)

    def write_rule(self, element: int, tag: str) -> bool:
        """Write a rule."""
        self.lines.set_apart()
        if self.lines.cell is None and not self.lines.n_inline:
            self.lines.out.write(["---"])
            self.lines.out.gap = APART
        return True

    def begin_post(self, element: int, tag: str) -> bool:
        """Begin the post after a rule."""
        self.lines.set_apart()
        if self.lines.cell is None and not self.lines.n_inline:
            self.lines.out.begin_post(element)
            self.lines.out.gap = APART
        return True
