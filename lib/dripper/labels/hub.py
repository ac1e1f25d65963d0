"""Recognises and downloads checkpoints on the Hugging Face hub."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dripper.errors import MachineError


def is_hub_name(model: str) -> bool:
    """Return whether a setting has the form of a hub name, `owner/model`. If there is a folder with
    this path, callers use the folder instead.

    >>> is_hub_name("feyninc/pulpie-orange-small"), is_hub_name("./model"), is_hub_name("s3://b/m")
    (True, False, False)
    """
    return model.count("/") == 1 and not model.startswith((".", "/", "~")) and all(model.split("/"))


def fetch_snapshot(setting: str, model: str, patterns: Sequence[str], hub: Any) -> Path:
    """Return the folder with a hub checkpoint's files. Files that are not in the cache are
    downloaded.

    Args:
        setting: The setting with the checkpoint's name, for messages.
        model: The checkpoint's name.
        patterns: Patterns of the files to download.
        hub: The module huggingface_hub.

    Raises:
        MachineError: If the checkpoint cannot be downloaded.
    """
    try:
        return Path(hub.snapshot_download(model, allow_patterns=list(patterns)))
    except Exception as error:  # The hub raises many kinds of errors. They all mean the same thing to a user.
        raise MachineError(
            f"{setting}={model} is not a folder here and cannot be fetched from the hub "
            f"({type(error).__name__}). Fetch it where there is a network, and set {setting} to its folder"
        ) from error
