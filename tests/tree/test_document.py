"""The parser's one failure, and that nothing else makes it fail."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from dripper.tree.parser import parse_document


@given(st.text(max_size=200))
def test_every_string_is_a_document(html: str) -> None:
    assert parse_document(html).html is not None


LITTLE_MEMORY = """
import resource
from dripper.tree.parser import parse_document
page = "<p>one more paragraph</p>" * 1_000_000
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
try:
    parse_document(page)
except MemoryError:
    print("no memory")
"""


def test_no_memory_is_said_so() -> None:
    """In a separate process, because one that has run other tests has freed memory that it can
    use."""
    ended = subprocess.run([sys.executable, "-c", LITTLE_MEMORY], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("no memory\n", "")
