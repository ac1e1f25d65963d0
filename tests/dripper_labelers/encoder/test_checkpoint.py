"""A checkpoint's folder, before PyTorch."""

import json
import sys
from pathlib import Path

import pytest

from dripper.errors import MachineError, SettingsError
from dripper.labels import Use, config, entry, load
from dripper.labels.registry import check_blocks
from dripper_labelers.encoder.checkpoint import PULPIE_SMALL, EncoderCheckpoint
from dripper_labelers.encoder.entry import ENCODER
from dripper_labelers.encoder.reading import Reading
from dripper_labelers.encoder.settings import EncoderSettings


def checkpoint(folder: Path, said: dict[str, object], **settings: object) -> EncoderCheckpoint:
    (folder / "config.json").write_text(json.dumps(said))
    return EncoderCheckpoint.find(EncoderSettings(model=str(folder), **settings))  # type: ignore[arg-type]


def test_no_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"set labels\.encoder\.model to the folder of a checkpoint"):
        load("encoder")
    with pytest.raises(MachineError, match="there is no such folder"):
        load("encoder", model=str(tmp_path / "none"))
    with pytest.raises(MachineError, match=r"is not a checkpoint: config\.json"):
        load("encoder", model=str(tmp_path))


@pytest.mark.parametrize(
    ("said", "wanted", "context"),
    [
        ({"max_position_embeddings": 8192}, None, 8192),
        ({"max_position_embeddings": 512}, None, 512),
        ({"max_position_embeddings": 8192}, 2048, 2048),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1}, None, 512),
        ({}, None, 8192),
    ],
)
def test_chunks_are_no_longer_than_the_models_positions(
    tmp_path: Path, said: dict[str, object], wanted: int | None, context: int
) -> None:
    if wanted:
        Reading(context_tokens=wanted).save(tmp_path)
    assert checkpoint(tmp_path, said).context == context


@pytest.mark.parametrize(
    ("names", "outcomes", "main"),
    [
        (None, 2, 1),
        ({"0": "LABEL_0", "1": "LABEL_1"}, 2, 1),
        ({"0": "main", "1": "other"}, 2, 0),
        ({"0": "boilerplate", "1": "content"}, 2, 1),
        ({"0": "main"}, 1, 0),
    ],
)
def test_which_outcome_is_main(tmp_path: Path, names: dict[str, str] | None, outcomes: int, main: int) -> None:
    found = checkpoint(tmp_path, {} if names is None else {"id2label": names})
    assert (found.outcomes, found.main) == (outcomes, main)


def test_more_than_two_classes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="tells 3 classes apart"):
        checkpoint(tmp_path, {"id2label": {"0": "a", "1": "b", "2": "c"}})


@pytest.mark.parametrize("names", [["a", "b"], {"x": "main", "y": "other"}, {"1": "a", "2": "b"}])
def test_outcomes_without_numbers_are_refused(tmp_path: Path, names: object) -> None:
    with pytest.raises(MachineError, match=r"id2label in config\.json is .* by number"):
        checkpoint(tmp_path, {"id2label": names})


@pytest.mark.parametrize("labeler", ["encoder", "neuscraper"])
def test_what_is_no_folder_is_told_apart(tmp_path: Path, labeler: str) -> None:
    file = tmp_path / "config.json"
    file.write_text("{}")
    for model, words in (
        (str(file), "is a file: name the folder"),
        (f"file://{tmp_path}", "is an address: fetch the checkpoint"),
        ("s3://bucket/model", "is an address: fetch the checkpoint"),
        ("~nobody-of-that-name/model", "there is no such folder"),
    ):
        with pytest.raises(MachineError, match=rf"labels\.{labeler}\.model={model}.*{words}"):
            load(labeler, model=model)


def test_home_and_blanks_may_stand_in_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "a model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    assert EncoderCheckpoint.find(EncoderSettings(model="~/a model")).folder == folder


def test_the_version_tells_checkpoints_apart(tmp_path: Path) -> None:
    first = checkpoint(tmp_path, {"hidden_size": 1}).version
    assert first.startswith(f"{tmp_path.name}@")
    assert checkpoint(tmp_path, {"hidden_size": 2}).version != first


