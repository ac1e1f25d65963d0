from collections.abc import Container

def choose(values: list[str], wanted: Container[str], places: list[int] | None) -> list[int]: ...
def find_joints(parts: list[str], marks: list[str], ends: str, begins: str) -> list[tuple[int, int]]: ...
def spread(block: bytearray, splits: bytearray, parents: list[int], first: int, end: int) -> None: ...
def walk(
    texts: list[str],
    tags: list[str],
    opens: list[int],
    closes: list[int],
    lasts: list[int],
    removed: bytearray,
    block: bytearray,
    splits: bytearray,
    whole: frozenset[int],
) -> tuple[list[tuple[int, int, int, bool]], list[int]]: ...
