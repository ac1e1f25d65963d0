"""Mapping HTML: the page with `_item_id` on every block, from which the main HTML is cut (Dripper
paper 3.2, A.10)."""

import re
from collections.abc import Sequence

from dripper.blocks.numbering import Block
from dripper.blocks.simplify import with_id
from dripper.markup.tree import Tree

WRAPPER = "cc-alg-uc-text"
"""The element put around a run (a block that is no element by itself); the name is MinerU-HTML's.
"""

_WRAPPER_TAG = re.compile(rf'<{WRAPPER} _item_id="\d+"[^>]*>|</{WRAPPER}>')
_ITEM_ID = re.compile(r'(?: cc-block-type="true")? _item_id="\d+"(?=[^<>]*>)| cc-block-type="true"(?=[^<>]*>)')


def mapping(tree: Tree, blocks: Sequence[Block]) -> str:
    """Return the page's markup with the ids in it: on the element of a block, or on a WRAPPER
    around a run."""
    parts = tree.parts.copy()
    for item_id, _, _, is_run, first, last in blocks:
        if is_run:
            parts[first] = f'<{WRAPPER} _item_id="{item_id}">{parts[first]}'
            parts[last] += f"</{WRAPPER}>"
        else:
            parts[first] = with_id(parts[first], item_id)
    return "".join(parts)


def without_ids(mapping_html: str) -> str:
    """Return the page's markup again, without what :func:`mapping` put into it.

    >>> without_ids('<p _item_id="1">one</p>')
    '<p>one</p>'
    """
    return _ITEM_ID.sub("", _WRAPPER_TAG.sub("", mapping_html))
