"""Choose the tiers of tests that a change needs, by the folders of its files: `python .ci/choose.py
[all]`.

Prints the tiers, one a line, and on stderr which file asked for each. What .ci/run always runs is
not among them (lint, gate, `make run` twice, `make test`). A file without a rule chooses all tiers.
CI_BASE names the commit to compare with; else it is where this branch left main. On main itself
that is not known: the tiers of the product's own code are chosen, and not those that install other
programs (runtimes, adapters: half an hour), which `all` has, before a release and every night.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIERS = ("lab", "vllm", "runtimes", "adapters")
"""`make test-…`, in the order in which they run."""

ON_MAIN = ("lab", "vllm")

RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    # What installs and builds is everybody's.
    (r"setup\.py|conf/constraints\.txt|conf/lock\.txt|pyproject\.toml|Makefile|\.ci/.*|tests/conftest\.py", TIERS),
    (r"conf/vllm-.*|conf/preflight\.sh", ("vllm",)),
    # The laboratory, and what it trains and scores.
    (r"(lib|tests)/dripper_lab/(train/(encoder|reader|lm|neuscraper)|annotation|gpu_check)/.*", ("lab", "vllm")),
    (
        r"(lib|tests)/dripper_lab/.*|jobs/evaluate\.py|benchmarks/.*|tests/data/(labelled|webmainbench)/.*|tests/gate/.*",
        ("lab",),
    ),
    (r"(lib|tests)/dripper_labelers/.*|(lib/dripper|tests)/labels/lm/.*", ("lab", "vllm")),
    (r"(lib/dripper|tests)/(labels/cpu|page)/.*|lib/dripper/eval\.py", ("lab",)),
    (r"(lib/dripper|tests)/labels/[^/]*", ("lab", "vllm")),
    # Weights see blocks: these decide what a model reads.
    (r"(lib/dripper|tests)/(tree|facts|blocks|keep)/.*|lib/dripper/html\.py", ("lab", "vllm")),
    # Staged runs have an engine in a worker; sessions and tables differ by the version of Spark,
    # and the laboratory's job of evaluations has both.
    (r"(lib/dripper|tests)/spark/((run|workers)/.*|test_(lm|encoder)_stage\.py)", ("vllm",)),
    (r"(lib/dripper|tests)/spark/((session|tables|upkeep)/.*|test_runtimes\.py)|conf/spark-.*", ("lab", "runtimes")),
    (r"(lib/dripper|tests)/spark/.*|jobs/.*|databricks\.yml", ()),
    (r"(lib/dripper|tests)/adapters/.*|lib/dripper/__init__\.py", ("adapters",)),
    # Settings, errors and the guard are below everything.
    (r"lib/dripper/(settings|errors|extras|guard|standalone)\.py", TIERS),
    # Of these, `make test` has all tests.
    (r"(lib/dripper|tests)/(decode|warc|layouts|local|inspect|commands|write)/.*", ()),
    (r"lib/dripper/(addresses|parse_place|__main__)\.py|tests/(jobs|notebooks|fuzz|data)/.*|tests/test_[^/]*", ()),
    (r"(docs|findings|notebooks|conf)/.*|[^/]*\.(md|cff|yml)|LICENSE|\.github/.*|\.[^/]*", ()),
)
"""Paths, whole, and the tiers that they need; the first that fits counts. A file in `tests/support`
has none: any test may use it."""


def main(arguments: list[str]) -> int:
    """Print the tiers; return 0."""
    changed = None if arguments == ["all"] else find_changed(os.environ.get("CI_BASE"))
    if arguments == ["all"]:
        sys.stderr.write("all tiers: asked for\n")
        chosen = set(TIERS)
    elif changed is None:
        left_out = [tier for tier in TIERS if tier not in ON_MAIN]
        sys.stderr.write(f"it is not known what changed; left out: {' '.join(left_out)} (.ci/run all has them)\n")
        chosen = set(ON_MAIN)
    else:
        chosen = set()
        for file in changed:
            tiers = tiers_of(file)
            if not chosen.issuperset(tiers):
                sys.stderr.write(f"{' '.join(sorted(set(tiers) - chosen))}: for {file}\n")
            chosen.update(tiers)
        left_out = [tier for tier in TIERS if tier not in chosen]
        sys.stderr.write(f"{len(changed)} files changed; left out: {' '.join(left_out) or 'nothing'}\n")
    sys.stdout.writelines(f"{tier}\n" for tier in TIERS if tier in chosen)
    return 0


def tiers_of(file: str) -> tuple[str, ...]:
    """Return the tiers that a file needs; all of them where no rule knows it."""
    return next((tiers for pattern, tiers in RULES if re.fullmatch(pattern, file)), TIERS)


def find_changed(base: str | None) -> list[str] | None:
    """Return the files that differ from a commit, those too that git does not know yet; None where
    that cannot be told."""
    start = _git("rev-parse", "--verify", f"{base}^{{commit}}") if base else _find_base()
    if not start:
        return None
    changed, fresh = _git("diff", "--name-only", start[0]), _git("ls-files", "--others", "--exclude-standard")
    return None if changed is None or fresh is None else sorted({*changed, *fresh})


def _find_base() -> list[str] | None:
    head = _git("rev-parse", "HEAD")
    for main_branch in ("origin/main", "main"):
        if base := _git("merge-base", "HEAD", main_branch):
            return base if base != head else None
    return None


def _git(*words: str) -> list[str] | None:
    told = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return told.stdout.splitlines() if told.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
