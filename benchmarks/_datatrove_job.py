"""The datatrove job that benchmarks/fused_job.py compares with ours: WARC → Trafilatura → JSONL. It
runs in its own Python environment."""

import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.extractors import Trafilatura
from datatrove.pipeline.readers import WarcReader
from datatrove.pipeline.writers import JsonlWriter

if __name__ == "__main__":
    warcs, output = sys.argv[1:]
    LocalPipelineExecutor(
        pipeline=[
            WarcReader(warcs, glob_pattern="*.warc.gz"),
            Trafilatura(timeout=20),
            JsonlWriter(f"{output}/rows", compression=None),
        ],
        tasks=1,
        workers=1,
        logging_dir=f"{output}/logs",
    ).run()
