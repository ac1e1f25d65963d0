"""Votes: their names, the winner, the confidence, and their entry in the registry."""

from collections.abc import Sequence

import numpy as np
import pytest

import dripper
from dripper.errors import SettingsError
from dripper.html import Page, preprocess
from dripper.labels import Labels, load
from dripper.labels.config import load as load_settings
from dripper.labels.entry import Use
from dripper.labels.registry import check_use, find_entry, labeler_settings, load_from_settings, resolve_fallback
from dripper.settings import LabelerSettings, LabelsSettings
from dripper_labelers.vote import VoteLabeler, Voter, parse_voters
from support.flood import ARTICLE
from support.labelled import pages

PAGE = preprocess("<p>one two<p>three four<p>five six seven eight")


class Says:
    """A labeler of fixed labels."""

    version = "7"

    def __init__(self, main: Sequence[int], probability: Sequence[float] | None = None) -> None:
        self.name = "says"
        self._labels = Labels.certain(np.array(main, bool))
        if probability is not None:
            self._labels = Labels(self._labels.main, np.array(probability, np.float32), 0.5, passes=2, windows=3)
        self.closed = False

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        return [self._labels for _ in pages]

    def close(self) -> None:
        self.closed = True


def vote(*said: Says, weights: Sequence[float] = (1, 1, 1, 1)) -> VoteLabeler:
    voters = [Voter(f"m{number}", weight) for number, (weight, _) in enumerate(zip(weights, said, strict=False))]
    return VoteLabeler("vote:m", voters, said)


def test_the_majority_of_each_block_decides() -> None:
    (labels,) = vote(Says([1, 1, 0]), Says([1, 0, 0]), Says([0, 1, 0])).label([PAGE])
    assert labels.main.tolist() == [True, True, False]
    assert labels.main.dtype == bool


def test_a_tie_is_main_also_where_weights_are_no_binary_fractions() -> None:
    assert vote(Says([1, 0, 0]), Says([0, 0, 1])).label([PAGE])[0].main.tolist() == [True, False, True]
    (labels,) = vote(Says([1, 1, 0]), Says([1, 0, 0]), Says([0, 0, 1]), weights=(0.1, 0.2, 0.3)).label([PAGE])
    assert labels.main.tolist() == [True, False, True]


def test_a_heavy_voter_wins_against_two() -> None:
    (labels,) = vote(Says([1, 0, 0]), Says([0, 1, 0]), Says([0, 1, 0]), weights=(3, 1, 1)).label([PAGE])
    assert labels.main.tolist() == [True, False, False]


def test_the_probability_is_the_weighted_mean_and_who_has_none_is_sure() -> None:
    (labels,) = vote(Says([1, 0, 0], [0.75, 0.25, 0.0]), Says([1, 1, 0]), weights=(1, 3)).label([PAGE])
    assert labels.probability.tolist() == [0.9375, 0.8125, 0.0]
    assert labels.probability.dtype == np.float32
    assert (labels.passes, labels.windows) == (2, 3)


def test_confidence_falls_where_members_disagree() -> None:
    agreed, disagreed = (
        vote(Says([1, 1, 0]), Says(other), Says([1, 1, 0])).label([PAGE])[0].confidence
        for other in ([1, 1, 0], [0, 0, 1])
    )
    assert agreed == 1.0
    assert 0.5 < disagreed < 0.8


def test_the_version_names_those_of_the_members_and_their_weights() -> None:
    assert vote(Says([1, 1, 1]), Says([1, 1, 1]), weights=(1, 2.5)).version == "m0@7,m1@7*2.5"


def test_closing_closes_the_members() -> None:
    member = Says([1, 1, 1])
    vote(member, Says([1, 1, 1])).close()
    assert member.closed


def test_real_members_on_real_pages_and_on_pages_of_nothing() -> None:
    labeler = load("vote:cpu,trafilatura,all")
    members = [load(name) for name in ("cpu", "trafilatura", "all")]
    assert labeler.version == ",".join(f"{member.name}@{member.version}" for member in members)
    real = [*pages(), preprocess("")]
    for labels, *said in zip(labeler.label(real), *(member.label(real) for member in members), strict=True):
        assert labels.main.tolist() == (np.sum([each.main for each in said], axis=0) >= 2).tolist()