def test_what_cannot_work_is_said_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = set[str]()
    monkeypatch.setattr(entry, "find_spec", lambda package: package in installed or None)
    with pytest.raises(SettingsError, match="needs a checkpoint"):
        ENCODER.check(EncoderSettings(), Use("dripper", ("label",)))
    with pytest.raises(SettingsError, match="int8 is for CPUs"):
        ENCODER.check(EncoderSettings(model="m", precision="int8", device="cuda"), Use("dripper"))
    assert not ENCODER.check(EncoderSettings(), Use("dripper", ("preprocess",)))
    told = ENCODER.check(EncoderSettings(model="/nowhere"), Use("dripper", ("preprocess", "label")))
    assert "/nowhere: there is no such folder on this machine" in told[0]
    assert told[1].startswith("torch is not installed on this machine")
    assert ".[encoder]" in told[1]
    (served,) = ENCODER.check(EncoderSettings(model="/", engine="vllm"), Use("mineru-1.1", ("label",)))
    assert served.startswith("vllm is not installed on this machine")
    installed |= {"torch"}
    assert len(ENCODER.check(EncoderSettings(model="/nowhere"), Use("dripper", ("preprocess", "label")))) == 1
    assert not ENCODER.check(EncoderSettings(model="/nowhere"), Use("dripper", ("preprocess",)))
    assert ENCODER.count_tokens(EncoderSettings()) is None


def test_where_the_stage_runs_here_what_is_missing_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"torch"}
    monkeypatch.setattr(entry, "find_spec", lambda package: package in installed or None)
    use = Use("mineru-1.1", ("preprocess", "label"), is_local=True)
    with pytest.raises(MachineError, match="there is no such folder"):
        ENCODER.check(EncoderSettings(model="/nowhere"), use)
    assert not ENCODER.check(EncoderSettings(model="/"), use)
    with pytest.raises(MachineError, match="vllm is not installed: pip install"):
        ENCODER.check(EncoderSettings(model="/", engine="vllm"), use)


def test_a_checkpoint_of_another_profile_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "find_spec", lambda package: True)
    checkpoint(tmp_path, {})
    settings = EncoderSettings(model=str(tmp_path))
    (warning,) = ENCODER.check(settings, Use("dripper", ("preprocess", "label")))
    assert "--set profile=mineru-1.1 gives it what it knows" in warning
    assert not ENCODER.check(settings, Use("mineru-1.1", ("preprocess", "label")))
    assert not ENCODER.check(settings, Use("dripper", ("label",))), "pages are split by then"
    Reading(form="outline").save(tmp_path)
    assert not ENCODER.check(settings, Use("dripper"))


def test_blocks_of_another_profile_than_the_checkpoint_reads_are_refused(tmp_path: Path) -> None:
    checkpoint(tmp_path, {})

    def check(profile: str, *more: str) -> None:
        settings = config.load(assignments=["labeler.name=encoder", f"labels.encoder.model={tmp_path}", *more])
        check_blocks(settings.labeler, settings.labels, profile)

    check("mineru-1.1")
    with pytest.raises(
        SettingsError, match="of profile dripper, and the checkpoint of the labeler encoder reads mineru"
    ):
        check("dripper")
    Reading(form="outline").save(tmp_path)
    check("dripper")


class Hub:
    """The module huggingface_hub, with one checkpoint."""

    def __init__(self, snapshot: Path | None) -> None:
        self.snapshot = snapshot
        self.asked: list[str] = []

    def snapshot_download(self, name: str, allow_patterns: list[str]) -> str:
        if self.snapshot is None:
            raise ConnectionError("no route")
        self.asked.append(name)
        assert "*.safetensors" in allow_patterns
        assert not [pattern for pattern in allow_patterns if pattern.endswith((".py", ".bin"))], "no code, no pickles"
        return str(self.snapshot)


def test_a_checkpoint_may_be_named_by_its_name_on_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = tmp_path / "0123456789abcdef"
    snapshot.mkdir()
    (snapshot / "config.json").write_text(json.dumps({"vocab_size": 7}))
    hub = Hub(snapshot)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    found = EncoderCheckpoint.find(EncoderSettings(model=PULPIE_SMALL))
    assert (found.folder, found.version, found.vocabulary) == (snapshot, f"{PULPIE_SMALL}@0123456789ab", 7)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / PULPIE_SMALL
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    assert EncoderCheckpoint.find(EncoderSettings(model=PULPIE_SMALL)).folder.samefile(folder), "a folder comes first"
    assert hub.asked == [PULPIE_SMALL]


def test_a_hub_out_of_reach_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", Hub(None))
    with pytest.raises(
        MachineError, match=rf"^labels\.encoder\.model={PULPIE_SMALL} is not a folder here and cannot be"
    ):
        EncoderCheckpoint.find(EncoderSettings(model=PULPIE_SMALL))


def test_a_checkpoint_of_the_hub_needs_no_folder_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "find_spec", lambda package: True)
    settings = EncoderSettings(model=PULPIE_SMALL)
    for is_local in (True, False):
        assert not ENCODER.check(settings, Use("mineru-1.1", ("preprocess", "label"), is_local=is_local))
    assert ENCODER.reads_profile(settings) == "mineru-1.1"
    assert ENCODER.reads_profile(EncoderSettings(model="owner/other")) is None
    assert ENCODER.count_tokens(settings) is None, "the driver fetches no weights"
