"""Many pages on this machine, without Spark: files and archives in, a file of rows out."""

from dripper.local.pages import expand_inputs
from dripper.local.run import Written, extract_files

__all__ = ["Written", "expand_inputs", "extract_files"]
