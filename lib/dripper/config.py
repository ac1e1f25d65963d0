"""Typed settings: defaults here, then `conf/*.yml`, then `--set key=value`; each layer wins over the one before.

`main` of a job loads them once; everything below gets the part it needs as a value. A key nobody knows is an error that names
the nearest one. `conf/base.yml` lists every key with its default (a test holds the two together).
"""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from dripper.errors import SettingsError

MIB = 1 << 20
GIB = 1 << 30


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class S3Settings(_Section):
    """How `s3://` (and http) paths are opened. Credentials come from where boto3 looks for them."""

    endpoint_url: str | None = None
    """Another S3 service than Amazon's, for instance `http://127.0.0.1:9000`."""
    region: str | None = None
    """None: as boto3 finds it."""
    anonymous: bool = False
    """Send unsigned requests: for public buckets, without credentials."""
    max_attempts: int = Field(default=10, ge=1)
    """Tries per request in botocore's adaptive mode (its default of 5 was seen to give up under Common Crawl's SlowDown), and
    how often in a row a dropped connection is resumed without a new byte."""
    timeout_seconds: float = Field(default=60.0, gt=0)
    """Of one connect or read."""


class ReadSettings(_Section):
    """How archives are found and read."""

    page_bytes: int = Field(default=32 * MIB, ge=1024)
    """A page whose body, inflated, is larger becomes an error row; also bounds a reader's memory, to about four times as
    much. Common Crawl cuts at 1 MiB (5 MiB since 2025); 32 MiB still parses in about 400 MB."""
    statuses: tuple[Annotated[str, Field(pattern=r"^[1-9](xx|\d\d)$")], ...] = ("2xx",)
    """HTTP statuses that make a page, such as "2xx" or "404"; the others are skipped and counted. A response without any
    status is a page."""
    list_prefix: str = ""
    """Put before the relative lines of an @list, for instance `s3://commoncrawl/` for Common Crawl's warc.paths.gz."""
    s3: S3Settings = S3Settings()

    def keeps(self, status: int | None) -> bool:
        """Tell whether a response of this status is a page."""
        return status is None or str(status) in self.statuses or f"{status // 100}xx" in self.statuses


class LimitSettings(_Section):
    """What one page may cost before it becomes an error row."""

    page_cpu_seconds: int = Field(default=20, ge=1)
    """The slowest real page seen took under 2 s; a busy machine does not spend this, as it is CPU time."""
    page_wall_seconds: int = Field(default=300, ge=1)
    """For a page that sleeps. Far above the CPU limit: wall clocks misfired on good pages of busy machines."""
    page_memory_bytes: int = Field(default=1 * GIB, ge=64 * MIB)
    """Address space above what the page process starts with."""


class LabelerSettings(_Section):
    """Who decides which blocks are main content, and what happens where nothing is."""

    name: str = "cpu"
    fallback: Literal["trafilatura", "body", "empty"] = "trafilatura"
    """For a page without one main block: Trafilatura's choice, every block, or an empty extraction."""


class LmSettings(_Section):
    """The labeler `lm`: a causal language model in vLLM."""

    model: str = ""
    """A folder with a checkpoint, or its name on a model hub."""
    decoder: Literal["parallel", "fsm", "regex"] = "parallel"
    """How labels are decoded; all three give the same labels."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Of weights and activations; auto: what the checkpoint says."""
    answer: Literal["auto", "json", "compact"] = "auto"
    """The form of the answer that the model was trained to give; auto: by the checkpoint."""


class LabelsSettings(_Section):
    """What single labelers need, a section each."""

    lm: LmSettings = LmSettings()


class BatchSettings(_Section):
    """How WARC files are grouped. A batch is the unit of commit and of redoing."""

    files: int = Field(default=1000, ge=1)
    """At most so many files a batch; bounds the reports that travel to the driver (1 kB each)."""
    bytes_per_core: int = Field(default=2 * GIB, ge=1)
    """A batch ends after so many archive bytes times Spark's default parallelism: two Common Crawl files a core."""
    in_flight: int = Field(default=2, ge=1)
    """Batches worked on at once, so that the last slow file of one does not leave the cluster idle."""


