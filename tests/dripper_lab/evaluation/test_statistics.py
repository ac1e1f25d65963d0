import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper_lab.evaluation.statistics import Bootstrap, Interval, difference, interval

SETS = ["a"] * 60 + ["b"] * 40
HOSTS = [f"a{page // 6}" for page in range(60)] + [f"b{page}" for page in range(40)]
RANDOM = np.random.default_rng(1)


def test_values_are_plain_means() -> None:
    values = RANDOM.random(100)
    bootstrap = Bootstrap(SETS, HOSTS, draws=10)
    assert bootstrap.mean(values)[0] == pytest.approx(values.mean())
    assert bootstrap.macro_mean(values)[0] == pytest.approx((values[:60].mean() + values[60:].mean()) / 2)


def test_draws_take_whole_sites() -> None:
    # One site has all the ones. In a draw the mean is its times among all: a multiple of 1 / 20 of
    # the sites' pages.
    hosts = [f"h{page % 20}" for page in range(100)]
    values = np.array([float(host == "h3") for host in hosts])
    drawn = Bootstrap(["s"] * 100, hosts, draws=200).mean(values)[1:]
    assert np.allclose(drawn * 20, np.round(drawn * 20))
    assert drawn.std() == pytest.approx(np.sqrt(1 / 20 * 19 / 20 / 20), rel=0.2)


def test_agrees_with_drawing_one_by_one() -> None:
    values = RANDOM.random(100)
    generator = np.random.default_rng(5)
    hosts = np.array(HOSTS)
    sites = np.unique(hosts)
    means = []
    for _ in range(3000):
        drawn = np.concatenate([np.flatnonzero(hosts == site) for site in generator.choice(sites, len(sites))])
        means.append(values[drawn].mean())
    found = interval(Bootstrap(SETS, HOSTS, draws=3000).mean(values))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=0.01)


def test_pages_of_few_sites_give_wider_intervals() -> None:
    site_level = RANDOM.random(10)
    values = np.repeat(site_level, 10)
    by_site = interval(Bootstrap(["s"] * 100, [str(page // 10) for page in range(100)]).mean(values))
    by_page = interval(Bootstrap(["s"] * 100, [str(page) for page in range(100)]).mean(values))
    assert by_site.high - by_site.low > 2 * (by_page.high - by_page.low)


def test_paired_difference_is_narrower_than_the_parts() -> None:
    values = RANDOM.random(100)
    better = np.clip(values + 0.02 + RANDOM.normal(0, 0.01, 100), 0, 2)
    bootstrap = Bootstrap(SETS, HOSTS)
    gain = difference(bootstrap.mean(better), bootstrap.mean(values))
    alone = interval(bootstrap.mean(values))
    assert gain.value == pytest.approx((better - values).mean())
    assert gain.high - gain.low < (alone.high - alone.low) / 4
    assert gain.excludes_zero
    assert not difference(bootstrap.mean(values), bootstrap.mean(values)).excludes_zero


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.floats(0, 1)), min_size=1, max_size=30))
def test_intervals_hold_their_value_range(pages: list[tuple[str, str, float]]) -> None:
    sets, hosts, values = zip(*pages, strict=True)
    bootstrap = Bootstrap(sets, hosts, draws=50)
    for drawn in (bootstrap.mean(np.array(values)), bootstrap.macro_mean(np.array(values))):
        found = interval(drawn)
        assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_the_same_pages_give_the_same_interval() -> None:
    values = RANDOM.random(100)
    assert interval(Bootstrap(SETS, HOSTS).mean(values)) == interval(Bootstrap(SETS, HOSTS).mean(values))
    assert Interval(0.1, -0.1, 0.2).excludes_zero is False
