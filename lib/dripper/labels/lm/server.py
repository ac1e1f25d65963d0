"""Labels pages with a vLLM server outside Spark, through the server's OpenAI-compatible API.
Prompts and answers are the same as without a server."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dripper.errors import ErrorCode, PageError, SettingsError
from dripper.labels.lm.answer import parse_answer
from dripper.labels.lm.api import Api
from dripper.labels.lm.decoder import DecodedLabels
from dripper.labels.lm.encoder import Job, PageEncoder
from dripper.labels.lm.form_check import FormCheck
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.template import Template, Templates

log = logging.getLogger(__name__)


class ServerDecoder:
    """Sends one request per window to a server. Structured outputs force the answers into the
    configured form. At most `concurrency` requests run at the same time, so that many Spark tasks
    do not overload the server.

    With a regular expression alone, the model could spell a label with other tokens (`o`, `ther`),
    and the label could differ from the state machine's label. The request therefore allows only the
    template's tokens.
    """

    def __init__(self, api: Api, served: str, templates: Templates, concurrency: int) -> None:
        """served: the model's name on the server."""
        self.form_check: FormCheck | None = None
        self._api = api
        self._served = served
        self._templates = templates
        self._requests = ThreadPoolExecutor(concurrency, thread_name_prefix="lm-request")

    @classmethod
    def start(cls, encoder: PageEncoder, settings: LmSettings) -> "ServerDecoder":
        """Return the decoder, after checking that the server serves the model with enough context.

        Raises MachineError if the server does not answer. Raises SettingsError if the server serves
        another model, or cannot write answers in the configured form.
        """
        api = Api.of(settings)
        served = choose_model(api.get("models").get("data", []), encoder, settings)
        decoder = cls(api, served, encoder.templates, settings.concurrency)
        decoder.try_form(encoder.tokenizer.prompt_ids(encoder.prompt.text("")))
        return decoder

    def try_form(self, prompt_ids: Sequence[int]) -> None:
        """Request one answer. Raises SettingsError if the server gives no answer. This happens with
        vLLM's backend `guidance`, which refuses a tag that is a special token, and two tokens that
        a tokenizer would write as one."""
        try:
            self._decode(Job(prompt_ids, n_blocks=2))
        except PageError as error:
            raise SettingsError(
                f"the server of {self._served} gives no answer of the form {self._templates.form.name} ({error}): start it "
                "with --structured-outputs-config.backend xgrammar, or set labels.lm.answer"
            ) from None

    def decode(self, jobs: Iterable[Job]) -> list[DecodedLabels]:
        """Return one answer per job, in order. Raises MachineError if the server no longer
        answers."""
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
        n_tokens = int(usage.get("completion_tokens") or 0)
        main = parse_served_answer(text, job.n_blocks)
        return DecodedLabels(main, np.full(job.n_blocks, np.nan), n_tokens, len(job.prompt_ids) + max(n_tokens - 1, 0))

    def _request(self, job: Job) -> dict[str, object]:
        """Return the request for a job. The prompt is sent as tokens, so that the server does not
        add its own template and special tokens."""
        template = self._templates.of(job.n_blocks)
        return {
            "model": self._served,
            "prompt": list(job.prompt_ids),
            "temperature": 0,
            "max_tokens": int(template.holes[-1]) + 1,
            "structured_outputs": {"regex": self._templates.form.regex(job.n_blocks)},
            "allowed_token_ids": allowed_tokens(template, self._templates),
        }


def parse_served_answer(text: str, n_blocks: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Return which of the blocks 1..n_blocks are main according to an answer. Blocks that the
    answer leaves out are not main (as in the public code).

    Raises PageError (labeler_failed) if the answer labels no block.
    """
    labels = {item: main for item, main in parse_answer(text).items() if 1 <= item <= n_blocks}
    if not labels:
        raise PageError(ErrorCode.LABELER_FAILED, f"the model's answer labels no block: {text[:200]!r}")
    if len(labels) < n_blocks:
        log.warning("an answer labels %d of %d blocks; the others are taken as other", len(labels), n_blocks)
    return np.array([labels.get(item, False) for item in range(1, n_blocks + 1)], bool)


def choose_model(models: Sequence[Mapping[str, Any]], encoder: PageEncoder, settings: LmSettings) -> str:
    """Return the name under which a server serves the checkpoint: the checkpoint's name, or the
    name of the server's only model.

    Args:
        models: The models as the server lists them.

    Raises:
        SettingsError: If there is no such model, or the server's context is too short.
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


def allowed_tokens(template: Template, templates: Templates) -> list[int]:
    """Return the tokens that an answer can contain, ascending: both labels and the text around
    them."""
    return sorted({*template.tokens.tolist(), templates.main, templates.other} - {-1})
