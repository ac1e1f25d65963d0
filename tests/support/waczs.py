"""WACZ files made on the spot, with every part that the tools of others write."""

import io
import json
import zipfile
from collections.abc import Mapping

from support.archives import Built, http, page, store, warc


def archive(first: int, count: int, size: int = 300, storage: str = "gzip") -> Built:
    """Return an archive of pages, numbered from `first` on."""
    return store([warc(f"http://e.org/{i}", http(page(i, size))) for i in range(first, first + count)], storage)


def build_wacz(
    archives: Mapping[str, bytes], others: Mapping[str, bytes] | None = None, streamed: bool = False
) -> bytes:
    """Return a WACZ. archives: by name in `archive/`. others: further members, by their names.
    streamed: sizes come after the members, as written by tools that cannot seek."""
    out = _Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as container:
        for name, data in archives.items():
            container.writestr(f"archive/{name}", data)
        container.writestr("pages/pages.jsonl", b'{"format": "json-pages-1.0"}\n', zipfile.ZIP_DEFLATED)
        for name, data in (others or {}).items():
            container.writestr(name, data)
        container.writestr("datapackage.json", b'{"profile": "data-package"}', zipfile.ZIP_DEFLATED)
    return out.getvalue()


def write_index(name: str, built: Built, first: int) -> bytes:
    """Return the index of an archive of `archive`, as tools put it into a WACZ."""
    lines = []
    for number, (start, end) in enumerate(built.spans, first):
        fields = {"url": f"http://e.org/{number}", "mime": "text/html", "status": 200, "filename": name}
        place: dict[str, object] = {"offset": start, "length": end - start}
        lines.append(f"org,e)/{number} 20240203040506 {json.dumps(fields | place)}\n")
    return "".join(lines).encode()


class _Unseekable(io.BytesIO):
    """A stream such as a pipe."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation

    def tell(self) -> int:
        raise io.UnsupportedOperation
