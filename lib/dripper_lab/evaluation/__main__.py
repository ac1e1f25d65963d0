"""Score extractors over labelled pages and write the report: `python -m dripper_lab.evaluation
--data DATA --output report`."""

import argparse
import logging
import sys
from pathlib import Path

from dripper.errors import UsageError
from dripper.labels.config import load
from dripper_lab.evaluation.command import add_arguments, run_settings
from dripper_lab.evaluation.report.writer import write_report
from dripper_lab.evaluation.run import run_evaluation


def main(argv: list[str]) -> int:
    """Run the command. Return 0, or 2 for incorrect usage."""
    parser = argparse.ArgumentParser(prog="python -m dripper_lab.evaluation", description=__doc__)
    parser.add_argument(
        "--output", type=Path, default=Path("report"), help="report, pictures, and what a stopped run has done"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="assignments",
        help="a labeler's setting, as labels.encoder.model=DIR",
    )
    add_arguments(parser)
    arguments = parser.parse_args(argv)
    # Other extractors log messages about single pages, so only this project's loggers are enabled.
    logging.basicConfig(level=logging.CRITICAL, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    for package in ("dripper", "dripper_lab", "dripper_labelers"):
        logging.getLogger(package).setLevel(logging.INFO)
    try:
        labels = load(assignments=arguments.assignments).labels
        settings = run_settings(arguments, arguments.output, labels)
        path = write_report(settings, run_evaluation(settings), arguments.output)
    except UsageError as error:
        sys.stderr.write(f"dripper_lab.evaluation: {error}\n")
        return 2
    sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
