"""Registers the `encoder` labeler, which runs in its own stage. Importing this module does not load
PyTorch or a tokenizer."""

from collections.abc import Sequence

from dripper.errors import SettingsError
from dripper.labels.base import Labeler
from dripper.labels.entry import CountTokens, LabelerEntry, Use, local_folder
from dripper.labels.hub import is_hub_name
from dripper.labels.lm.entry import ENVIRONMENT
from dripper_labelers.encoder.reading import FILE, PULPIE_PROFILE
from dripper_labelers.encoder.settings import EncoderSettings
from dripper_labelers.folders import check_presence


def _load(settings: EncoderSettings) -> Labeler:
    from dripper_labelers.encoder.labeler import EncoderLabeler

    return EncoderLabeler.load(settings)


def _count_tokens(settings: EncoderSettings) -> CountTokens | None:
    """Return a function that counts tokens with the model's tokenizer, or None if this machine does
    not have the checkpoint."""
    if not settings.model or not local_folder(settings.model).is_dir():
        return None
    from dripper_labelers.encoder.checkpoint import EncoderCheckpoint

    return EncoderCheckpoint.find(settings).sequencer().count_tokens


def _check(settings: EncoderSettings, use: Use) -> Sequence[str]:
    if not settings.model and (not use.stages or "label" in use.stages):
        raise SettingsError(
            "the labeler encoder needs a checkpoint: set labels.encoder.model to its folder, or its name on a model hub; "
            "`make encoder` trains a small one"
        )
    if settings.precision == "int8" and settings.device == "cuda":
        raise SettingsError(
            "labels.encoder.precision=int8 is for CPUs: set labels.encoder.device=cpu, or another precision"
        )
    if settings.engine == "vllm":
        _check_vllm(settings, use)
    needs = ("vllm", "gpu") if settings.engine == "vllm" else ("torch", "encoder")
    folder = local_folder(settings.model)
    fetched = is_hub_name(settings.model) and not folder.is_dir()
    problems = check_presence("labels.encoder.model", settings.model, use, *needs, fetched=fetched)
    makes_blocks = not use.stages or "preprocess" in use.stages
    is_known = (folder / FILE).exists() or use.profile == PULPIE_PROFILE
    if settings.model and makes_blocks and (folder / "config.json").is_file() and not is_known:
        problems.append(
            f"{settings.model} says nothing of how it reads pages and is taken for one of Pulpie's, which were trained on "
            f"pages of profile {PULPIE_PROFILE}; this run makes {use.profile}: --set profile={PULPIE_PROFILE} gives it what "
            "it knows"
        )
    return problems


def _check_vllm(settings: EncoderSettings, use: Use) -> None:
    if settings.precision == "int8":
        raise SettingsError("labels.encoder.precision=int8 is for labels.encoder.engine=transformers")
    if not use.stages:
        raise SettingsError(
            "an engine of vLLM cannot be shared with the processes that pages are worked on in: run the labeler encoder in a "
            "stage of its own (jobs/run.py without labeler.staged=false), or set labels.encoder.engine=transformers"
        )


def _reads_profile(settings: EncoderSettings) -> str | None:
    folder = local_folder(settings.model)
    if is_hub_name(settings.model) and not folder.is_dir():
        return PULPIE_PROFILE if "pulpie" in settings.model.lower() else None
    is_pulpies = bool(settings.model) and (folder / "config.json").is_file() and not (folder / FILE).exists()
    return PULPIE_PROFILE if is_pulpies else None


ENCODER = LabelerEntry(
    name="encoder",
    load=_load,
    settings=EncoderSettings,
    staged=True,
    gpus=True,
    count_tokens=_count_tokens,
    fallback="cpu",
    check=_check,
    reads_profile=_reads_profile,
    environment=ENVIRONMENT,
)
