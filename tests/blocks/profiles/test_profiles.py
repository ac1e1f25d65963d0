"""Profiles by name, and the guarantees of all of them."""

import pytest

from dripper.html import NO_LIMITS, PROFILES, Page, find_profile, prune, prune_page
from dripper.settings import Settings
from dripper.tree.parser import Reading
from support.labelled import labelled_pages

HTML = labelled_pages()[0].html.decode("utf-8", "ignore").encode()


def test_every_profile_has_the_name_it_is_known_by() -> None:
    assert {name: find_profile(name).name for name in PROFILES} == {name: name for name in PROFILES}


def test_the_settings_know_the_same_profiles() -> None:
    annotation = Settings.model_fields["profile"].annotation
    assert set(annotation.__args__) == set(PROFILES)  # type: ignore[union-attr]


def test_an_unknown_name_says_which_there_are() -> None:
    with pytest.raises(ValueError, match=r"unknown profile 'mineru'; there are dripper, mineru-1.0, mineru-1.1, paper"):
        find_profile("mineru")


@pytest.mark.parametrize("name", PROFILES)
def test_a_page_knows_its_profile_and_prunes_like_it(name: str) -> None:
    profile = find_profile(name)
    page = profile.preprocess(HTML, Reading(limits=NO_LIMITS))
    assert isinstance(page, Page)
    assert page.profile == name
    main_ids = [item_id for item_id in page.item_ids if item_id % 3]
    assert prune(page.mapping_html, main_ids, name) == prune_page(page, main_ids)
