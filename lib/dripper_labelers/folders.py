"""Checks the checkpoint folders named in settings."""

from pathlib import Path

from dripper.errors import MachineError
from dripper.labels.entry import Use, check_packages, local_folder


def require_folder(setting: str, model: str) -> Path:
    """Return a checkpoint's folder. Raises MachineError if the folder does not exist."""
    folder = local_folder(model)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise MachineError(f"{setting}={model} is a file: name the folder that it is in")
    if ":/" in model:
        raise MachineError(f"{setting}={model} is an address: fetch the checkpoint, and set the path of its folder")
    raise MachineError(
        f"{setting}={model}: there is no such folder. A checkpoint of a model hub has to be fetched first"
    )


def check_presence(
    setting: str, model: str, use: Use, package: str = "torch", extra: str = "encoder", *, fetched: bool = False
) -> list[str]:
    """Return a warning for each checkpoint or package that the `label` stage needs and this machine
    lacks.

    The stage may run on other machines, so neither is required here. But without a warning, a
    mistyped path would only be noticed after all pages have been preprocessed.

    Args:
        setting: The setting that names the checkpoint's folder.
        model: The folder, or the checkpoint's name on a hub.
        use: How the run uses the labeler.
        package: The package that the `label` stage imports.
        extra: This project's extra that installs the package.
        fetched: Whether workers download the checkpoint from a hub, so that no folder is needed
            here.

    Raises:
        MachineError: The stage runs on this machine, and the checkpoint or the package is missing.
    """
    if "label" not in use.stages:
        return []
    problems = []
    if not fetched and use.is_local:
        require_folder(setting, model)
    elif not fetched and not local_folder(model).is_dir():
        problems.append(
            f"{setting}={model}: there is no such folder on this machine; the stage label needs it on those it runs on"
        )
    return [*problems, *check_packages(use, extra, package)]
