"""The contents of a checkpoint's folder."""

import json
from pathlib import Path

import pytest

from dripper.errors import MachineError, SettingsError
from dripper.labels.config import load
from dripper.labels.lm.checkpoint import DRIPPER_1_0, DRIPPER_1_1, OWN, find_checkpoint, fingerprint, foreign_profile
from dripper.labels.lm.prompt import PUBLIC
from dripper.labels.registry import check_blocks
from support.tiny_lm import make_config


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "some-model"
    made.mkdir()
    make_config(made)
    return made


def test_a_folder(folder: Path) -> None:
    found = find_checkpoint(str(folder))
    assert (found.name, found.folder, found.context) == ("some-model", folder, 40_960)
    assert found.version == f"some-model@{fingerprint(folder)}"
    assert found.training == OWN


@pytest.mark.parametrize(
    ("name", "architecture", "training"),
    [
        ("MinerU-HTML-v1.1-hunyuan0.5B-compact", "HunYuanDenseV1ForCausalLM", DRIPPER_1_1),
        ("MinerU-HTML", "Qwen3ForCausalLM", DRIPPER_1_0),
        ("dripper-0.6b", "Qwen3ForCausalLM", DRIPPER_1_0),
        ("Qwen3-0.6B", "Qwen3ForCausalLM", OWN),
        ("Hunyuan-0.5B-Instruct", "HunYuanDenseV1ForCausalLM", OWN),
    ],
)
def test_public_checkpoints_are_known_by_name(tmp_path: Path, name: str, architecture: str, training: object) -> None:
    (tmp_path / name).mkdir()
    make_config(tmp_path / name, architectures=[architecture])
    assert find_checkpoint(str(tmp_path / name)).training == training


def test_a_renamed_folder_is_known_by_what_its_config_remembers(folder: Path) -> None:
    make_config(folder, _name_or_path="opendatalab/MinerU-HTML")
    assert find_checkpoint(str(folder)).training == DRIPPER_1_0


@pytest.mark.parametrize(
    ("name", "architecture", "profile", "foreign"),
    [
        ("MinerU-HTML-v1.1", "HunYuanDenseV1ForCausalLM", "dripper", "mineru-1.1"),
        ("MinerU-HTML-v1.1", "HunYuanDenseV1ForCausalLM", "mineru-1.1", None),
        ("MinerU-HTML", "Qwen3ForCausalLM", "dripper", "mineru-1.0"),
        ("Qwen3-0.6B", "Qwen3ForCausalLM", "dripper", None),
    ],
)
def test_pages_of_another_profile_than_the_training_had_are_told(
    tmp_path: Path, name: str, architecture: str, profile: str, foreign: str | None
) -> None:
    (tmp_path / name).mkdir()
    make_config(tmp_path / name, architectures=[architecture])
    assert foreign_profile(str(tmp_path / name), profile) == foreign
    assert foreign_profile("opendatalab/nowhere", profile) is None


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("opendatalab/MinerU-HTML-v1.1-hunyuan0.5B-compact", "mineru-1.1"),
        ("opendatalab/MinerU-HTML", "mineru-1.0"),
        ("Qwen/Qwen3-0.6B", None),
        ("/Volumes/main/dripper/models/dripper", None),
        ("", None),
    ],
)
def test_blocks_of_another_profile_than_the_checkpoint_reads_are_refused(model: str, wanted: str | None) -> None:
    def check(profile: str, *more: str) -> None:
        settings = load(assignments=["labeler.name=cpu,lm", f"labels.lm.model={model}", *more])
        check_blocks(settings.labeler, settings.labels, profile)

    if wanted is None:
        check("dripper")
    else:
        check(wanted)
        with pytest.raises(SettingsError, match=f"of profile dripper, .* labeler lm reads {wanted}: preprocess with"):
            check("dripper")
        check("dripper", "labels.lm.prompt=own")


def test_trainings_name_prompts_that_exist() -> None:
    assert {DRIPPER_1_0.prompt, DRIPPER_1_1.prompt} <= set(PUBLIC)


def test_fingerprints_tell_weights_apart(folder: Path) -> None:
    seen = {fingerprint(folder)}
    for content in (b"a" * 200_000, b"a" * 199_999 + b"b", b"a" * 200_001):
        (folder / "model.safetensors").write_bytes(content)
        seen.add(fingerprint(folder))
    assert len(seen) == 4


def test_no_model_says_what_to_set() -> None:
    with pytest.raises(SettingsError, match=r"set labels\.lm\.model to the folder of a checkpoint"):
        find_checkpoint("")


@pytest.mark.parametrize("model", ["/nowhere/at/all", "./nowhere", "~/nowhere/model", "three/part/name", "plain"])
def test_a_folder_that_is_not_there_is_named(model: str) -> None:
    with pytest.raises(MachineError, match="there is no such folder"):
        find_checkpoint(model)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (None, "is not a checkpoint: config.json"),
        ("{", "is not a checkpoint: config.json"),
        ("[]", "holds no object"),
        (
            json.dumps({"architectures": ["BertModel"]}),
            "is not a causal language model: its config.json says BertModel",
        ),
        (json.dumps({"architectures": ["Qwen3ForCausalLM"]}), "has no max_position_embeddings"),
    ],
)
def test_a_folder_that_is_no_checkpoint_is_named(tmp_path: Path, config: str | None, words: str) -> None:
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    with pytest.raises(MachineError, match=words):
        find_checkpoint(str(tmp_path))


def test_a_name_on_the_hub_has_its_commit_as_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = tmp_path / "0123456789abcdef"
    snapshot.mkdir()
    make_config(snapshot)

    class Hub:
        @staticmethod
        def snapshot_download(name: str, allow_patterns: list[str]) -> str:
            assert (name, "*.safetensors" in allow_patterns) == ("owner/MinerU-HTML", False)
            return str(snapshot)

    monkeypatch.setattr("dripper.labels.lm.checkpoint.import_extra", lambda _: Hub)
    found = find_checkpoint("owner/MinerU-HTML")
    assert found.version == "owner/MinerU-HTML@0123456789ab"
    assert found.training == DRIPPER_1_0


def test_a_hub_out_of_reach_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hub:
        @staticmethod
        def snapshot_download(*_: object, **__: object) -> str:
            raise ConnectionError("no route")

    monkeypatch.setattr("dripper.labels.lm.checkpoint.import_extra", lambda _: Hub)
    with pytest.raises(MachineError, match=r"cannot be fetched from the hub \(ConnectionError\)\. Fetch it where"):
        find_checkpoint("owner/MinerU-HTML")
