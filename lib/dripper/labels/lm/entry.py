"""Registers the `lm` labeler, which runs in its own stage on GPUs. Importing this module loads
neither vLLM nor a tokenizer."""

from collections.abc import Sequence

from dripper.errors import SettingsError
from dripper.extras import needed
from dripper.labels.base import Labeler
from dripper.labels.entry import CountTokens, LabelerEntry, Use, check_packages
from dripper.labels.lm.settings import LmSettings, check_engine

# By default, vLLM's engine is a separate process, which keeps running if its Spark worker is
# killed.
ENVIRONMENT = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}


def _load(settings: LmSettings) -> Labeler:
    with needed("the labeler lm", "lm"):
        from dripper.labels.lm.labeler import LmLabeler

    return LmLabeler.load(settings)


def _count_tokens(settings: LmSettings) -> CountTokens | None:
    """Return the token counter of the model's own tokenizer; None if no model is set."""
    if not settings.model:
        return None
    from dripper.labels.lm.encoder import PageEncoder

    return PageEncoder.load(settings).count_tokens


def _check(settings: LmSettings, use: Use) -> Sequence[str]:
    check_engine(settings)
    in_torch = settings.engine == "transformers" and not settings.endpoint
    if not use.stages and not settings.endpoint and not (in_torch and settings.device == "cpu"):
        raise SettingsError(
            "an engine of the labeler lm cannot be shared with the processes that pages are worked on in: run it in a "
            "stage of its own (jobs/run.py without labeler.staged=false), or set labels.lm.endpoint to a server, or "
            "labels.lm.engine=transformers with labels.lm.device=cpu"
        )
    if "label" in use.stages and not settings.model:
        raise SettingsError(
            "the labeler lm needs a checkpoint: set labels.lm.model to its folder, or its name on a model hub"
        )
    problems = check_packages(use, "lm,encoder", "torch", "transformers") if in_torch else []
    if not settings.model or (use.stages and "preprocess" not in use.stages):
        return problems
    from dripper.labels.lm.checkpoint import foreign_profile

    trained = foreign_profile(settings.model, use.profile)
    if not trained:
        return problems
    return [
        *problems,
        f"{settings.model} was trained on pages of profile {trained}, and this run makes {use.profile}: "
        f"--set profile={trained} gives it what it knows",
    ]


def _reads_profile(settings: LmSettings) -> str | None:
    from dripper.labels.lm.checkpoint import trained_profile

    return trained_profile(settings.model) if settings.model and settings.prompt == "auto" else None


LM = LabelerEntry(
    name="lm",
    load=_load,
    settings=LmSettings,
    staged=True,
    gpus=True,
    count_tokens=_count_tokens,
    fallback="cpu",
    check=_check,
    reads_profile=_reads_profile,
    environment=ENVIRONMENT,
)
