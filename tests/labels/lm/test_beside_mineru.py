"""Comparison with MinerU-HTML's published code (PyPI mineru-html 1.1.2): the same tokens are read,
our answer forms are among the forms that theirs allows, and texts are parsed alike. Compared with
1.0.0, the state machine writes the same tokens."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.answer import FORMS, parse_answer
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.prompt import PACKAGE, read_prompts
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.template import Templates
from dripper.labels.lm.tokenizer import ChatTokenizer
from support.authors import fetch_packages, run_authors
from support.tiny_lm import HUNYUAN, copy_tokenizer, make_config, tokenizer_folder

pytestmark = pytest.mark.vllm

BARE = ("mineru_html", "mineru_html.process", "mineru_html.inference")
"""Their `__init__` import packages that are not used here: Trafilatura, Markdown, other engines."""

READ = """
from types import SimpleNamespace
given = []
class Engine:
    def __init__(self, **options): pass
    def generate(self, prompts, sampling_params):
        given.extend(zip(prompts, (one.structured_outputs.regex for one in sampling_params)))
        made = SimpleNamespace(text="", token_ids=[])
        return [SimpleNamespace(prompt=one, prompt_token_ids=[], outputs=[made]) for one in prompts]
vllm, parameters = types.ModuleType("vllm"), types.ModuleType("vllm.sampling_params")
vllm.LLM, vllm.SamplingParams, parameters.StructuredOutputsParams = Engine, SimpleNamespace, SimpleNamespace
sys.modules |= {"vllm": vllm, "vllm.sampling_params": parameters}
from mineru_html.base import MinerUHTMLGenerateInput
from mineru_html.inference.vllm_backend import VLLMInferenceBackend
from mineru_html.process.build_prompt import get_full_prompt
backend = VLLMInferenceBackend(asked["model"], 256 * 1024, "compact")
prompts = [MinerUHTMLGenerateInput(full_prompt=get_full_prompt(page, "short_compact")) for page in asked["pages"]]
backend.process({str(at): one for at, one in enumerate(prompts)})
# vLLM encodes a text as its tokenizer does, special tokens added.
print(json.dumps([[backend.get_tokenizer().encode(prompt), regex] for prompt, regex in given]))
"""

MACHINE = """
import torch
from transformers import AutoTokenizer
from dripper.inference.logtis_processor.logits_v1 import TokenStateMachine
tokenizer = AutoTokenizer.from_pretrained(asked["tokenizer"])
words = [tokenizer.encode(word)[0] for word in ("other", "main")]
end = tokenizer.convert_tokens_to_ids("<|im_end|>")
def write(labels):
    machine, ids, n = TokenStateMachine(len(labels), tokenizer, "cpu"), [], 0
    while not ids or ids[-1] != end:
        logits = torch.zeros(len(tokenizer) + 1000)
        logits[words[labels[n] if n < len(labels) else 0]] = 1
        ids.append(int(machine.process_logit(ids, logits).argmax()))
        n += ids[-1] in words
    return ids[:-1]
print(json.dumps([write(labels) for labels in asked["labels"]]))
"""

PARSE = """
from mineru_html.process.parse_result import parse_llm_response
def parse(text):
    try:
        return parse_llm_response(text)
    except Exception:
        return {}
print(json.dumps([parse(text) for text in asked]))
"""

ANSWERS = [
    *(form.text([True, False, True] * 5) for form in FORMS.values()),
    '{ "1":"other", "2":"main"}',
    'Sure! {"1": "main", "2": "other"} as you asked',
    '{"1": "main", "2": "other", "3": "ma',
    '{"1": "main"',
    "<answer>1main2other",
    "1main1other2main",
    "1 main 2 other",
    "no answer",
    "",
    "{",
]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fetch_packages(tmp_path_factory.mktemp("packages"), PACKAGE)


def test_the_model_reads_the_same_tokens_and_may_answer_as_we_hold_it_to(
    packages: Path, tmp_path: Path, simplified: list[SimplifiedPage]
) -> None:
    tokenizer_folder()
    model = tmp_path / "MinerU-HTML-v1.1-hunyuan"
    model.mkdir()
    make_config(model, **HUNYUAN)
    copy_tokenizer(model)
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    for name, text in read_prompts(next(packages.glob("*.whl"))).items():
        (prompts / f"{name}.txt").write_bytes(text.encode())
    encoder = PageEncoder.load(LmSettings.model_validate({"model": str(model), "prompt_folder": str(prompts)}))
    assert (encoder.prompt.name, encoder.templates.form.name) == ("short_compact", "tagged")
    asked = {"model": str(model), "pages": [page.simplified_html for page in simplified]}
    told: Any = run_authors(packages, READ, asked, BARE)
    assert len(told) == len(simplified)
    for page, (ids, regex) in zip(simplified, told, strict=True):
        (window,) = encoder.windows(page)
        assert list(encoder.job(window).prompt_ids) == ids
        labels = [block % 3 == 0 for block in range(page.n_blocks)]
        assert re.fullmatch(regex, FORMS["tagged"].text(labels))
        assert re.fullmatch(regex, FORMS["tagged_tight"].text(labels))
        assert not re.fullmatch(regex, FORMS["compact"].text(labels))


def test_the_state_machine_of_1_0_writes_the_same_tokens(tmp_path: Path) -> None:
    folder = tokenizer_folder()
    authors = fetch_packages(tmp_path, "mineru-html==1.0.0")
    labels = [[(block * block + n) % 3 == 0 for block in range(n)] for n in (1, 2, 12, 123)]
    bare = ("dripper", "dripper.inference", "dripper.inference.logtis_processor")
    told: Any = run_authors(authors, MACHINE, {"tokenizer": str(folder), "labels": labels}, bare)
    templates = Templates(FORMS["json_machine"], ChatTokenizer.load(folder, "none").encode)
    for main, tokens in zip(labels, told, strict=True):
        assert templates.of(len(main)).fill(templates.labels(np.array(main))) == tokens
        assert (
            Templates(FORMS["json_tight"], ChatTokenizer.load(folder, "none").encode)
            .of(len(main))
            .fill(templates.labels(np.array(main)))
            != tokens
        )


def test_answers_are_read_alike(packages: Path) -> None:
    told: Any = run_authors(packages, PARSE, ANSWERS, BARE)
    for text, theirs in zip(ANSWERS, told, strict=True):
        assert parse_answer(text) == {int(block): label == "main" for block, label in theirs.items()}, text
