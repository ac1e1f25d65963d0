"""The pictures: each is a PNG, and shows every extractor it is given."""

import io
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

from dripper_lab.evaluation.extractors.base import Standing
from dripper_lab.evaluation.report import charts
from dripper_lab.evaluation.results import Line
from dripper_lab.evaluation.statistics import Interval
from support.small_set import fake, half

NAMES = ("dripper-cpu", "trafilatura", "html2text", "oracle")
KINDS = (Standing.OURS, Standing.PEER, Standing.TEXT, Standing.BOUND)


def line(place: int) -> Line:
    value = 0.9 - 0.1 * place
    interval = Interval(value, value - 0.02, value + 0.02)
    return Line(
        extractor=fake(NAMES[place], half, KINDS[place]), pages=10, macro=interval, gain=Interval(0.0, -0.1, 0.1), mean=value,
        median=value + 0.03, precision=value, recall=value, empty=0.0, failed={}, cpu_mean=10.0**place, cpu_median=5.0,
    )  # fmt: skip


LINES = [line(place) for place in range(len(NAMES))]


def pixels(png: bytes) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    assert png.startswith(b"\x89PNG")
    return np.asarray(matplotlib.image.imread(io.BytesIO(png)))


def shows(png: bytes, kind: Standing) -> bool:
    wanted = [int(charts.COLOURS[kind][place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return bool((np.abs(pixels(png)[..., :3] - wanted).max(axis=-1) < 0.02).any())


@pytest.mark.parametrize("chart", [charts.quality_and_cost, charts.ranking], ids=lambda chart: chart.__name__)
def test_every_kind_has_its_colour(chart: "object") -> None:
    png = chart(LINES)  # type: ignore[operator]
    assert all(shows(png, kind) for kind in KINDS)
    alone = chart(LINES[:1])  # type: ignore[operator]
    assert shows(alone, Standing.OURS)
    assert not shows(alone, Standing.BOUND)


def test_kinds_of_pages_have_a_panel_each_and_some_extractors_are_not_in_all() -> None:
    rows = [(each, [each.macro, None if place else each.macro]) for place, each in enumerate(LINES)]
    png = charts.kinds_and_cost(["article", "forum"], rows)
    assert all(shows(png, kind) for kind in KINDS)
    wider = charts.kinds_and_cost(["a", "b", "c", "d"], [(LINES[0], [LINES[0].macro] * 4)])
    assert pixels(wider).shape > pixels(png).shape


def test_distributions_of_pages() -> None:
    rows = [{"extractor": name, "rouge5_words_f1": score} for name in NAMES for score in np.linspace(0, 1, 9)]
    png = charts.distributions(pd.DataFrame(rows), LINES)
    assert all(shows(png, kind) for kind in KINDS)


def test_complexity_with_two_levels_or_three() -> None:
    for levels in (["low", "high"], ["low", "medium", "high"]):
        table = pd.DataFrame({level: [0.9, 0.8, 0.7, 0.95] for level in levels}, index=NAMES)
        assert pixels(charts.by_complexity(table, LINES)).ndim == 3


def test_likeness_is_a_square() -> None:
    table = pd.DataFrame(np.eye(4), index=NAMES, columns=NAMES)
    height, width, _ = pixels(charts.likeness(table)).shape
    assert abs(width - height) < 0.3 * height


def test_names_beside_points_do_not_overlap(tmp_path: Path) -> None:
    crowded = [line(0) for _ in range(6)]
    (tmp_path / "crowded.png").write_bytes(charts.quality_and_cost(crowded))
    assert pixels((tmp_path / "crowded.png").read_bytes()).size
