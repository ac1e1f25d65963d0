"""HTTP servers for tests: on a free port, and stopped without a wait."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import TypeVar

Server = TypeVar("Server", bound=ThreadingHTTPServer)
# A server looks for the word to stop this often; the default of half a second is waited for in
# every test that has one.
POLL_SECONDS = 0.01


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Let `server` answer in a separate thread; at the end it is stopped and its port is free."""
    threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
