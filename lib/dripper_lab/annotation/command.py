"""The subcommands of `dripper_lab.annotate`: their flags and output."""

import argparse
import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dripper.errors import InputError, SettingsError
from dripper.extras import needed
from dripper.html import PROFILES
from dripper.labels import load
from dripper.labels.lm.api import Access, Api
from dripper.labels.lm.settings import LmSettings
from dripper_lab.annotation import agreement
from dripper_lab.annotation.asking import FIRST, SECOND, Round, ask, twice_share
from dripper_lab.annotation.chat import Annotator
from dripper_lab.annotation.collecting import collect, find_recipe, read_recipe, read_recipe_pages, read_rows
from dripper_lab.annotation.export import Export, export
from dripper_lab.annotation.filtering import Filter, agreements, filter_data_set
from dripper_lab.annotation.folders import guidelines
from dripper_lab.annotation.importing import read_answers, write_data_set
from dripper_lab.annotation.renumbering import renumber
from dripper_lab.annotation.sources import unlabelled_pages
from dripper_lab.datasets import DATA_SETS, LabelledPage, Role, read_pages

log = logging.getLogger(__name__)
NOT_ALL = 3
"""The exit code if pages are still missing. For `ask`, repeat the same command to continue."""


def parser() -> argparse.ArgumentParser:
    """Return the parser for all steps. Each step sets `run`, the function to call."""
    arguments = argparse.ArgumentParser(
        prog="python -m dripper_lab.annotate", description="Annotate pages, and make training data of them."
    )
    steps = arguments.add_subparsers(required=True, metavar="STEP")
    for add in (_add_export, _add_ask, _add_import, _add_collect, _add_renumber, _add_agreement, _add_filter, _add_sft):
        add(steps)
    return arguments


Steps = Any  # argparse's class for this is private


def _add_export(steps: Steps) -> None:
    step = steps.add_parser("export", help="write what an annotator reads: numbered blocks, guidelines, a template")
    step.add_argument("pages", nargs="+", help="HTML files, folders, archives, or folders with a pages.jsonl")
    step.add_argument("--out", type=Path, required=True, help="folder to make")
    step.add_argument("--sample", type=_positive, help="so many pages, chosen to differ in layout (default: all)")
    step.add_argument("--seed", type=int, default=0, help="of the sample (default %(default)s)")
    step.add_argument("--tokens", type=_positive, default=8000, help="a page at most, about (default %(default)s)")
    step.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    exported = export(
        partial(unlabelled_pages, options.pages), options.out, options.tokens, options.sample, options.seed
    )
    _say(f"{exported.written} of {_pages(exported.pages)} exported to {options.out}, about {exported.tokens:,} tokens")
    _say_left_out(exported.left_out)
    return 0


def _add_ask(steps: Steps) -> None:
    step = steps.add_parser("ask", help="ask a large language model about an export; resumable")
    step.add_argument("export", type=Path, help="folder of an export")
    step.add_argument("--endpoint", required=True, help="an OpenAI-compatible API, such as http://127.0.0.1:8000/v1")
    step.add_argument("--model", required=True, help="its name there")
    step.add_argument("--key", default="OPENAI_API_KEY", metavar="NAME", help="variable with the key (%(default)s)")
    step.add_argument("--twice", type=_share, default=0.0, help="share of the pages that is annotated twice")
    step.add_argument("--second-model", help="who annotates them again (default: the same model)")
    step.add_argument("--body", type=_object, default={}, help='JSON for each request, such as {"temperature": 0}')
    step.add_argument("--concurrency", type=_positive, default=4, help="requests under way (default %(default)s)")
    step.add_argument("--attempts", type=_positive, default=6, help="tries per request (default %(default)s)")
    step.add_argument("--timeout", type=float, default=600.0, help="seconds for an answer (default %(default)s)")
    step.set_defaults(run=_ask)


def _ask(options: argparse.Namespace) -> int:
    exported = Export.read(options.export)
    access = Access(os.environ.get(options.key, "").strip(), options.concurrency, options.attempts, options.timeout)
    api = Api(options.endpoint, access, "--endpoint")
    numbers = list(exported.rows)
    rounds = [
        Round(options.export / file, Annotator(api, model, guidelines(), options.body), pages)
        for file, model, pages in (
            (FIRST, options.model, numbers),
            (SECOND, options.second_model or options.model, twice_share(numbers, options.twice)),
        )
    ]
    result = ask(exported, rounds, options.concurrency)
    used = result.used
    _say(
        f"{result.answered} answers, {result.earlier} were there; {used['requests']} requests, "
        f"{used['prompt_tokens']:,} tokens read, {used['completion_tokens']:,} written"
    )
    if options.twice:
        _say_agreement(exported, [options.export / file for file in (FIRST, SECOND)])
    if result.failed:
        _say(f"{_pages(len(result.failed))} without an answer; the same command asks again: {', '.join(result.failed)}")
    return NOT_ALL if result.failed else 0


