"""Server mode: the same prompts and the same answers from a vLLM server beside Spark, over its
OpenAI-compatible API."""

import json
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import urllib3

from dripper.errors import ErrorCode, MachineError, PageError, SettingsError
from dripper.labels.lm.answer import parse_answer
from dripper.labels.lm.decision import DecisionRule
from dripper.labels.lm.decoder import DecodedLabels
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.regex import allowed_tokens, label_bias
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.template import Templates

log = logging.getLogger(__name__)

# Busy, restarting, or behind a gateway that is: worth another try. All else the same request would
# meet again.
PASSING = (429, 500, 502, 503, 504)
# Waits of 1, 2, 4, … seconds, or what the server's Retry-After says.
BACKOFF_SECONDS = 1.0


class ServerDecoder:
    """At most `concurrency` requests are under way; the next one waits until one is answered, so
    that many Spark tasks do not pile up work in the server. Each window is one request, held to the
    answer form as the decoder `regex` does it.
    """

    def __init__(self, api: "Api", served: str, templates: Templates, decision: DecisionRule, concurrency: int) -> None:
        """served: the model's name at the server."""
        self._api = api
        self._served = served
        self._templates = templates
        self._bias = label_bias(templates, decision)
        self._requests = ThreadPoolExecutor(concurrency, thread_name_prefix="lm-request")

    @classmethod
    def start(cls, encoder: PageEncoder, settings: LmSettings) -> "ServerDecoder":
        """Return the decoder once the server has told that it serves the model with enough context.

        Raises MachineError where the server does not answer, SettingsError where it serves
        something else.
        """
        api = Api(settings)
        served = choose_model(api.get("models").get("data", []), encoder, settings)
        return cls(api, served, encoder.templates, DecisionRule.of(settings), settings.concurrency)

    def decode(self, jobs: Sequence[Job]) -> list[DecodedLabels]:
        """Return one answer a job, in order. Raises MachineError where the server does not answer
        any more."""
        return list(self._requests.map(self._decode, jobs))

    def close(self) -> None:
        """Close the connections."""
        self._requests.shutdown(wait=True, cancel_futures=True)
        self._api.close()

    def _decode(self, job: Job) -> DecodedLabels:
        answer = self._api.post("completions", self._request(job))
        try:
            text, usage = answer["choices"][0]["text"], answer.get("usage") or {}
        except (KeyError, IndexError, TypeError):
            raise PageError(ErrorCode.LABELER_FAILED, f"no answer in the server's reply: {str(answer)[:200]}") from None
        written = int(usage.get("completion_tokens") or 0)
        main = parse_served_answer(text, job.n_blocks)
        return DecodedLabels(main, np.full(job.n_blocks, np.nan), written, len(job.prompt_ids) + max(written - 1, 0))

    def _request(self, job: Job) -> dict[str, object]:
        """The prompt goes as tokens: the server's own template and special tokens stay out of it."""
        template = self._templates.of(job.n_blocks)
        request: dict[str, object] = {
            "model": self._served,
            "prompt": list(job.prompt_ids),
            "temperature": 0,
            "max_tokens": int(template.holes[-1]) + 1,
            "structured_outputs": {"regex": self._templates.form.regex(job.n_blocks)},
            "allowed_token_ids": allowed_tokens(template, self._templates),
        }
        if self._bias is not None:
            request["logit_bias"] = {str(token): bias for token, bias in self._bias.items()}
        return request


def parse_served_answer(text: str, n_blocks: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which of the blocks 1..n_blocks an answer says are main; those it says nothing of are
    not (as the public code).

    Raises PageError (labeler_failed) where it says nothing of any.
    """
    known = {item: main for item, main in parse_answer(text).items() if 1 <= item <= n_blocks}
    if not known:
        raise PageError(ErrorCode.LABELER_FAILED, f"the model's answer labels no block: {text[:200]!r}")
    if len(known) < n_blocks:
        log.warning("an answer labels %d of %d blocks; the others are taken as other", len(known), n_blocks)
    return np.array([known.get(item, False) for item in range(1, n_blocks + 1)], bool)


def choose_model(models: Sequence[Mapping[str, Any]], encoder: PageEncoder, settings: LmSettings) -> str:
    """Return the name under which a server serves the checkpoint: its own name, or whatever the
    server's only model is called.

    models: as the server lists them. Raises SettingsError where neither fits or the server's
    context is shorter than ours.
    """
    names = {str(model.get("id")): model for model in models}
    fitting = [
        name for name in (settings.model, encoder.checkpoint.name, encoder.checkpoint.folder.name) if name in names
    ]
    if not fitting and len(names) != 1:
        raise SettingsError(f"labels.lm.endpoint={settings.endpoint} serves {sorted(names)}, not {settings.model}")
    served = next(iter(fitting or names))
    context = int(names[served].get("max_model_len") or encoder.context)
    if context < encoder.context:
        raise SettingsError(
            f"labels.lm.endpoint={settings.endpoint} serves {served} with a context of {context} tokens: set "
            f"labels.lm.context_tokens={context}, or start it with --max-model-len {encoder.context}"
        )
    return served


class Api:
    """The server's address, with retries. Thread-safe."""

    def __init__(self, settings: LmSettings) -> None:
        """Raises SettingsError where the endpoint is no http address."""
        if not settings.endpoint.startswith(("http://", "https://")):
            raise SettingsError(
                f"labels.lm.endpoint={settings.endpoint}: write an address such as http://127.0.0.1:8000/v1"
            )
        self._base = settings.endpoint.rstrip("/")
        retries = urllib3.Retry(
            total=settings.attempts - 1,
            backoff_factor=BACKOFF_SECONDS,
            backoff_jitter=BACKOFF_SECONDS,
            status_forcelist=PASSING,
            allowed_methods=None,
            raise_on_status=False,
        )
        headers = {"Content-Type": "application/json"}
        if settings.api_key:
            headers["Authorization"] = f"Bearer {settings.api_key}"
        timeout = urllib3.Timeout(connect=10.0, read=settings.timeout_seconds)
        self._pool = urllib3.PoolManager(
            maxsize=settings.concurrency, block=True, retries=retries, timeout=timeout, headers=headers
        )

    def get(self, path: str) -> dict[str, Any]:
        """Return what an address answers. Raises as `post`."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Return what an address answers to a JSON body.

        Raises MachineError where the server cannot be reached after all tries or refuses us,
        PageError (labeler_failed) where it refuses this request.
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
            raise MachineError(f"labels.lm.endpoint: {address} does not answer: {error}") from None
        text = reply.data.decode("utf-8", "replace")
        if reply.status in (401, 403, 404, *PASSING):
            raise MachineError(f"labels.lm.endpoint: {address} answers {reply.status}: {text[:200]}")
        if reply.status >= 400:
            raise PageError(ErrorCode.LABELER_FAILED, f"the server refuses the page with {reply.status}: {text[:200]}")
        try:
            told = json.loads(text)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise MachineError(f"labels.lm.endpoint: {address} is no OpenAI-compatible API: {text[:200]!r}")
        return told
