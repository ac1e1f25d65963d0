#!/bin/bash -eu
# OSS-Fuzz sets CC and CFLAGS, so that what is written in C is built with the sanitizer.
export DRIPPER_COMPILE=1
pip3 install --constraint conf/constraints.txt ".[warc]" cmarkgfm mistune Markdown markdown-it-py
for target in records decode html markdown metadata; do
  # A program a target: OSS-Fuzz starts each without arguments of ours.
  printf 'import sys\nsys.argv.insert(1, "%s")\nfrom fuzz.run import main\nmain()\n' "$target" > "tests/fuzz_$target.py"
  compile_python_fuzzer "tests/fuzz_$target.py" --paths tests --collect-data dripper --collect-data mistune
  (cd "tests/data/fuzz/$target" && zip -q -r "$OUT/fuzz_${target}_seed_corpus.zip" .)
done
