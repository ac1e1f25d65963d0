"""A session that spark-submit made on this machine gets the settings for one machine, unless others
are set."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from dripper.settings import SparkSettings
from dripper.spark.session import local, session
from dripper.spark.session.local import LOCAL, adapt_to_one_machine

ROOT = Path(__file__).parents[3]
OF_QUERIES = {name: value for name, value in LOCAL.items() if name.startswith(("spark.sql.", "spark.databricks."))}


@pytest.fixture
def bare(spark: SparkSession) -> Iterator[SparkSession]:
    """A session of the same Spark without any setting of `LOCAL`."""
    made = spark.newSession()
    for name in OF_QUERIES:
        made.conf.unset(name)
    yield made
    spark.sql("SELECT 1")  # makes the tests' own session the active one again


def found(spark: SparkSession) -> dict[str, str | None]:
    return {name: spark.conf.get(name, None) for name in OF_QUERIES}


@pytest.mark.spark
def test_a_local_session_gets_them(bare: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    assert found(bare) != OF_QUERIES
    with caplog.at_level(logging.INFO, "dripper"):
        adapt_to_one_machine(bare)
    assert found(bare) == OF_QUERIES
    assert caplog.messages == []
    assert bare.range(3).groupBy().sum("id").first() == (3,)


@pytest.mark.spark
def test_what_somebody_has_set_stays(bare: SparkSession) -> None:
    theirs = {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "7"}
    for name, value in theirs.items():
        bare.conf.set(name, value)
    adapt_to_one_machine(bare)
    assert found(bare) == OF_QUERIES | theirs


@pytest.mark.spark
def test_one_line_says_what_comes_too_late(
    bare: SparkSession, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "FAST_START", "-XX:NobodyHasThis")
    with caplog.at_level(logging.INFO, "dripper"):
        adapt_to_one_machine(bare)
    (line,) = caplog.messages
    assert "spark-submit --conf 'spark.driver.extraJavaOptions=-XX:NobodyHasThis'" in line


@pytest.mark.spark
def test_the_log_is_quiet_before_a_session_without_delta_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise fifty lines of Spark hide the one sentence."""
    calls: list[str] = []
    monkeypatch.setattr(session, "_is_submitted", lambda: True)
    for name in ("_quieten", "_require_delta", "adapt_to_one_machine"):
        monkeypatch.setattr(session, name, lambda *_, called=name: calls.append(called))
    session.open_session(SparkSettings())
    # The first look is at the command's own settings, before there is a session.
    assert calls == ["_require_delta", "_quieten", "adapt_to_one_machine", "_require_delta"]


@pytest.mark.spark
def test_a_cluster_keeps_its_own(bare: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    before = found(bare)
    monkeypatch.setattr(local, "properties", lambda _: {"spark.master": "local-cluster[2,1,1024]"})
    adapt_to_one_machine(bare)
    assert found(bare) == before


def test_what_only_a_start_can_set_is_the_same_for_make_and_spark_submit() -> None:
    for_make = yaml.safe_load((ROOT / "conf/local.yml").read_text())["spark"]["properties"]
    lines = [line.split(None, 1) for line in (ROOT / "conf/spark-local.conf").read_text().splitlines()]
    for_submit = {words[0]: words[1].strip() for words in lines if words and not words[0].startswith("#")}
    assert for_make
    for_make[local.JAVA_OPTIONS] = f"{local.FAST_START} {for_make[local.JAVA_OPTIONS]}"
    assert {name: str(value).lower().split() for name, value in for_make.items()} == {
        name: for_submit[name].lower().split() for name in for_make
    }
