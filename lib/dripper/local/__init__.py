"""Many pages on this machine, without Spark: files and archives in, a file of rows out."""

from dripper.local.inputs import expand_inputs
from dripper.local.run import Outcome, extract_files

__all__ = ["Outcome", "expand_inputs", "extract_files"]
