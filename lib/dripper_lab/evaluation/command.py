"""Converts the command line of an evaluation to the settings of a run."""

import argparse
import logging
from pathlib import Path

from dripper.errors import InputError, UsageError
from dripper.labels import Use
from dripper.labels.registry import check_use
from dripper.settings import LabelerSettings, LabelsSettings
from dripper_lab.datasets import Role, names_with
from dripper_lab.evaluation.benchmarks.wceb import Reference, read_reference
from dripper_lab.evaluation.benchmarks.webmainbench import DATA_SET as WEBMAINBENCH
from dripper_lab.evaluation.extractors.base import Contender, choose, split_installed
from dripper_lab.evaluation.extractors.ours import LABELERS, WITH_A_MODEL, default_labelers, list_own_extractors
from dripper_lab.evaluation.extractors.peers import peers
from dripper_lab.evaluation.report.writer import BASELINE
from dripper_lab.evaluation.run import RunSettings
from dripper_lab.evaluation.sources import PageSource
from dripper_lab.metrics.scoring import DEFAULT_METRICS, METRICS

logger = logging.getLogger(__name__)

DEFAULT_SAMPLE = 60
"""The default number of pages per set. All extractors together take 0.75 s of CPU time for a page
of 80 KB, and three times as long for a page of WCXB. With 60 pages per set, all sets take about 20
minutes on two idle cores, and the 95 % interval of a macro mean is ±0.025."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags for choosing sets, extractors and metrics."""
    parser.add_argument("--data", type=Path, required=True, help="folder with the archives of the data sets")
    parser.add_argument("--sets", type=_names, help="names, or `evaluation` (default: all that are in DATA)")
    parser.add_argument("--extractors", type=_names, help="names (default: all that are installed)")
    parser.add_argument(
        "--labelers",
        type=_names,
        help=f"this project's to run, votes as A;vote:B,C (default: {';'.join(LABELERS)}, and {' and '.join(WITH_A_MODEL)} "
        "where --set names their checkpoints)",
    )
    parser.add_argument("--metrics", type=_names, default=list(DEFAULT_METRICS), help=f"of {', '.join(METRICS)}")
    parser.add_argument(
        "--sample", type=_positive, default=DEFAULT_SAMPLE, help=f"pages a set (default {DEFAULT_SAMPLE})"
    )
    parser.add_argument("--all-pages", action="store_true", help="no sample: hours instead of minutes")
    parser.add_argument("--webmainbench", type=Path, metavar="FILE", help="the WebMainBench file, as one more set")
    parser.add_argument("--cache", type=Path, help="where archives are unpacked (default: beside the report)")


def run_settings(arguments: argparse.Namespace, folder: Path, labels: LabelsSettings) -> RunSettings:
    """Return the settings of a run that stores its state under `folder`. Raises UsageError.

    Args:
        labels: The settings of the labelers.
    """
    if not arguments.data.is_dir():
        raise InputError(f"--data {arguments.data} is not a folder")
    sample = None if arguments.all_pages else arguments.sample
    source = PageSource(arguments.data, sample, arguments.cache or folder / "cache", arguments.webmainbench)
    return RunSettings(
        source=source,
        folder=folder / "run",
        sets=_sets(arguments),
        extractors=_extractors(arguments, labels),
        metrics=arguments.metrics,
        reference=_reference(arguments.data),
    )


def _sets(arguments: argparse.Namespace) -> list[str]:
    if arguments.sets == ["evaluation"]:
        chosen = names_with(Role.EVALUATION, folder=arguments.data)
    elif arguments.sets:
        chosen = arguments.sets
    else:
        chosen = names_with(*(role for role in Role if role is not Role.FORMAT_SAMPLE), folder=arguments.data)
    if arguments.webmainbench and WEBMAINBENCH not in chosen:
        chosen = [*chosen, WEBMAINBENCH]
    if not chosen:
        raise InputError(f"no data sets in {arguments.data}")
    return chosen


def _extractors(arguments: argparse.Namespace, labels: LabelsSettings) -> list[Contender]:
    labelers = tuple(arguments.labelers or default_labelers(labels))
    for name in labelers:
        check_use(LabelerSettings(name=name), labels, Use("dripper"))
    everyone = {one.name: one for one in [*list_own_extractors(labelers, labels), *peers()]}
    if arguments.extractors:
        chosen = choose(arguments.extractors, everyone)
    else:
        chosen, missing = split_installed(everyone.values())
        if missing:
            logger.warning("not installed, so left out: %s", ", ".join(missing))
    if BASELINE not in [one.name for one in chosen]:
        # Report this now, not after minutes of work.
        raise UsageError(f"a report counts gains from {BASELINE}: add it to --extractors")
    return chosen


def _reference(data: Path) -> Reference | None:
    if not (data / "wceb_reference.tar.xz").exists():
        logger.warning("no wceb_reference.tar.xz in %s: no comparison with published scores", data)
        return None
    return read_reference(data)


def _names(value: str) -> list[str]:
    """Split a list of names. The name of a vote contains commas, so a list with a vote is separated
    by semicolons.

    >>> _names("cpu,all"), _names("cpu;vote:cpu,all"), _names("vote:cpu,all;")
    (['cpu', 'all'], ['cpu', 'vote:cpu,all'], ['vote:cpu,all'])
    """
    return [name for name in value.split(";" if ";" in value else ",") if name]


def _positive(value: str) -> int:
    number = int(value)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
