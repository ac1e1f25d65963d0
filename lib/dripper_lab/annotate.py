"""Annotate pages and convert them to training data; see docs/annotation.md.

python -m dripper_lab.annotate export PAGES --out FOLDER
python -m dripper_lab.annotate ask FOLDER --endpoint URL --model NAME
python -m dripper_lab.annotate import FOLDER/answers.jsonl --out DATASET
python -m dripper_lab.annotate agreement DATASET
python -m dripper_lab.annotate filter DATASET
python -m dripper_lab.annotate sft DATASET --out FOLDER
"""

import logging
import sys
from collections.abc import Sequence

from dripper.errors import UsageError
from dripper_lab.annotation.command import NOT_ALL, parser

log = logging.getLogger(__name__)


def main(arguments: Sequence[str]) -> int:
    """Run one step. Return 0 on success, 3 if pages still lack an answer, or 2 if the user has to
    fix something."""
    options = parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        exit_code: int = options.run(options)
    except UsageError as error:
        log.error("%s", error)
        return 2
    except KeyboardInterrupt:
        log.error("stopped; the same command continues, or starts again")
        return NOT_ALL
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