def _say_agreement(exported: Export, files: Sequence[Path]) -> None:
    answers = read_answers([file for file in files if file.exists()], exported)
    pairs = [(number, of) for number, of in answers.of_page.items() if len(of) == 2]
    sys.stdout.write(
        agreement.report(
            agreement.agree(exported.page(number)[1], (one.kind, two.kind), (one.main, two.main))
            for number, (one, two) in pairs
        )
    )


def _add_import(steps: Steps) -> None:
    step = steps.add_parser("import", help="make a data set of answers")
    step.add_argument(
        "answers", type=Path, nargs="+", help="files of answers, one an annotator; the first one is the truth"
    )
    step.add_argument("--export", type=Path, help="folder of the export (default: where the first file is)")
    step.add_argument("--out", type=Path, required=True, help="folder to make: DATA/NAME")
    step.add_argument("--skip-wrong", action="store_true", help="import the others where lines are not usable")
    step.set_defaults(run=_import)


def _import(options: argparse.Namespace) -> int:
    exported = Export.read(options.export or options.answers[0].parent)
    answers = read_answers(options.answers, exported)
    if answers.wrong and not options.skip_wrong:
        raise InputError("\n".join([*answers.wrong, "nothing is imported (--skip-wrong imports the other lines)"]))
    for sentence in answers.wrong:
        log.warning("%s", sentence)
    if not answers.of_page:
        raise InputError("there is no answer in " + ", ".join(map(str, options.answers)))
    n_written = write_data_set(exported, answers, options.out)
    twice = sum(len(of) == 2 for of in answers.of_page.values())
    _say(f"{_pages(n_written)} in {options.out}, {twice} of them annotated twice")
    missing = len(exported.rows) - n_written
    if missing or answers.wrong:
        _say(f"{_pages(missing)} of the export without an answer; {len(answers.wrong)} lines not usable")
    return 0


def _add_collect(steps: Steps) -> None:
    step = steps.add_parser("collect", help="make a data set of a recipe, whose pages lie in public repositories")
    step.add_argument("recipe", help="a file of rows, or the name of one in dripper_lab/recipes")
    step.add_argument("--clones", type=Path, required=True, help="folder of the repositories' clones, OWNER+NAME each")
    step.add_argument("--fetch", action="store_true", help="clone missing repositories from github.com")
    step.add_argument("--out", type=Path, required=True, help="folder to make; its name is the data set's")
    step.set_defaults(run=_collect)


def _collect(options: argparse.Namespace) -> int:
    collection = collect(read_recipe(options.recipe), options.clones, options.out, options.fetch)
    _say(f"{_pages(collection.written)} written to {options.out}")
    _say_left_out(collection.left_out)
    return NOT_ALL if collection.left_out else 0


def _add_renumber(steps: Steps) -> None:
    step = steps.add_parser("renumber", help="mend a recipe's block numbers after a change of what a block is")
    step.add_argument("recipe", help="a file of rows, or the name of one in dripper_lab/recipes; it is written anew")
    step.add_argument("--clones", type=Path, required=True, help="folder of the repositories' clones, OWNER+NAME each")
    step.add_argument("--before", type=Path, required=True, help="folder lib of the version that the numbers are of")
    step.set_defaults(run=_renumber)


def _renumber(options: argparse.Namespace) -> int:
    path, left_out = find_recipe(options.recipe), Counter[str]()
    rows = read_rows(path)
    labelled = [row for row in rows if "main" in row]
    pages = list(read_recipe_pages(labelled, path.stem, options.clones, False, left_out))
    rows, counts = renumber(rows, pages, options.before)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    _say(f"{_pages(counts.mended)} renumbered, {counts.same} have the same blocks, {counts.stale} fit neither version")
    _say_left_out(left_out)
    return NOT_ALL if counts.stale else 0


def _add_agreement(steps: Steps) -> None:
    step = steps.add_parser("agreement", help="tell how far the annotators of a data set agree, by kind")
    step.add_argument("data_set", type=Path, help="folder of a data set")
    step.set_defaults(run=_agreement)


