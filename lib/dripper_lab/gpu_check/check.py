"""Runs the steps for each checkpoint, and collects the findings.

If the published code of a checkpoint's authors is installed, it is run for comparison; this project
contains none of it. It runs in a process that imports nothing from this project, because it
requires other versions of the same packages.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dripper.labels.lm.checkpoint import find_checkpoint, read_config
from dripper_lab.gpu_check.estimate import Gpu, Load, Shape, encoder_rate, fsm_rate, parallel_rate

PULPIE = """
import json, sys
asked = json.load(sys.stdin)
from pulpie.extractor import Extractor
from pulpie.simplify import simplify
extractor = Extractor(asked["model"], **asked["options"])
pages = [simplify(html)[0] for html in asked["pages"]]
print("\\n" + json.dumps([[page, extractor._classify(page)] for page in pages]))
"""
"""For pulpie 0.0.2: prints each page's simplified HTML, and `main` or `other` for each block."""

MINERU = """
import json, sys
asked = json.load(sys.stdin)
from mineru_html.base import MinerUHTMLGenerateInput
from mineru_html.inference.vllm_backend import VLLMInferenceBackend
from mineru_html.process.build_prompt import get_full_prompt
from mineru_html.process.parse_result import parse_llm_response
from mineru_html.process.simplify_html import simplify_html
backend = VLLMInferenceBackend(asked["model"], asked["context"], "compact")
pages = [simplify_html(html)[0] for html in asked["pages"]]
given = {str(at): MinerUHTMLGenerateInput(full_prompt=get_full_prompt(page, "short_compact"))
         for at, page in enumerate(pages)}
said, _ = backend.process(given)
print("\\n" + json.dumps([[page, parse_llm_response(said[str(at)].response) if str(at) in said else {}]
                          for at, page in enumerate(pages)]))
"""
"""For mineru-html 1.1.2 with v1.1's weights: prints the same output, using its vLLM backend."""

log = logging.getLogger(__name__)

ENCODER_PROFILE = "mineru-1.1"
PROBED_PAGES, COMPARED_PAGES = 5, 20
SHOWN_CHARACTERS = 600
Answer = dict[str, Any]


@dataclass(slots=True)
class Figure:
    """The speed, in pages per second, of one way to label with a checkpoint."""

    name: str
    measured: float | None = None
    estimate: float | None = None
    note: str = ""


@dataclass(slots=True)
class Part:
    """The findings about a checkpoint."""

    checkpoint: str
    figures: list[Figure] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    report: str = ""
    """The report of the probe."""
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Questions:
    """The options of a check.

    pages: Decoded HTML.

    gpu: The GPU for the estimates; None disables estimates.

    authors: A folder with the packages of the checkpoints' authors; None means the installed
    packages.
    """

    pages: Sequence[str]
    lm: Mapping[str, Any]
    encoder: Mapping[str, Any]
    gpu: Gpu | None
    profile: str
    decoders: Sequence[str] = ("parallel", "fsm")
    authors: Path | None = None


def check_lm(model: str, questions: Questions) -> Part:
    """Check a checkpoint of the `lm` labeler on the pages."""
    part = Part(model)
    checkpoint = find_checkpoint(model)
    settings = {**questions.lm, "model": model}
    query = {"settings": settings, "profile": checkpoint.training.profile or questions.profile}
    counts = _try(part, "read", **query, html=questions.pages)
    if counts is None:
        return part
    pages = counts["pages"]
    load = Load(counts["prompt_tokens"] / pages, counts["answer_tokens"] / pages)
    part.sentences.append(
        f"{counts['version']}: {pages} pages, {counts['blocks']} blocks; of the mean page the prompt has {load.prompt:,.0f} "
        f"tokens and the answer {load.answer:,.0f}; {counts['windows']} windows"
    )
    probed = _try(part, "probe", **query, html=questions.pages[:PROBED_PAGES])
    if probed is not None:
        part.report = probed["report"]
        part.sentences.append(
            f"The answer form {probed['set']} is set, and {probed['likeliest']} is the likeliest"
            + ("." if probed["fits"] else f": labels.lm.answer={probed['likeliest']} may fit better.")
        )
    labelled = _label_by_decoders(part, query, Shape.of(read_config(checkpoint.folder)), load, questions)
    _compare_decoders(part, labelled)
    if "hunyuan" in checkpoint.architecture.lower() and labelled:
        asks = {"model": model, "context": checkpoint.training.context}
        _compare_authors(part, "mineru-html", MINERU, asks, next(iter(labelled.values())), questions)
    return part


def _label_by_decoders(
    part: Part, query: Mapping[str, Any], shape: Shape, load: Load, questions: Questions
) -> dict[str, Answer]:
    """Label with each decoder and record its figures. Return the answers of the decoders that
    work."""
    labelled = dict[str, Answer]()
    for decoder in questions.decoders:
        answer = _try(
            part,
            "label",
            **{**query, "settings": {**query["settings"], "decoder": decoder}},
            html=questions.pages,
            labeler="lm",
        )
        if answer is None:
            part.figures.append(Figure(f"`lm`, {decoder}", note="failed"))
            continue
        labelled[decoder] = answer
        passes = answer["passes"] / max(1, answer["windows"])
        part.figures.append(
            Figure(f"`lm`, {decoder}", _rate(answer), _estimate(questions.gpu, shape, load, decoder, passes))
        )
        part.figures[-1].note = f"{passes:.1f} passes a window, {_describe(answer)}"
    return labelled


