"""The loss of a training step: weights of blocks and classes, and the teacher's outputs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dripper.errors import InputError
from dripper_lab.train.encoder.__main__ import DEFAULTS, main
from dripper_lab.train.encoder.examples import Example, random_chunk
from dripper_lab.train.encoder.losses import Drawn, Objective, class_weights, load_teacher
from dripper_labelers.encoder.sequence import Sequencer
from support.labelled import FOLDER
from support.tiny_encoder import CONTEXT, WHY_NOT, make_encoder, make_model, make_tokenizer

RECIPE = replace(DEFAULTS, context_tokens=CONTEXT, block_tokens=12, bfloat16=False)


@pytest.fixture(scope="module")
def batch(examples: list[Example], sequencer: Sequencer) -> list[Drawn]:
    draw = np.random.default_rng(0)
    return [(example, random_chunk(example, sequencer, draw)) for example in examples]


def test_longer_blocks_weigh_more(batch: list[Drawn]) -> None:
    example, chunk = batch[0]
    weights = Objective(RECIPE).weights_of(example, chunk)
    order = np.argsort(example.truth.words[chunk.start : chunk.end])
    assert (np.diff(weights[order]) >= 0).all()
    assert weights.min() >= 2


def test_without_weighting_every_block_weighs_one(batch: list[Drawn]) -> None:
    assert set(Objective(replace(RECIPE, weighting="none")).weights_of(*batch[0])) == {1.0}


def test_by_class_main_and_other_weigh_the_same(examples: list[Example]) -> None:
    objective = Objective.of(replace(RECIPE, weighting="class"), examples)
    main = np.concatenate([example.truth.main for example in examples])
    other, of_main = objective.of_class
    assert main.mean() != pytest.approx(0.5, abs=0.02)
    assert of_main * main.sum() == pytest.approx(other * (~main).sum())
    assert (of_main * main.sum() + other * (~main).sum()) / len(main) == pytest.approx(1)


def test_classes_that_are_not_there_divide_by_nothing(examples: list[Example]) -> None:
    truth = replace(examples[0].truth, main=np.zeros(len(examples[0].truth.main), bool))
    assert np.isfinite(class_weights([Example(truth, examples[0].ids)])).all()


def test_with_a_teacher_that_says_the_same_only_the_labels_part_is_left(batch: list[Drawn]) -> None:
    model = _model()
    alone = Objective(RECIPE).loss(model, batch).item()
    assert Objective(RECIPE, teacher=model).loss(model, batch).item() == pytest.approx(0.3 * alone, rel=1e-4)
    whole = replace(RECIPE, distil_share=1.0)
    assert Objective(whole, teacher=model).loss(model, batch).item() == pytest.approx(0, abs=1e-6)


def test_a_teacher_that_says_something_else_is_what_the_student_goes_to(batch: list[Drawn]) -> None:
    torch = pytest.importorskip("torch", reason=WHY_NOT)
    student, teacher = _model(), _model(shift=1.5)
    objective = Objective(replace(RECIPE, distil_share=1.0), teacher=teacher)
    before = objective.loss(student, batch)
    assert before.item() > 0.01
    before.backward()
    assert all(value.grad is None for value in teacher.parameters())
    with torch.no_grad():
        student.classifier.bias -= student.classifier.bias.grad
    assert objective.loss(student, batch).item() < before.item()


def test_the_square_of_the_temperature_is_in_the_loss(batch: list[Drawn]) -> None:
    torch = pytest.importorskip("torch", reason=WHY_NOT)
    example, chunk = batch[0]
    student, teacher = _model(), _model(shift=1.5)
    recipe = replace(RECIPE, distil_share=1.0, weighting="none", temperature=3.0)
    with torch.no_grad():
        said, told = (
            each(input_ids=torch.tensor([chunk.ids])).logits[0, chunk.separators] for each in (student, teacher)
        )
    told, heard = torch.softmax(told / 3, 1), torch.softmax(said / 3, 1)
    by_hand = 9 * float((told * (told / heard).log()).sum(1).mean())
    assert Objective(recipe, teacher=teacher).loss(student, [(example, chunk)]).item() == pytest.approx(
        by_hand, rel=1e-3
    )


def test_a_student_learns_from_an_earlier_run(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    base = tmp_path / "base"
    base.mkdir()
    tokenizer = make_tokenizer(base, cls_token="[CLS]", sep_token="[SEP]")
    make_model("bert", len(tokenizer), initializer_range=0.02).save_pretrained(base)
    flags = ["--base", str(base), "--data", str(FOLDER), "--sets", "wcxb-dev", "--folds", "4"]
    flags += ["--context-tokens", str(CONTEXT), "--block-tokens", "12"]
    assert main([*flags, "--layers", "2", "--output", str(tmp_path / "large")]) == 0
    taught = [*flags, "--layers", "1", "--teacher", str(tmp_path / "large"), "--weighting", "words+class"]
    assert main([*taught, "--output", str(tmp_path / "small")]) == 0
    card = (tmp_path / "small" / "README.md").read_text(encoding="utf-8")
    assert f'"teacher": "{tmp_path.name}/large"' in card
    assert '"weighting": "words+class"' in card


def test_a_teacher_has_to_read_the_same_tokens(tmp_path: Path, sequencer: Sequencer) -> None:
    (tmp_path / "own").mkdir()
    tokenizer = make_tokenizer(tmp_path / "own", "outline")
    other = make_encoder(tmp_path / "html", form="html")
    with pytest.raises(InputError, match="reads other tokens than the student"):
        load_teacher(other, tokenizer, sequencer.reading)
    with pytest.raises(InputError, match="is no checkpoint"):
        load_teacher(tmp_path / "own", tokenizer, sequencer.reading)
    fits = make_encoder(tmp_path / "outline", form="outline")
    long = replace(sequencer.reading, context_tokens=CONTEXT + 1)
    with pytest.raises(InputError, match="too few positions"):
        load_teacher(fits, tokenizer, long)
    short = replace(sequencer.reading, context_tokens=CONTEXT)
    assert not load_teacher(fits, tokenizer, short).training


def _model(shift: float = 0.0) -> Any:
    """Return a small model; one that is shifted is surer that blocks are main."""
    torch = pytest.importorskip("torch", reason=WHY_NOT)
    model = make_model("bert", 2100, num_hidden_layers=1).eval()
    with torch.no_grad():
        model.classifier.bias[1] += shift
    return model
