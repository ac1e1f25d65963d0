"""Who votes, with which weight: what the name of a vote says."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from dripper.errors import SettingsError
from dripper.labels.vote.held_out import HELD_OUT_F1, weight_of


class Voter(NamedTuple):
    """A member of a vote. weight: above 0; only the ratios of weights count."""

    name: str
    weight: float


def voters_of(name: str) -> Sequence[Voter]:
    """Return the members that a vote's name lists, with their weights.

    name: `vote:A,B,…`, each with weight 1, or `weighted:A,B,…`, each with the weight that its score
    on held-out pages gives it. `A=0.9` gives A that weight. Raises SettingsError.

    >>> voters_of("vote:cpu=2,trafilatura")
    [Voter(name='cpu', weight=2.0), Voter(name='trafilatura', weight=1.0)]
    """
    kind, _, listed = name.partition(":")
    voters = [_voter(part, kind, name) for part in listed.split(",")]
    members = [voter.name for voter in voters]
    if len(voters) < 2:
        raise SettingsError(f"labeler {name!r}: a vote takes two members at least, for instance {kind}:cpu,trafilatura")
    for member in members:
        if members.count(member) > 1:
            raise SettingsError(
                f"labeler {name!r} names {member} twice: a member's voice is its weight, as in {member}=2"
            )
    return voters


def _voter(part: str, kind: str, name: str) -> Voter:
    member, equals, said = part.partition("=")
    if not member or ":" in member:
        raise SettingsError(f"labeler {name!r}: {part!r} is no single labeler, as the members of a vote are")
    if equals:
        return Voter(member, _weight(said, part, name))
    if kind == "vote":
        return Voter(member, 1.0)
    if member not in HELD_OUT_F1:
        raise SettingsError(
            f"labeler {name!r}: {member} has no score on held-out pages to take its weight from; give one, as in {member}=1.5"
        )
    return Voter(member, weight_of(HELD_OUT_F1[member]))


def _weight(said: str, part: str, name: str) -> float:
    try:
        weight = float(said)
    except ValueError:
        weight = math.nan
    if not 0 < weight < math.inf:
        raise SettingsError(f"labeler {name!r}: the weight of {part!r} must be a number above 0")
    return weight
