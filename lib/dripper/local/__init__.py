"""Extracts many pages from files and archives on this machine, without Spark, and writes their rows
to a file."""

from dripper.local.inputs import expand_inputs
from dripper.local.run import RunResult, extract_files

__all__ = ["RunResult", "expand_inputs", "extract_files"]
