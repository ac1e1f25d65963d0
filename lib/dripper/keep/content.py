"""Defines `Content`, a page's main content: its tree and the positions of posts and images.
Markdown is written from it."""

from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dripper.blocks.page import Page
from dripper.blocks.profiles.registry import find_profile
from dripper.facts.media.players import link_films
from dripper.facts.media.roles import replace_icons
from dripper.keep.cut import cut_page
from dripper.keep.images import ShownImage, list_images
from dripper.keep.posts import Post
from dripper.keep.rewrite import rewrite, rewrite_tree
from dripper.settings import HtmlSettings
from dripper.tree.scan import make_tree
from dripper.tree.tree import Tree
from dripper.tree.urls import Base


@dataclass(frozen=True, slots=True)
class Content:
    """The main content of a page."""

    main_html: str
    tree: Tree
    """The tree of `main_html`."""
    posts: Mapping[int, Post]
    """Posts in order. Each key is the element number of the `hr` before the post. These `hr` have
    no markup."""
    images: Mapping[int, ShownImage]
    """Images in document order, keyed by element number. Their positions in the Markdown are not
    set yet."""


def cut_content(
    page: Page,
    main_ids: Collection[int],
    settings: HtmlSettings,
    base: Base | None = None,
    posts: Mapping[int, Post] = {},
    *,
    with_images: bool = True,
) -> Content:
    """Build the main content of a page. Raises PageError(OUTPUT_TOO_LARGE), as `rewrite` does.

    Args:
        base: The base for the page's relative URLs. If None, these stay relative.
        posts: The posts, keyed by the id of their first main block.
        with_images: Whether to list images.
    """
    profile = find_profile(page.profile)
    picture = page.metadata.image if page.metadata is not None else None
    if profile.prune is not None:
        # With MinerU's profile, main HTML is MinerU's output, byte for byte.
        main_html = profile.prune(page.mapping_html, main_ids)
        tree = rewrite(main_html, settings, base, is_pruned=False)
        return Content(main_html, tree, {}, list_images(tree, picture) if with_images else {})
    parts, rules = cut_page(page, main_ids, profile.places_media, posts)
    tree = make_tree(parts)
    rewrite_tree(tree, settings, base)
    if links := link_films(tree):
        tree = make_tree(tree.parts)
        rules = {block: rule + 4 * bisect_left(links, rule) for block, rule in rules.items()}
    if profile.places_media:
        replace_icons(tree)
    for rule in rules.values():
        tree.parts[rule] = ""
    elements = {bisect_left(tree.opens, rules[block]): post for block, post in posts.items()}
    return Content("".join(tree.parts), tree, elements, list_images(tree, picture) if with_images else {})