def check_encoder(model: str, questions: Questions) -> Part:
    """Check a checkpoint of the `encoder` labeler on the pages."""
    part = Part(model)
    answer = _try(
        part,
        "label",
        labeler="encoder",
        settings={**questions.encoder, "model": model},
        profile=ENCODER_PROFILE,
        html=questions.pages,
    )
    if answer is None:
        part.figures.append(Figure("`encoder`", note="failed"))
        return part
    rate = None
    counts = _try(
        part, "count", settings={**questions.encoder, "model": model}, profile=ENCODER_PROFILE, html=questions.pages
    )
    if counts is not None:
        part.sentences.append(f"{answer['version']}: the mean page has {counts['tokens']:,.0f} tokens")
        if questions.gpu is not None and Path(model).is_dir():
            rate = encoder_rate(Shape.of(read_config(Path(model))), questions.gpu, counts["tokens"])
    part.figures.append(Figure("`encoder`", _rate(answer), rate, _describe(answer)))
    options = {"device": "cpu"} if questions.encoder.get("device") == "cpu" else {}
    if questions.encoder.get("context_tokens"):
        options["max_tokens"] = questions.encoder["context_tokens"]
    _compare_authors(part, "pulpie", PULPIE, {"model": model, "options": options}, answer, questions)
    return part


def ask_step(step: str, **question: object) -> Answer:
    """Run a step in a separate process and return its answer. If the step fails, raises
    RuntimeError with the end of its output."""
    command = [sys.executable, "-m", "dripper_lab.gpu_check.steps"]
    answer: Answer = _ask(command, {"step": step, **question}, os.environ)
    return answer


def _ask(command: Sequence[str], question: object, environment: Mapping[str, str]) -> Any:
    with tempfile.TemporaryFile("w+") as stderr_file:
        process = subprocess.run(
            command,
            input=json.dumps(question),
            stdout=subprocess.PIPE,
            stderr=stderr_file,
            text=True,
            check=False,
            env=environment,
        )
        stderr_file.seek(0)
        message = stderr_file.read().strip()
    if process.returncode:
        raise RuntimeError(message[-SHOWN_CHARACTERS:] or f"exit code {process.returncode}")
    return json.loads(process.stdout.splitlines()[-1])


def _try(part: Part, step: str, **question: object) -> Answer | None:
    log.info("%s: %s", part.checkpoint, step)
    try:
        return ask_step(step, **question)
    except RuntimeError as error:
        log.error("%s: %s failed: %s", part.checkpoint, step, error)
        part.problems.append(f"{step} failed: {error}")
        return None


def _describe(answer: Answer) -> str:
    memory = answer["memory"] / 1e9
    return f"{answer['main_share']:.0%} main, start {answer['start_seconds']:.0f} s, at most {memory:.1f} GB"


def _rate(answer: Answer) -> float | None:
    return answer["pages"] / answer["seconds"] if answer["pages"] and answer["seconds"] else None


def _estimate(gpu: Gpu | None, shape: Shape, load: Load, decoder: str, passes: float) -> float | None:
    if gpu is None:
        return None
    ways: Mapping[str, Callable[[], float]] = {
        "parallel": lambda: parallel_rate(shape, gpu, load, passes),
        "fsm": lambda: fsm_rate(shape, gpu, load),
    }
    return ways[decoder]() if decoder in ways else None


def _compare_decoders(part: Part, labelled: Mapping[str, Answer]) -> None:
    """Report how many labels differ from the labels of the first decoder."""
    names = list(labelled)
    for name in names[1:]:
        one, other = labelled[names[0]]["labels"], labelled[name]["labels"]
        n_blocks, differing = sum(map(len, one)), _differing(one, other)
        part.sentences.append(f"{names[0]} and {name}: {differing} of {n_blocks} labels differ.")


def _differing(first: Sequence[str], second: Sequence[str]) -> int:
    return sum(a != b for one, other in zip(first, second, strict=True) for a, b in zip(one, other, strict=True))


def _compare_authors(
    part: Part, package: str, code: str, question: Mapping[str, object], answer: Answer, questions: Questions
) -> None:
    """Report how many labels differ from the labels of the published code. Only pages with the same
    number of blocks are compared."""
    environment = dict(os.environ)
    if questions.authors is not None:
        environment["PYTHONPATH"] = str(questions.authors)
    try:
        published = _ask(
            [sys.executable, "-c", code], {**question, "pages": questions.pages[:COMPARED_PAGES]}, environment
        )
    except RuntimeError as error:
        last = str(error).splitlines()[-1]
        part.sentences.append(f"Not compared with the authors' code ({package}): {last}")
        return
    pages = [
        ("".join("01"[labels.get(str(block)) == "main"] for block in range(1, len(label) + 1)), label)
        for number, label in zip(answer["numbers"], answer["labels"], strict=True)
        if number < len(published) and len(labels := published[number][1]) == len(label)
    ]
    n_blocks, differing = sum(len(label) for _, label in pages), sum(_differing([one], [two]) for one, two in pages)
    part.sentences.append(
        f"Beside {package}: {differing} of {n_blocks} labels differ, on {len(pages)} of {len(published)} pages; on the "
        "others it has no answer, or other blocks."
    )
