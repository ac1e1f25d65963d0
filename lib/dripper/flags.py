"""Flags that several commands share: settings, and numbers that are checked."""

import argparse
from collections.abc import Mapping

from dripper.config import Settings, load
from dripper.places import local_place


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add --conf and --set."""
    parser.add_argument("--conf", action="append", default=[], metavar="FILE", help="settings as YAML; later files win")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="assignments", help="one setting"
    )


def settings(arguments: argparse.Namespace, flags: Mapping[str, str | None]) -> Settings:
    """Return the settings: files, then --set, then the flags that stand for a setting. Raises
    SettingsError."""
    given = [f"{key}={value}" for key, value in flags.items() if value is not None]
    return load([local_place("--conf", file) for file in arguments.conf], [*arguments.assignments, *given])


def positive(text: str) -> int:
    """Return `text` as an integer above 0, for argparse."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number
