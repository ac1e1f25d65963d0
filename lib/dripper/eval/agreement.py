"""How far this harness agrees with what the SIGIR'23 study (WCEB) published, page by page."""

from collections.abc import Mapping
from dataclasses import dataclass

from dripper.eval.results import Frame
from dripper.eval.wceb import OUR_SETS, Reference

THEIR_NAMES: Mapping[str, str] = {
    "trafilatura-wceb": "trafilatura",
    "readability-lxml": "readability",
    "resiliparse": "resiliparse",
    "justext-wceb": "justext",
    "goose3": "goose3",
    "boilerpy3": "boilerpipe",
    "newspaper4k": "newspaper3k",
}
"""Our extractor → the study's. The last two are successors of what it ran."""

SAME = 0.005
"""Pages this near are counted as the same: half a percent of F1 is a few words."""

DIFFERENCES: Mapping[str, str] = {
    "trafilatura-wceb": "the study ran 1.4 (2022); its rules have changed since",
    "readability-lxml": "the study ran 0.8; since 0.8.2 encodings and empty summaries are handled otherwise",
    "resiliparse": "the study ran 0.14; version 1 and 2 changed the rules",
    "goose3": "some declared encodings (ISO8859_1) raise LookupError in the version here",
    "boilerpy3": "a port to Python with another HTML parser; the study called the original in Java",
    "newspaper4k": "the successor of the newspaper3k that the study ran",
}
"""Why an extractor differs where it does, from its change log and from pages that were looked at."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """One extractor on one part of WCEB, over the pages that both scored: mean ROUGE-LSum F1, and how the pages compare.

    same: share of pages within 0.005. median_gap: the median of |ours − theirs|. lost: pages on which ours gives nothing
    although theirs scored above 0.5.
    """

    data_set: str
    extractor: str
    theirs_name: str
    pages: int
    ours: float
    theirs: float
    same: float
    median_gap: float
    lost: int

    @property
    def gap(self) -> float:
        """Ours minus theirs."""
        return self.ours - self.theirs


def agreements(frame: Frame, reference: Reference) -> list[Agreement]:
    """Compare the column `wceb_f1` with the published scores, for every extractor that the study has too."""
    if "wceb_f1" not in frame:
        return []
    scored = frame.dropna(subset=["wceb_f1"])
    found = []
    for (data_set, name), rows in scored.groupby(["data_set", "extractor"], sort=True):
        if name not in THEIR_NAMES:
            continue
        published = reference.f1.get((OUR_SETS[data_set], THEIR_NAMES[name]), {})
        theirs = rows["id"].map(lambda id, ids=reference.ids[data_set], f1=published: f1.get(ids[id]))
        both = rows.assign(theirs=theirs).dropna(subset=["theirs"])
        if len(both):
            found.append(_agreement(str(data_set), str(name), both))
    return found


def _agreement(data_set: str, name: str, both: Frame) -> Agreement:
    gaps = (both["wceb_f1"] - both["theirs"]).abs()
    return Agreement(
        data_set=data_set,
        extractor=name,
        theirs_name=THEIR_NAMES[name],
        pages=len(both),
        ours=float(both["wceb_f1"].mean()),
        theirs=float(both["theirs"].mean()),
        same=float((gaps <= SAME).mean()),
        median_gap=float(gaps.median()),
        lost=int((both["is_empty"] & (both["theirs"] > 0.5)).sum()),
    )
