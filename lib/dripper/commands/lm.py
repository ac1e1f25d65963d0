"""Runs `dripper lm probe`, which lets a checkpoint answer without restrictions, and reports the
settings that fit the form of its answers."""

import argparse

from dripper.blocks.profiles.registry import preprocess
from dripper.commands import Parsers, write
from dripper.decode.charset import decode
from dripper.errors import InputError
from dripper.extras import needed
from dripper.labels import config as flags
from dripper.labels.base import SimplifiedPage
from dripper.labels.registry import list_options
from dripper.parse_place import local_place


def add(commands: Parsers) -> None:
    """Declare the command."""
    lm = commands.add_parser("lm", help="checkpoints of the labeler lm")
    what = lm.add_subparsers(required=True, metavar="WHAT")
    probe = what.add_parser(
        "probe",
        help="let a checkpoint answer freely, and say which answer form fits it; exit code 1 where another is set",
    )
    probe.add_argument("model", metavar="MODEL", help="the checkpoint's folder, or its name on a model hub")
    probe.add_argument("pages", nargs="+", metavar="PAGE", help="HTML files; a few are enough")
    probe.add_argument(
        "--tokens",
        type=flags.positive,
        default=200,
        help="read at most so many tokens of a free answer (default %(default)s)",
    )
    flags.add_settings(probe)
    probe.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the report, and return 0 if the settings fit, else 1."""
    with needed("dripper lm probe", "lm"):
        from dripper.labels.lm.checkpoint import find_checkpoint
        from dripper.labels.lm.encoder import PageEncoder
        from dripper.labels.lm.probe import FreeDecoder, probe
        from dripper.labels.lm.settings import LmSettings

    settings = flags.settings(arguments, {"labels.lm.model": arguments.model})
    profile = find_checkpoint(arguments.model).training.profile or settings.profile
    of_labeler = LmSettings.model_validate(list_options("lm", settings.labels))
    encoder = PageEncoder.load(of_labeler)
    jobs = [job for page in arguments.pages for _, job in encoder.read(_read(page, profile))[:1]]
    if not jobs:
        raise InputError("none of the pages has a block")
    decoder = FreeDecoder.start(encoder, of_labeler)
    try:
        findings = probe(encoder, decoder, jobs, arguments.tokens)
    finally:
        decoder.close()
    write(findings.report())
    return 0 if findings.fits else 1


def _read(name: str, profile: str) -> SimplifiedPage:
    page = preprocess(decode(local_place("PAGE", name).read_bytes()).text, profile=profile)
    return SimplifiedPage.of(page)
