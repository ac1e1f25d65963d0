"""CSS selectors of kept and of dropped elements."""

import numpy as np
import pytest

import dripper
from dripper.errors import ErrorCode, SettingsError
from dripper.labels import Labels
from dripper.page.finish import Finisher
from dripper.page.split import Decoded
from dripper.settings import HtmlSettings, Settings
from dripper.tree.selectors import find_kept_blocks
from support.warcs import page

HTML = page(3)[1].decode()
SIDE = '<div class="side"><h2>Opening hours</h2><p>Daily <b id="from">from nine</b> to five.</p></div>'
PAGE = HTML.replace("</body>", f"{SIDE}</body>", 1) if "</body>" in HTML else HTML + SIDE


def extract(**selectors: list[str]) -> str:
    return dripper.extract(PAGE, settings={f"html.{name}": given for name, given in selectors.items()}).text


def test_kept_blocks_are_main_whatever_the_labeler_says() -> None:
    assert "Opening hours" not in extract()
    assert "Daily from nine to five." in extract(keep=[".side"])
    assert "Daily from nine to five." in extract(keep=["#from"])
    assert "Opening hours" not in extract(keep=["#from"])
    assert extract(keep=[".nothing"]) == extract()


def test_dropped_elements_are_gone_from_within_blocks_too() -> None:
    assert "ferry" in extract()
    assert "nine" not in extract(keep=[".side"], drop=["#from"])
    assert dripper.extract("<p>One.", settings={"html.drop": ["p"]}).error_code is ErrorCode.EMPTY_PAGE
    assert dripper.extract("<p>One.", settings={"html.drop": ["body", "*"]}).error_code is ErrorCode.EMPTY_PAGE


@pytest.mark.parametrize("profile", ["dripper", "paper", "mineru-1.1"])
def test_every_profile_keeps_and_drops(profile: str) -> None:
    given = {"profile": profile, "html.keep": [".side"], "html.drop": ["#from"]}
    main_html = dripper.extract(PAGE, settings=given).main_html
    assert "Opening hours" in main_html
    assert "from nine" not in main_html


def test_kept_blocks_need_no_labels_beside_them() -> None:
    finisher = Finisher(Settings(html=HtmlSettings(keep=(".a",))))
    nothing = Labels.certain(np.zeros(2, bool))
    page = Decoded.of("<p>one<p class=a>two")
    assert finisher.examine(page, None, "dripper", "rule", lambda _: (nothing, "")).extraction.text.strip() == "two"


@pytest.mark.parametrize("selector", ["p[", "", ">>"])
def test_what_is_no_selector_is_told(selector: str) -> None:
    with pytest.raises(SettingsError, match="is not a CSS selector"):
        dripper.extract("<p>", settings={"html.keep": [selector]})


def test_the_ids_of_kept_blocks() -> None:
    mapping = '<div id="a"><p _item_id="1">x</p><ul _item_id="2"><li class="b">y</li></ul></div><p _item_id="3">z</p>'
    assert find_kept_blocks(mapping, ["#a"]) == {1, 2}
    assert find_kept_blocks(mapping, [".b", "p + p", "div + p"]) == {2, 3}
