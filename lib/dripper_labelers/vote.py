"""Implements the labelers `vote:A,B,…` and `union:A,B,…`. Several labelers vote on each block. In a
`vote`, at least half of the votes make a block main; in a `union`, a single vote does.

In the SIGIR'23 comparison (Bevendorff et al. 2023, 4.5), extractors vote on tokens, because each
extractor produces its own text. Labelers vote on the same blocks, so nothing has to be aligned.
With the comparison's threshold of two thirds, three members would have to agree unanimously.

The name of a vote lists its members (:func:`parse_voters`). The registry creates an entry from the
name (:func:`make_vote_entry`).
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dripper.blocks.page import Page
from dripper.errors import SettingsError
from dripper.labels.arrays import FloatArray
from dripper.labels.base import Closable, Labeler, Labels, expected_f1
from dripper.labels.entry import LabelerEntry, Use
from dripper.labels.words import words_of

UNION = "union"
"""The kind of vote that needs only one member's vote."""


class Voter(NamedTuple):
    """A member of a vote. Weights are positive, and only their ratios matter."""

    name: str
    weight: float


def parse_voters(name: str) -> Sequence[Voter]:
    """Parse the members and weights in the name of a vote. Raises SettingsError if the name is
    invalid.

    Args:
        name: `vote:A,B,…` or `union:A,B,…`. Members have weight 1, unless a vote specifies another
            weight, as in `A=2`.

    >>> parse_voters("vote:cpu=2,trafilatura")
    [Voter(name='cpu', weight=2.0), Voter(name='trafilatura', weight=1.0)]
    """
    kind, _, members_of = name.partition(":")
    voters = [_parse_voter(part, name) for part in members_of.split(",")]
    if kind == UNION and "=" in members_of:
        raise SettingsError(f"labeler {name!r}: a union has no weights, each of its members decides alone")
    members = [voter.name for voter in voters]
    if len(voters) < 2:
        raise SettingsError(
            f"labeler {name!r}: a {kind} takes at least two members, for instance {kind}:cpu,trafilatura"
        )
    for member in members:
        if members.count(member) > 1:
            raise SettingsError(
                f"labeler {name!r} names {member} twice: a member's voice is its weight, as in {member}=2"
            )
    return voters


def _parse_voter(part: str, name: str) -> Voter:
    member, equals, weight = part.partition("=")
    if not member or ":" in member:
        raise SettingsError(f"labeler {name!r}: {part!r} is not a single labeler, as the members of a vote must be")
    return Voter(member, _parse_weight(weight, part, name) if equals else 1.0)


def _parse_weight(text: str, part: str, name: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 < weight < math.inf:
        raise SettingsError(f"labeler {name!r}: the weight of {part!r} must be a number above 0")
    return weight


# Sums of weights that differ less than this, such as 0.1 + 0.2 and 0.3, are a tie.
TIE = 1e-9


class VoteLabeler:
    """A labeler that combines the labels of its members. In a tie, a block is main: a superfluous
    block can be removed later, but a missing block is lost. In a union, a block is main if at least
    one member labels it main."""

    def __init__(self, name: str, voters: Sequence[Voter], labelers: Sequence[Labeler]) -> None:
        """`voters` and `labelers` must be in the same order."""
        self.name = name
        self.members = {voter.name: labeler for voter, labeler in zip(voters, labelers, strict=True)}
        self.version = ",".join(
            f"{voter.name}@{labeler.version}" + (f"*{voter.weight:g}" if voter.weight != 1 else "")
            for voter, labeler in zip(voters, labelers, strict=True)
        )
        self._weights = np.array([voter.weight for voter in voters]) / sum(voter.weight for voter in voters)
        self._is_union = name.startswith(f"{UNION}:")

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        """Return one `Labels` per page. Errors from the members propagate."""
        answers = [labeler.label(pages) for labeler in self.members.values()]
        return [self._count_votes(page, [answer[number] for answer in answers]) for number, page in enumerate(pages)]

    def reasons(self, page: Page) -> Mapping[str, FloatArray]:
        """Return each member's log odds for every block, between -4.6 and 4.6: member name → log
        odds. Errors from the members propagate."""
        said = {name: labeler.label([page])[0] for name, labeler in self.members.items()}
        sure = {name: np.clip(_fill_probability(labels), 0.01, 0.99) for name, labels in said.items()}
        return {name: np.log(each / (1 - each)) for name, each in sure.items()}

    def _count_votes(self, page: Page, answers: Sequence[Labels]) -> Labels:
        """Return the outcome of the vote on one page.

        A member without probabilities counts as certain. The probabilities of the vote are weighted
        means over the members. Confidence is derived from these means, so it is low if the members
        disagree. In a union, each main block is credited to the first member that labeled it main,
        and `method` lists these members.
        """
        main = np.stack([labels.main for labels in answers])
        sure = np.stack([_fill_probability(labels) for labels in answers])
        votes = self._weights @ main
        chosen = votes > 0 if self._is_union else votes >= 0.5 - TIE
        probability = self._weights @ sure
        givers = list(self.members)
        gave = [givers[i] for i in np.unique(main.argmax(axis=0)[chosen])] if self._is_union else []
        words = np.array([len(words_of(block.text)) for block in page.blocks], np.int64)
        return Labels(
            chosen, probability.astype(np.float32), expected_f1(chosen, probability, words),
            passes=sum(labels.passes for labels in answers), windows=max(labels.windows for labels in answers),
            method=f"{UNION}:{','.join(gave)}" if gave else "",
        )  # fmt: skip

    def close(self) -> None:
        """Close all members that can be closed."""
        for labeler in self.members.values():
            if isinstance(labeler, Closable):
                labeler.close()


def _fill_probability(labels: Labels) -> FloatArray:
    return np.where(np.isnan(labels.probability), labels.main, labels.probability).astype(np.float64)


def make_vote_entry(name: str) -> LabelerEntry:
    """Return the entry for a vote; `parse_voters` describes the name. Raises SettingsError if the
    name is invalid."""
    from dripper.labels.registry import find_entry

    voters = parse_voters(name)
    members = {voter.name: find_entry(voter.name) for voter in voters}
    return LabelerEntry(
        name=name,
        members=tuple(members),
        load=partial(_load, name, voters, members),
        check=partial(_check, name, members),
        fallback="cpu",
    )


def _load(
    name: str, voters: Sequence[Voter], members: Mapping[str, LabelerEntry], settings: Mapping[str, Any]
) -> Labeler:
    return VoteLabeler(name, voters, [entry.load(settings[member]) for member, entry in members.items()])


def _check(name: str, members: Mapping[str, LabelerEntry], settings: Mapping[str, Any], use: Use) -> Sequence[str]:
    for member, entry in members.items():
        if entry.staged:
            raise SettingsError(
                f"labeler {name!r}: {member} needs a stage of its own, but a vote is taken page by page in one "
                f"pass; leave {member} out, or let it label alone"
            )
    return [warning for member, entry in members.items() for warning in entry.check(settings[member], use)]
