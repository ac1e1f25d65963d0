"""Entries of votes for the registry, made from their names; the members are found by theirs."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dripper.errors import SettingsError
from dripper.labels.base import Labeler
from dripper.labels.entry import LabelerEntry, Use
from dripper.labels.vote.ballot import Voter, voters_of


def vote_entry(name: str) -> LabelerEntry:
    """Return the entry of a vote, named as `ballot.voters_of` reads it. Raises SettingsError."""
    from dripper.labels.registry import find_entry

    voters = voters_of(name)
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
    from dripper.labels.vote.labeler import VoteLabeler

    return VoteLabeler(name, voters, [entry.load(settings[member]) for member, entry in members.items()])


def _check(name: str, members: Mapping[str, LabelerEntry], settings: Mapping[str, Any], use: Use) -> Sequence[str]:
    for member, entry in members.items():
        if entry.staged:
            raise SettingsError(
                f"labeler {name!r}: {member} wants a stage of its own, and a vote is taken page by page on the way "
                f"through one pass; leave {member} out, or let it label alone"
            )
    return [warning for member, entry in members.items() for warning in entry.check(settings[member], use)]