class SparkSettings(_Section):
    """The session, where this program makes it (on Databricks it is given)."""

    master: str | None = None
    """Only for runs outside spark-submit; None: local[*]."""
    delta_package: str | None = None
    """Fetched from Maven Central unless Delta is on the class path or `jars` is set. None: what the installed Python package
    delta-spark names for the installed Spark, for instance `io.delta:delta-spark_2.13:4.0.1`."""
    jars: str = ""
    """A folder or comma-separated files: delta-spark, delta-storage and antlr4-runtime jars, for machines without a network."""
    properties: dict[str, str] = {}
    """Further Spark properties, as they are."""

    @field_validator("properties", mode="before")
    @classmethod
    def _as_spark_writes_them(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {str(key): str(item).lower() if isinstance(item, bool) else str(item) for key, item in value.items()}


class Settings(_Section):
    """Everything that can be set. `profile`: which rules split a page (`dripper`, `mineru-1.1`, `paper`)."""

    profile: Literal["dripper", "mineru-1.1", "paper"] = "dripper"
    labeler: LabelerSettings = LabelerSettings()
    labels: LabelsSettings = LabelsSettings()
    reading: ReadSettings = ReadSettings()
    limits: LimitSettings = LimitSettings()
    batch: BatchSettings = BatchSettings()
    spark: SparkSettings = SparkSettings()


def load(files: Iterable[str | Path] = (), assignments: Iterable[str] = ()) -> Settings:
    """Return the settings of `files` (YAML, later ones win) and then of `assignments` (`section.key=value`).

    Raises SettingsError for a file that is missing or no YAML mapping, an unknown key (naming the nearest known one), a
    value of the wrong type or out of range.

    >>> load(assignments=["limits.page_cpu_seconds=5"]).limits.page_cpu_seconds
    5
    """
    values: dict[str, Any] = {}
    for file in files:
        _merge(values, _read_yaml(Path(file)))
    for assignment in assignments:
        _merge(values, _parse_assignment(assignment))
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError("\n".join(_sentence(problem) for problem in error.errors())) from None


def _read_yaml(file: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"settings file {file}: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"settings file {file} is not YAML: {' '.join(str(error).split())}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError(f"settings file {file} must hold `key: value` lines, not a {type(content).__name__}")
    return content


def _parse_assignment(assignment: str) -> dict[str, Any]:
    key, equals, text = assignment.partition("=")
    if not equals or not key.strip():
        raise SettingsError(f"--set {assignment!r}: write key=value, for instance limits.page_cpu_seconds=30")
    try:
        value = yaml.safe_load(text) if text else ""
    except yaml.YAMLError:
        value = text
    *sections, last = _key_parts(key.strip())
    nested: dict[str, Any] = {last: value}
    for section in reversed(sections):
        nested = {section: nested}
    return nested


def _key_parts(key: str) -> list[str]:
    """`spark.properties.a.b` sets the Spark property `a.b`: what follows is one key, dots included."""
    free = "spark.properties."
    return ["spark", "properties", key.removeprefix(free)] if key.startswith(free) else key.split(".")


def _merge(into: dict[str, Any], new: Mapping[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _sentence(problem: Mapping[str, Any]) -> str:
    place = [str(part) for part in problem["loc"]]
    key = ".".join(place)
    if problem["type"] == "model_type":
        inside = [name for name in keys() if name.startswith(key + ".")]
        return f"setting {key} is a section: set one of {', '.join(inside)}"
    if problem["type"] != "extra_forbidden":
        return f"setting {key}={problem['input']!r}: {problem['msg'][0].lower()}{problem['msg'][1:]}"
    value = problem["input"]
    while isinstance(value, dict) and value:
        # An unknown section: what stands in it tells best which one was meant.
        inner, value = next(iter(value.items()))
        key, place = f"{key}.{inner}", [*place, str(inner)]
    known = list(keys())
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.4) or difflib.get_close_matches(
        place[-1], [name.rpartition(".")[2] for name in known], n=1, cutoff=0.5
    )
    nearest = next((name for name in known if near and name.endswith(near[0])), None)
    return f"unknown setting {key}" + (f"; did you mean {nearest}?" if nearest else f"; known are {', '.join(known)}")


def keys(section: type[BaseModel] = Settings, prefix: str = "") -> Iterable[str]:
    """Yield every setting's dotted name, in order of declaration."""
    for name, field in section.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys(inner, f"{prefix}{name}.")
        else:
            yield prefix + name
