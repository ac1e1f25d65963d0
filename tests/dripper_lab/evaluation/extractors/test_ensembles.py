from hypothesis import given
from hypothesis import strategies as st

from dripper_lab.evaluation.extractors.base import Standing
from dripper_lab.evaluation.extractors.ensembles import Ensemble, ensembles, majority_vote, page_tokens
from dripper_lab.evaluation.extractors.peers import peers
from support.small_set import labelled

TOKENS = st.lists(st.sampled_from("abcdefgh"), max_size=30)


def study_vote(tokens: list[str], answers: list[str], weights: list[int]) -> str:
    """The vote as the study's code does it: padded strings, searched."""
    padded = ["\0"] * 4 + tokens + ["\0"] * 4
    kept = []
    for at in range(4, len(padded) - 4):
        left, right = (f" {' '.join(part)} " for part in (padded[at - 4 : at + 1], padded[at : at + 5]))
        votes = 0
        for answer, weight in zip(answers, weights, strict=True):
            text = "\0 " * 5 + " ".join(answer.split()) + " \0" * 5
            votes += weight * (left in text or right in text)
        if votes >= int(len(answers) * 0.66):
            kept.append(padded[at])
    return " ".join(kept)


@given(TOKENS, st.lists(TOKENS, min_size=3, max_size=5), st.data())
def test_votes_as_the_studys_code(tokens: list[str], said: list[list[str]], data: st.DataObject) -> None:
    # Real answers are pieces of the page: mix those with others. An empty answer votes for nothing
    # here, and for the padding of an empty page there, which keeps no token either way.
    answers = []
    for other in said:
        start = data.draw(st.integers(0, len(tokens)))
        answers.append(" ".join(tokens[start : start + data.draw(st.integers(1, 20))] or other or ["x"]))
    weights = [data.draw(st.integers(1, 2)) for _ in answers]
    names = [str(number) for number in range(len(answers))]
    members = dict(zip(names, weights, strict=True))
    ours = majority_vote(tokens, dict(zip(names, answers, strict=True)), members, int(len(members) * 0.66))
    assert ours == study_vote(tokens, answers, weights)


def test_two_of_three_decide() -> None:
    tokens = ["menu", "menu", "menu", "menu", "menu", "one", "two", "three", "four", "five", "six"]
    story = "one two three four five six"
    members = {"a": 1, "b": 1, "c": 1, "d": 1}
    assert majority_vote(tokens, {"a": story, "b": story, "c": ""}, members, 2) == story
    assert majority_vote(tokens, {"a": story, "b": "", "c": ""}, members, 2) == ""
    assert majority_vote(tokens, {}, members, 2) == ""


def test_weights_double_a_voice() -> None:
    tokens = ["one", "two", "three", "four", "five"]
    answers = {"a": " ".join(tokens), "b": "", "c": "", "d": ""}
    assert majority_vote(tokens, answers, {"a": 2, "b": 1, "c": 1, "d": 1}, 2) == " ".join(tokens)


def test_the_studys_ensembles_of_those_at_hand() -> None:
    every, best, weighted = ensembles(["trafilatura", "goose3", "justext", "gne"])
    assert every == Ensemble("majority-all", {"trafilatura": 1, "goose3": 1, "justext": 1, "gne": 1}, 2)
    assert set(best.members) == {"trafilatura", "goose3", "justext"}
    assert weighted.members == {"goose3": 2, "trafilatura": 2, "justext": 1}
    assert weighted.setting == "3 of 5 votes: 2×goose3, 2×trafilatura, justext"
    assert ensembles(["trafilatura", "gne"]) == []


def test_shares_of_votes_are_the_studys() -> None:
    """Five of nine and five of twelve there; two thirds of the number of members, rounded down,
    would be 4 of 7 and 4 of 10 here."""
    _, best, weighted = ensembles([one.name for one in peers()])
    assert (best.needed, sum(best.members.values())) == (4, 7)
    assert (weighted.needed, sum(weighted.members.values())) == (5, 10)


def test_a_family_has_one_vote() -> None:
    every, *_ = ensembles([one.name for one in peers() if one.kind is Standing.PEER])
    assert [name for name in every.members if "trafilatura" in name or name == "mineru-fallback"] == ["trafilatura"]
    assert [name for name in every.members if "boilerpy3" in name] == ["boilerpy3"]
    assert every.needed == int(0.66 * len(every.members))


def test_tokens_of_a_page_are_all_its_words() -> None:
    page = labelled(1)
    tokens = page_tokens(page.html.decode())
    assert set(page.truth_text.split()) <= set(tokens)
    assert "imprint," in tokens
    assert page_tokens("<p>\ud800 one") == ["?", "one"]
