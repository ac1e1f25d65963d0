"""Computes majority votes over extractors, token by token (SIGIR'23, 4.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from dripper_lab.extra import import_extra

NGRAM = 5
THRESHOLD = 0.66
"""The study's threshold of two thirds. The study's code rounds the resulting number of votes
down."""


@dataclass(frozen=True, slots=True)
class Ensemble:
    """A majority vote of extractors."""

    name: str
    members: Mapping[str, int]
    """The number of votes per extractor."""
    needed: int
    """The number of votes required to keep a token."""

    @property
    def setting(self) -> str:
        """The members, with multiplicities other than one, and the required number of votes."""
        members = ", ".join(f"{votes}×{name}" if votes > 1 else name for name, votes in self.members.items())
        return f"{self.needed} of {sum(self.members.values())} votes: {members}"


# Of the study's nine best extractors, those on PyPI; STUDY_DOUBLE lists those with two votes. We
# did not select extractors ourselves, because that would be tuning on the scored pages.
STUDY_BEST = ("goose3", "readability-lxml", "trafilatura", "resiliparse", "bte", "justext", "boilerpy3")
STUDY_DOUBLE = frozenset({"goose3", "readability-lxml", "trafilatura"})
BEST_SHARE, WEIGHTED_SHARE = Fraction(5, 9), Fraction(5, 12)
"""The fractions of votes that the study requires: five (0.66 × 9 members, rounded down) of nine
votes, and five of twelve weighted votes."""

VARIANTS = frozenset(
    {
        *("trafilatura-precision", "trafilatura-recall", "trafilatura-fast", "rs-trafilatura", "mineru-fallback"),
        *("boilerpy3-default", "boilerpy3-largest", "boilerpy3-canola", "news-please"),
    }
)
"""Extractors that do not vote, because a related extractor does. For example, news-please returns
Newspaper's text. Otherwise, the Trafilatura family would have six of thirteen votes."""


def ensembles(voters: Sequence[str]) -> list[Ensemble]:
    """Return the study's three ensembles over the available extractors: all, best only, and best
    weighted. Related extractors share one vote."""
    best = [name for name in STUDY_BEST if name in voters]
    if len(best) < 3:
        return []
    families = [name for name in voters if name not in VARIANTS]
    weights = {name: 2 if name in STUDY_DOUBLE else 1 for name in best}
    return [
        Ensemble("majority-all", dict.fromkeys(families, 1), int(len(families) * THRESHOLD)),
        Ensemble("majority-best", dict.fromkeys(best, 1), ceil(BEST_SHARE * len(best))),
        Ensemble("majority-weighted", weights, ceil(WEIGHTED_SHARE * sum(weights.values()))),
    ]


def page_tokens(html: str) -> list[str]:
    """Return the tokens to vote on: the text of the whole page, split at white space."""
    text = import_extra("resiliparse.extract.html2text").extract_plain_text(
        html.encode("utf-8", "replace").decode(),
        main_content=False,
        preserve_formatting=False,
        list_bullets=False,
        links=False,
        alt_texts=False,
        noscript=False,
        form_fields=False,
    )
    return str(text).split()


def majority_vote(tokens: Sequence[str], answers: Mapping[str, str], members: Mapping[str, int], needed: int) -> str:
    """Return the tokens that have at least `needed` votes, joined by spaces.

    An extractor votes for a token if its answer contains the five tokens that end or begin at this
    position.

    Args:
        answers: Extractor → text; "" if the extractor failed.
        members: Extractor → number of votes.
    """
    gram_votes = [(_grams(answers.get(name, "").split()), votes) for name, votes in members.items()]
    grams = _ngrams(_pad(tokens))
    chosen = []
    for position, token in enumerate(tokens):
        left, right = grams[position], grams[position + NGRAM - 1]
        if sum(votes for of_member, votes in gram_votes if left in of_member or right in of_member) >= needed:
            chosen.append(token)
    return " ".join(chosen)


def _pad(tokens: Sequence[str]) -> list[str]:
    """Pad the tokens on both sides, so that the first and last tokens also have neighbors."""
    return ["\0"] * (NGRAM - 1) + list(tokens) + ["\0"] * (NGRAM - 1)


def _ngrams(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(tokens[start:] for start in range(NGRAM)), strict=False))


def _grams(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    return set(_ngrams(_pad(tokens))) if tokens else set()