def _agreement(options: argparse.Namespace) -> int:
    sys.stdout.write(agreement.report(agreements(options.data_set)))
    return 0


def _add_filter(steps: Steps) -> None:
    defaults = Filter()
    step = steps.add_parser("filter", help="mark pages that a training does better without")
    step.add_argument("data_set", type=Path, help="folder of a data set; its truth.jsonl is written anew")
    step.add_argument(
        "--agreement", type=_share, default=defaults.least_agreement, help="F1 of two annotators, least (%(default)s)"
    )
    step.add_argument("--sure", type=int, choices=(1, 2, 3), default=defaults.least_sure, help="least (%(default)s)")
    step.add_argument(
        "--shared",
        type=_share,
        default=defaults.least_shared,
        help="share of the blocks that the labeler cpu must mark as the annotator did, least (%(default)s: any)",
    )
    step.set_defaults(run=_filter)


def _filter(options: argparse.Namespace) -> int:
    by = Filter(options.agreement, options.sure, load("cpu"), least_shared=options.shared)
    n_pages, left_out = filter_data_set(options.data_set, by)
    _say(f"{_pages(n_pages)} kept")
    _say_left_out(left_out)
    return 0


def _add_sft(steps: Steps) -> None:
    step = steps.add_parser("sft", help="write prompts and answers to fine-tune a language model on")
    step.add_argument("data_sets", type=Path, nargs="+", help="folders of data sets, or archives NAME.tar.xz")
    step.add_argument("--out", type=Path, required=True, help="folder to make")
    step.add_argument(
        "--model", default="", help="folder of the checkpoint: its tokenizer counts (default: an estimate)"
    )
    step.add_argument(
        "--prompt", default="own", help="own, a public prompt, or a file with {html} (default %(default)s)"
    )
    step.add_argument("--prompt-folder", default="", help="where `dripper prompts fetch` put public prompts")
    step.add_argument(
        "--answer",
        choices=("json", "json_v0", "json_tight", "compact", "tagged", "tagged_tight"),
        default="json",
        help="form (default %(default)s)",
    )
    step.add_argument(
        "--profile", choices=sorted(PROFILES), default="dripper", help="of the blocks (default %(default)s)"
    )
    step.add_argument(
        "--context", type=_positive, default=32768, help="tokens of prompt and answer (default %(default)s)"
    )
    step.add_argument("--validation", type=_share, default=0.05, help="share of the sites (default %(default)s)")
    step.set_defaults(run=_sft)


def _sft(options: argparse.Namespace) -> int:
    with needed("the step sft", "lm"):
        from dripper_lab.annotation.fine_tuning import Framing, write_conversations

    framing = Framing.of(
        LmSettings(
            model=options.model, prompt=options.prompt, prompt_folder=options.prompt_folder, answer=options.answer, chat="once",
            context_tokens=options.context,
        )
    )  # fmt: skip
    pages = _read_labelled(options.data_sets)
    licences = {name: DATA_SETS[name].licence for name in map(_name, options.data_sets) if name in DATA_SETS}
    about = {"data_sets": [_name(each) for each in options.data_sets], "licences": licences}
    written = write_conversations(pages, framing, options.out, options.profile, options.validation, about)
    for name in written.pages:
        _say(f"{name}: {_pages(written.pages[name])}, {written.windows[name]} conversations")
    _say_left_out(written.left_out)
    return 0


def _read_labelled(data_sets: Sequence[Path]) -> Iterator[LabelledPage]:
    for path in data_sets:
        data_set = DATA_SETS.get(_name(path))
        if data_set is not None and data_set.role not in (Role.TRAIN_SHIPS, Role.TRAIN_RESEARCH):
            raise SettingsError(f"{data_set.name} is for {data_set.role}: nothing is trained on it")
    for path in data_sets:
        yield from read_pages(path.resolve().parent, _name(path))


def _name(path: Path) -> str:
    return path.resolve().name.removesuffix(".tar.xz")


def _say(sentence: str) -> None:
    sys.stdout.write(sentence + "\n")


def _say_left_out(reasons: Mapping[str, int]) -> None:
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1]):
        _say(f"{count} left out: {reason}")


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


def _positive(value: str) -> int:
    number = int(value)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _share(value: str) -> float:
    share = float(value)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("must be between 0 and 1")
    return share


def _object(value: str) -> dict[str, Any]:
    parsed = json.loads(value)
    if not isinstance(parsed, dict):
        raise argparse.ArgumentTypeError("must be a JSON object")
    return parsed
