"""Extracts many pages on this machine without Spark: from files and archives to a file of rows."""

from dripper.local.inputs import expand_inputs
from dripper.local.run import RunResult, extract_files

__all__ = ["RunResult", "expand_inputs", "extract_files"]
