"""Fuzz one target with Atheris: `make fuzz` runs all of them.

    python tests/fuzz/run.py TARGET CORPUS [FOLDER …] -max_total_time=60

Options are libFuzzer's. A find is written to the working directory; put its minimized form
(`-minimize_crash=1`) into tests/data/fuzz/TARGET, where `test_finds.py` replays it.
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))

# The branches of modules imported here are counted, which guides the fuzzer.
with atheris.instrument_imports(include=["dripper"]):
    from fuzz.targets import TARGETS
from fuzz.seeds import write_seeds


def main() -> None:
    """Run; libFuzzer ends the process."""
    name, *rest = sys.argv[1:] or [""]
    if name not in TARGETS:
        sys.exit(f"which target? One of {', '.join(TARGETS)}")
    corpus = Path(rest[0]) if rest else Path("-")
    if corpus.is_dir() and not any(corpus.iterdir()):
        write_seeds(name, corpus)
    atheris.Setup([sys.argv[0], *rest], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
