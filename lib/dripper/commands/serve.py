"""Runs `dripper serve`, which extracts pages over HTTP, one page per request."""

import argparse
import signal
import sys
import threading
from contextlib import closing, suppress
from http.server import ThreadingHTTPServer

from dripper.commands import Parsers
from dripper.errors import UsageError
from dripper.labels import config as flags
from dripper.local.many import count_processors
from dripper.local.serve import Service, make_server

_EXAMPLE = """example:
  dripper serve --port 8080 &
  curl --data-binary @page.html 'http://127.0.0.1:8080/extract?url=https://example.org/a&format=markdown'"""

_GRACE_SECONDS = 8.0
"""After SIGTERM, in-flight requests have at most this number of seconds to finish. The sender of
the signal often kills the process after 10 seconds."""


def add(commands: Parsers) -> None:
    """Declare the command."""
    serve = commands.add_parser(
        "serve",
        help="answer POST /extract with the main content of the page in its body",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    serve.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (default: only this machine can connect)"
    )
    serve.add_argument(
        "--port", type=int, default=8080, help="the port to listen on; 0 takes any that is free (default: 8080)"
    )
    serve.add_argument(
        "--jobs", type=flags.positive, metavar="N", help="pages processed at once (default: one per processor)"
    )
    serve.add_argument(
        "--labeler", help="the labeler, which decides what is main content (setting labeler.name; default cpu)"
    )
    flags.add_settings(serve)
    serve.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal ends the server, and return 0."""
    settings = flags.settings(arguments, {"labeler.name": arguments.labeler})
    with closing(Service(settings, arguments.jobs or count_processors())) as service:
        try:
            server = make_server(service, arguments.host, arguments.port)
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"--host {arguments.host} --port {arguments.port}: {getattr(error, 'strerror', None) or error}"
            ) from None
        signal.signal(signal.SIGTERM, lambda _number, _frame: _end(service, server))
        with server:
            sys.stderr.write(f"dripper: listening on http://{arguments.host}:{server.server_port}\n")
            sys.stderr.flush()
            with suppress(KeyboardInterrupt):
                server.serve_forever()
            sys.stderr.write("dripper: ended\n")
    return 0


def _end(service: Service, server: ThreadingHTTPServer) -> None:
    """Wait for in-flight requests to finish, then stop the server. A second signal stops the server
    immediately."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    def end() -> None:
        service.drain(_GRACE_SECONDS)
        server.shutdown()

    # Use another thread, because `serve_forever` must continue in this one. Meanwhile, the service
    # refuses new requests.
    threading.Thread(target=end, daemon=True).start()
