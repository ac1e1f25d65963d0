import contextlib

import pytest

from dripper.errors import MachineError, UsageError
from dripper_lab.evaluation.extractors.base import Contender, Standing, Task, choose, own_version, split_installed
from dripper_lab.evaluation.extractors.ours import all_blocks, list_own_extractors, oracle, run_labeler
from dripper_lab.evaluation.extractors.peers import language_of, peers
from dripper_lab.extra import import_extra
from support.small_set import labelled, page_html, story

PAGE = labelled(1)
TASK = Task(PAGE, page_html(1))
HOSTILE = [
    "", " ", "no tags at all", "<", "<html>", "<p>\ud800 lone surrogate, and then a sentence that is long enough to count.",
    '<?xml version="1.0" encoding="utf-16"?><html><body><p>A declaration that is not true.</p></body></html>',
    "<table><tr><td>" * 50, "\0<p>NUL",
]  # fmt: skip


# On so short a page Boilerpipe takes the line below the article for a part of it.
KEEPS_A_FOOTER = {"all-blocks", "boilerpy3", "boilerpy3-default", "boilerpy3-largest"}
# It has six words between four tags.
KEEPS_A_FOOTER |= {"bte"}
# A converter that cuts elements by their names.
CUTS_A_FOOTER = {"lxml-cleaner"}


def everyone() -> list[Contender]:
    return split_installed([*list_own_extractors(()), *peers()])[0]


def main_text(extractor: Contender, task: Task) -> str:
    return " ".join(extractor.load()(task).split())


@pytest.mark.parametrize("extractor", everyone(), ids=lambda one: one.name)
def test_finds_the_story(extractor: Contender) -> None:
    text = main_text(extractor, TASK)
    assert story(1)[:60] in text
    keeps = extractor.kind is Standing.TEXT or extractor.name in KEEPS_A_FOOTER
    assert ("All rights reserved" in text) == (keeps and extractor.name not in CUTS_A_FOOTER)
    assert extractor.version


@pytest.mark.parametrize("extractor", everyone(), ids=lambda one: one.name)
def test_hostile_pages_give_text_or_an_ordinary_exception(extractor: Contender) -> None:
    extract = extractor.load()
    for html in HOSTILE:
        result: object = ""
        with contextlib.suppress(Exception):  # the run turns it into an error of this page
            result = extract(Task(PAGE, html))
        assert isinstance(result, str)


def test_body_text_is_the_stretch_with_most_words_and_fewest_tags() -> None:
    """Counted by hand: 8 words and 2 tags; less with a link next to it."""
    (bte,) = [one for one in peers() if one.name == "bte"]
    html = "<a>menu</a><p>one two three <b>four</b> five six seven eight</p><a>next</a><script>x y z</script>"
    assert bte.load()(Task(PAGE, html)) == "one two three four five six seven eight"


def test_names_are_unique_and_chosen_by_name() -> None:
    known = {one.name: one for one in peers()}
    assert len(known) == len(peers())
    assert [one.name for one in choose(["gne", "goose3"], known)] == ["gne", "goose3"]
    with pytest.raises(UsageError, match="unknown extractor 'goose'; there are: trafilatura, "):
        choose(["goose"], known)


def test_missing_packages_are_named() -> None:
    absent = Contender("absent", Standing.PEER, "no-such-package", lambda: lambda task: "")
    assert split_installed([absent, peers()[0]]) == ([peers()[0]], ["absent"])
    with pytest.raises(MachineError, match=r"evaluation needs no_such_module .*pip install '\.\[eval\]'"):
        import_extra("no_such_module.part")


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<html lang="de-DE"><body>', "de"),
        ("<HTML dir=ltr LANG=ja>", "ja"),
        ("<html><body>" + "中文" * 150, "zh"),
        ("<html><body>中文 in an English page", "en"),
    ],
)
def test_language_for_those_who_want_to_be_told(html: str, language: str) -> None:
    assert language_of(html) == language


def test_chinese_pages_get_chinese_settings() -> None:
    text = "我们今天在海边看见了很多渔船，天气非常好，大家都很高兴地回家了。" * 12
    task = Task(PAGE, f"<html><body><div><p>{text}</p><p>{text}</p></div></body></html>")
    for extractor in choose(["justext", "goose3", "newspaper4k"], {one.name: one for one in peers()}):
        assert text[:20] in extractor.load()(task), extractor.name


def test_oracle_keeps_what_the_truth_holds() -> None:
    html = oracle()(TASK)
    assert story(2)[:40] in html
    assert "<nav" not in html
    assert "imprint" not in html
    assert "imprint" in all_blocks()(TASK)


def test_ours_are_named_by_labeler() -> None:
    assert [one.name for one in list_own_extractors(("cpu", "trafilatura"))] == [
        "dripper-cpu",
        "dripper-trafilatura",
        "oracle",
        "all-blocks",
    ]
    assert story(1)[:40] in run_labeler("trafilatura")(TASK)
    assert own_version().startswith("0.")
    assert "+" in own_version()