def test_members_take_the_settings_of_their_own_sections() -> None:
    name = "vote:cpu,trafilatura"
    labels = LabelsSettings.model_validate({"cpu": {"title": "include"}})
    assert labeler_settings(name, labels)["cpu"].title == "include"
    wanted = f"cpu@{load('cpu', title='include').version},"
    assert load_from_settings(LabelerSettings(name=name), labels).version.startswith(wanted)
    assert load(name, cpu={"title": "include"}).version.startswith(wanted)
    assert dripper.extract(ARTICLE, labeler=name, cpu={"title": "include"}).method == name
    with pytest.raises(SettingsError, match=r"has the settings of its members alone; given: title"):
        load(name, title="include")
    with pytest.raises(SettingsError, match=r"unknown setting labels\.cpu\.titel; did you mean labels\.cpu\.title"):
        load(name, cpu={"titel": "include"})
    with pytest.raises(SettingsError, match=r"its members have theirs, labels\.cpu, labels\.trafilatura"):
        load_settings(assignments=["labels.vote:cpu,trafilatura.cpu=1"])


def test_an_entry_says_what_a_run_has_to_know() -> None:
    entry = find_entry("vote:cpu,trafilatura")
    assert (entry.name, entry.members, entry.staged) == ("vote:cpu,trafilatura", ("cpu", "trafilatura"), False)
    assert resolve_fallback(LabelerSettings(name=entry.name)) == "cpu"
    assert list(check_use(LabelerSettings(name=entry.name), LabelsSettings(), Use("dripper"))) == []


def test_a_member_that_wants_a_stage_is_refused_in_a_run() -> None:
    with pytest.raises(SettingsError, match=r"'vote:cpu,lm': lm needs a stage of its own.* leave lm out"):
        check_use(LabelerSettings(name="vote:cpu,lm"), LabelsSettings(), Use("dripper"))


def test_an_unknown_member_is_an_unknown_labeler() -> None:
    with pytest.raises(SettingsError, match="no labeler 'cpi'; did you mean 'cpu'"):
        load("vote:cpi,all")


def test_in_a_union_one_member_is_enough() -> None:
    """Of three, which a majority would not be."""
    voters = [Voter(f"m{number}", 1) for number in range(3)]
    union = VoteLabeler("union:m", voters, [Says([1, 0, 0]), Says([0, 0, 0], [0.2, 0.4, 0.1]), Says([0, 1, 0])])
    (labels,) = union.label([PAGE])
    assert labels.main.tolist() == [True, True, False]
    assert labels.probability.tolist() == pytest.approx([1.2 / 3, 1.4 / 3, 0.1 / 3])
    assert labels.method == "union:m0,m2"
    reasons = union.reasons(PAGE)
    assert list(reasons) == ["m0", "m1", "m2"]
    assert reasons["m0"].round(1).tolist() == [4.6, -4.6, -4.6]
    assert reasons["m1"].round(1).tolist() == [-1.4, -0.4, -2.2]


def test_a_member_that_adds_nothing_is_not_named() -> None:
    voters = [Voter("a", 1), Voter("b", 1)]
    said = [([1, 1, 0], [0, 1, 0]), ([0, 0, 0], [0, 1, 0]), ([0, 0, 0], [0, 0, 0])]
    unions = [VoteLabeler("union:a,b", voters, [Says(first), Says(second)]) for first, second in said]
    assert [union.label([PAGE])[0].method for union in unions] == ["union:a", "union:b", ""]


def test_a_union_is_loaded_by_name_and_has_no_weights() -> None:
    page = preprocess(ARTICLE)
    (union,) = load("union:cpu,all").label([page])
    assert union.main.all()
    assert dripper.extract(ARTICLE, labeler="union:cpu,all").method == "union:cpu,all"
    assert dripper.extract(ARTICLE, labeler="union:all,cpu").method == "union:all"
    with pytest.raises(SettingsError, match="a union has no weights, each of its members decides alone"):
        load("union:cpu=2,all")
    with pytest.raises(SettingsError, match="a union takes at least two members, for instance union:cpu,trafilatura"):
        load("union:cpu")


def test_members_are_voters_of_one_weight_unless_the_name_says_another() -> None:
    assert parse_voters("vote:cpu,all,trafilatura") == [("cpu", 1), ("all", 1), ("trafilatura", 1)]
    assert parse_voters("vote:cpu=0.9,all=2") == [("cpu", 0.9), ("all", 2)]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("vote:cpu", "a vote takes at least two members, for instance vote:cpu,trafilatura"),
        ("vote:cpu,", "'' is not a single labeler"),
        ("vote:cpu,vote:all", "'vote:all' is not a single labeler"),
        ("vote:cpu,all,cpu=2", "names cpu twice: a member's voice is its weight, as in cpu=2"),
        ("vote:cpu=much,all", "the weight of 'cpu=much' must be a number above 0"),
        ("vote:cpu=-1,all", "the weight of 'cpu=-1' must be a number above 0"),
        ("vote:cpu=nan,all", "the weight of 'cpu=nan' must be a number above 0"),
    ],
)
def test_a_wrong_name_is_one_sentence(name: str, words: str) -> None:
    with pytest.raises(SettingsError) as error:
        parse_voters(name)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
