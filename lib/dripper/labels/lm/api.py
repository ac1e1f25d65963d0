"""A client for an OpenAI-compatible API over HTTP, with retries and limited concurrency. Errors
show whether the server or the request is at fault."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import urllib3

from dripper.errors import ErrorCode, MachineError, PageError, SettingsError
from dripper.labels.lm.settings import LmSettings

# The server, or a gateway in front of it, is busy or restarting, so a retry can help. Other errors
# would recur.
PASSING = (429, 500, 502, 503, 504)
# Retries wait 1, 2, 4, … seconds, or as long as the server's Retry-After header requires.
BACKOFF_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Access:
    """The settings of requests to a server."""

    key: str = field(default="", repr=False)
    """Sent as a bearer token."""
    concurrency: int = 16
    """Maximum number of concurrent requests."""
    attempts: int = 6
    """Maximum number of tries per request."""
    timeout_seconds: float = 600.0
    """Timeout for one answer."""


class Api:
    """A client for the server's API, with retries. Thread-safe."""

    def __init__(self, endpoint: str, access: Access, called: str) -> None:
        """called: the setting or flag that contains the URL, for messages. Raises SettingsError if
        the endpoint is not an HTTP URL, or if the key is not valid in a header."""
        if not endpoint.startswith(("http://", "https://")):
            raise SettingsError(f"{called}={endpoint}: write an address such as http://127.0.0.1:8000/v1")
        if not (access.key.isascii() and access.key.isprintable()):
            raise SettingsError(f"the key for {called} has characters that no key has, such as a line break")
        self._called = called
        self._key = access.key
        self._base = endpoint.rstrip("/")
        retries = urllib3.Retry(
            total=access.attempts - 1,
            backoff_factor=BACKOFF_SECONDS,
            backoff_jitter=BACKOFF_SECONDS,
            status_forcelist=PASSING,
            allowed_methods=None,
            raise_on_status=False,
        )
        headers = {"Content-Type": "application/json"}
        if access.key:
            headers["Authorization"] = f"Bearer {access.key}"
        timeout = urllib3.Timeout(connect=10.0, read=access.timeout_seconds)
        self._pool = urllib3.PoolManager(
            maxsize=access.concurrency, block=True, retries=retries, timeout=timeout, headers=headers
        )

    @classmethod
    def of(cls, settings: LmSettings) -> "Api":
        """Return a client for the endpoint in the settings. Raises SettingsError."""
        access = Access(settings.api_key, settings.concurrency)
        return cls(settings.endpoint, access, "labels.lm.endpoint")

    def get(self, path: str) -> dict[str, Any]:
        """Return the answer to a GET request. Raises the same errors as `post`."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Return the answer to a POST request with a JSON body.

        Raises MachineError if the server cannot be reached after all tries or refuses access.
        Raises PageError (labeler_failed) if the server refuses this request.
        """
        return self._ask("POST", path, json.dumps(body).encode())

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def _ask(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        address = f"{self._base}/{path}"
        try:
            reply = self._pool.request(method, address, body=body)
        except urllib3.exceptions.HTTPError as error:
            raise MachineError(f"{self._called}: {address} does not answer: {error}") from None
        text = self._without_key(reply.data.decode("utf-8", "replace"))
        if reply.status in (401, 403, 404, *PASSING):
            raise MachineError(f"{self._called}: {address} answers {reply.status}: {text[:200]}")
        if reply.status >= 400:
            raise PageError(ErrorCode.LABELER_FAILED, f"the server refuses the page with {reply.status}: {text[:200]}")
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise MachineError(f"{self._called}: {address} is not an OpenAI-compatible API: {text[:200]!r}")
        return answer

    def _without_key(self, text: str) -> str:
        """Return text without the key. Some servers repeat a key that they refuse, and their
        replies end up in logs."""
        return text.replace(self._key, "…") if self._key else text
