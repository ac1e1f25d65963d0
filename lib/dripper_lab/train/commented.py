"""Creates training pages with reader comments below their main content. From these pages, the
switch learns to detect comments.

The tree of a page is edited, and the result is split into blocks like any page.

Of 2,291 training pages, only about 90 are articles with comments in their HTML. This is too few for
learning how a page with 200 comments looks. The text of the added comments comes from other
training pages. Their markup is typical of blogs and newspapers: with or without descriptive class
names, as lists or paragraphs.
"""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dripper.blocks.page import Page
from dripper.labels.words import words_of
from dripper_lab.train.edits import find_marked_blocks, is_unspaced, leave_unchanged, place_after, split_parts
from dripper_lab.train.examples import Example, example_from

MARK = ' data-made="comments"'
"""The attribute that marks the section's element: all blocks inside are comments. No feature uses
it."""

_HEADINGS = (
    "Comments", "{n} Comments", "{n} comments", "Comments ({n})", "{n} Responses to “{title}”", "{n} thoughts on “{title}”",
    "Reader comments", "Discussion", "Leave a comment", "Add your comment", "What do you think?", "Your reactions", "",
    "Kommentare", "{n} Kommentare", "Commentaires", "Comentarios", "评论", "网友评论 {n}", "コメント",
)  # fmt: skip
_NAMES = (
    "Anna",
    "mike82",
    "J. Brown",
    "Guest",
    "Anonymous",
    "Peter",
    "marta_k",
    "Old Tom",
    "li wei",
    "DrX",
    "Sue",
    "admin",
)
_SAID = ("{name} says:", "{name} said…", "{name}", "Posted by {name}", "By {name}", "{name} wrote:", "{name} ({when})")
_WHEN = (
    "March {day}, 2011 at {hour}:14 am", "{day} May 2009 {hour}:05", "2013-06-{day}", "{day} hours ago", "{day}.10.2012, {hour}:41",
    "on Jan {day}, 2010", "",
)  # fmt: skip
_ACTIONS = ("Reply", "Reply | Quote", "Permalink", "Report abuse", "Like (3)", "+1 -0", "Antworten", "回复", "", "")
# The elements around all comments, around one comment, around its author, and around its text.
_MARKUP = (
    ("div", "div", "div", "p"), ("ol", "li", "cite", "p"), ("ul", "li", "div", "p"), ("dl", "dd", "strong", "p"),
    ("section", "article", "header", "p"), ("div", "p", "b", "span"), ("div", "blockquote", "p", "p"),
)  # fmt: skip
# The class or id of these four elements, and of the line of actions.
_CLASSES = (
    ("commentlist", "comment even depth-1", "comment-author vcard", "comment-body", "reply"),
    ("comments", "comment", "comment-meta", "comment-content", "comment-actions"),
    ("comments-block", "comment-block", "comment-author", "comment-body", "comment-footer"),
    ("responses", "response", "author", "text", "tools"),
    ("reader-feedback", "entry", "username", "entry-text", "links"),
    ("list", "item", "name", "body", "footer"),
    ("", "", "", "", ""),
)


def comment_section(texts: Sequence[str], title: str, draw: np.random.Generator) -> str:
    """Return the HTML of a section with one comment per text. Its outermost element is marked with
    MARK."""

    def one_of(choices: Sequence[str]) -> str:
        return choices[int(draw.integers(len(choices)))]

    around, item, author, body = _MARKUP[int(draw.integers(len(_MARKUP)))]
    names = [f' class="{name}"' if name else "" for name in _CLASSES[int(draw.integers(len(_CLASSES)))]]
    heading, byline, when, action = one_of(_HEADINGS), one_of(_SAID), one_of(_WHEN), one_of(_ACTIONS)
    comments = []
    for text in texts:
        date = when.format(day=draw.integers(10, 29), hour=draw.integers(1, 12))
        who = byline.format(name=one_of(_NAMES), when=date)
        line = f"<div{names[4]}><a href='#'>{action}</a></div>" if action and item != "p" else ""
        paragraphs = "".join(f"<{body}{names[3]}>{html.escape(part)}</{body}>" for part in text.split("\n"))
        inner = f"<{author}{names[2]}>{who}</{author}> {date if '{when}' not in byline else ''} {paragraphs}{line}"
        comments.append(f"<{item}{names[1]}>{inner}</{item}>")
    above = heading.format(n=len(texts), title=html.escape(title[:60]))
    level = one_of(("h2", "h3", "h4", "p", "div"))
    return (
        f"<div{MARK}>{f'<{level}>{above}</{level}>' if above else ''}"
        f"<{around}{names[0]}>{''.join(comments)}</{around}></div>"
    )


KINDS = frozenset({"", "article", "documentation", "service"})
"""The page types that get comments (sets of articles declare no type). A forum's posts are its main
content, and lists of articles or products are not followed by comments."""
MOST_COMMENTS = 40
# The length of ground-truth lines that could be a paragraph of a comment.
_LINE_CHARS = range(25, 600)


@dataclass(slots=True)
class Commenter:
    """Adds comments to pages. The text of comments consists of ground-truth lines of earlier
    pages."""

    draw: np.random.Generator
    """The source of randomness for every choice."""
    finish: Callable[[Page], Page] = leave_unchanged
    """A function that is applied to every resulting page."""
    lines: dict[bool, list[str]] = field(default_factory=lambda: {False: [], True: []})
    """The remembered lines: `True` → lines in a script written without spaces, `False` → others."""

    def __call__(self, page: Page, example: Example, truth: str) -> Example | None:
        """Return the page with comments, and remember the ground-truth lines for later pages."""
        commented = self.add_comments(page, example)
        self.read(truth)
        return commented

    def read(self, truth: str) -> None:
        """Remember the lines of a ground-truth text."""
        for line in map(str.strip, truth.splitlines()):
            if len(line) in _LINE_CHARS:
                self.lines[is_unspaced(line)].append(line)

    def add_comments(self, page: Page, example: Example) -> Example | None:
        """Return the example of the page with comments. Return None if the page's type is not in
        KINDS, or no lines have been read yet."""
        lines = self.lines[is_unspaced("".join(block.text for block in page.blocks))]
        if example.page_type not in KINDS or not example.main.any() or not lines:
            return None
        parts = list(page.elements.parts)
        place = place_after(page, int(np.flatnonzero(example.main)[-1]), int(self.draw.integers(3)))
        parts[place] += comment_section(self._texts(lines), page.title, self.draw)
        edited = replace(split_parts(parts, page.title), hints=page.hints)
        return _example(self.finish(edited), page, example)

    def _texts(self, lines: Sequence[str]) -> list[str]:
        """Return the text of fewer than forty comments, each of one to three lines. The logarithm
        of their number is uniformly distributed, so small numbers are more frequent."""
        count = int(MOST_COMMENTS ** self.draw.random())
        sizes = self.draw.integers(1, 4, count)
        return ["\n".join(lines[at] for at in self.draw.integers(len(lines), size=size)) for size in sizes]


def _example(edited: Page, page: Page, example: Example) -> Example:
    truth = [word for block in np.flatnonzero(example.main).tolist() for word in words_of(page.blocks[block].text)]
    labelled = example_from(edited, truth, example.key, example.host, example.page_type)
    comments = find_marked_blocks(edited, MARK)
    return replace(labelled, comments=comments | labelled.comments, matched=np.where(comments, 0.0, labelled.matched))
