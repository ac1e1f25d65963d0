"""Ingredients that a page declares are main; other lists stay as the network has them."""

import json

import pytest

from dripper.html import preprocess
from dripper.keep.complete import complete

INGREDIENTS = ["2 cups of flour", "1 egg", "½ cup butter, melted", "1 tsp salt &amp; pepper", "sugar"]
ITEMS = "".join(f"<li>▢ {each}</li>" for each in INGREDIENTS)
MENU = "<ul><li>Home</li><li>Recipes with an egg</li></ul>"


def mark(head: str, items: str, main: tuple[int, ...] = (0,)) -> list[str]:
    """Return the main blocks of a page: a step, the ingredients and a menu. `main` are the blocks
    that were main before."""
    page = preprocess(f"{head}<p>Mix it all, and bake it.</p><ul>{items}</ul>{MENU}")
    after = complete(page, [index in main for index in range(len(page.blocks))]).main
    return [block.text for block, is_main in zip(page.blocks, after, strict=True) if is_main]


def declare(ingredients: object) -> str:
    graph = {"@graph": [{"@type": "Recipe", "recipeIngredient": ingredients}]}
    return f'<script type="application/ld+json">{json.dumps(graph)}</script>'


@pytest.mark.parametrize(
    ("head", "items"),
    [
        (declare([each.replace("&amp;", "&") for each in INGREDIENTS]), ITEMS),
        ("", ITEMS.replace("<li>", "<li itemprop=recipeIngredient>")),
        ("", ITEMS.replace("<li>", "<li><span itemprop='x ingredients'>").replace("</li>", "</span></li>")),
    ],
)
def test_declared_ingredients_are_main(head: str, items: str) -> None:
    step, ingredients = mark(head, items)
    assert step.startswith("Mix")
    assert "2 cups of flour" in ingredients


@pytest.mark.parametrize(
    "head", ["", declare("flour"), declare(["rice", "beans", "maize", "lentils"]), declare(INGREDIENTS[:3])]
)
def test_without_a_declaration_that_fits_nothing_changes(head: str) -> None:
    assert mark(head, ITEMS) == ["Mix it all, and bake it."]


def test_a_page_with_nothing_main_stays_so() -> None:
    assert mark(declare(INGREDIENTS), ITEMS, main=()) == []
