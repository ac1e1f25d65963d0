"""Typed settings, section by section, each with its default; wrong values give one sentence each.
`dripper.labels.config` reads them from files and flags.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from dripper.errors import SettingsError

MIB = 1 << 20
GIB = 1 << 30


class Section(BaseModel):
    """A section of settings that belong together."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class S3Settings(Section):
    """The access to `s3://` (and http) paths. Credentials come from the usual sources of boto3."""

    endpoint_url: str | None = None
    """The address of an S3 service other than Amazon's, for instance `http://127.0.0.1:9000`."""
    region: str | None = None
    """None: the region that boto3 finds."""
    anonymous: bool = False
    """Send unsigned requests: for public buckets, without credentials."""
    requester_pays: bool = False
    """For requester-pays buckets: agree to be charged for requests and bytes."""
    max_attempts: int = Field(default=10, ge=1)
    """Attempts per request, and attempts in a row to resume a dropped connection without a new
    byte. botocore's default of 5 gave up under Common Crawl's SlowDown."""
    timeout_seconds: float = Field(default=60.0, gt=0)
    """Seconds for one connect or read."""


class ReadSettings(Section):
    """The reading of archives. Its other limits: docs/storages.md."""

    page_bytes: int = Field(default=32 * MIB, ge=1024)
    """A page with a larger decompressed body becomes an error row. Also limits a reader's memory,
    to about four times as much. Common Crawl cuts at 1 MiB (5 MiB since 2025); 32 MiB still parses
    in about 400 MB."""
    statuses: tuple[Annotated[str, Field(pattern=r"^[1-9](xx|\d\d)$")], ...] = ("2xx",)
    """HTTP statuses that make a page, such as "2xx" or "404"; the others are skipped and counted. A
    response without any status is a page."""
    list_prefix: str = ""
    """Prefix for the relative lines of an @list, for instance `s3://commoncrawl/` for Common
    Crawl's warc.paths.gz."""
    crawl: str = ""
    """Name of the archives' crawl, for the column `crawl`; empty: the name in an address of Common
    Crawl's layout. It is not read from the archives, because a warcinfo record has it only at a
    file's start, and files are read in parts."""
    s3: S3Settings = S3Settings()

    def keeps(self, status: int | None) -> bool:
        """Return whether a response of this status is a page."""
        return status is None or str(status) in self.statuses or f"{status // 100}xx" in self.statuses


class LimitSettings(Section):
    """The limits of one page; beyond them it becomes an error row. Lower hard limits of the system
    (ulimit -H) apply."""

    page_cpu_seconds: int = Field(default=20, ge=1)
    """CPU seconds, so a busy machine does not matter. The slowest real page took under 2 s. A page
    that sleeps ends after 15 times as much wall time."""
    page_memory_bytes: int = Field(default=1 * GIB, ge=64 * MIB)
    """Bytes of address space of a page process, beyond its size at the start."""

    @property
    def page_wall_seconds(self) -> int:
        """Seconds of a page by the clock, for one that sleeps. Far above the CPU limit: wall clocks
        misfired on good pages of busy machines."""
        return 15 * self.page_cpu_seconds

    @property
    def stall_seconds(self) -> int:
        """Seconds without progress after which a worker that reads or extracts ends itself, so that
        Spark tries its task again. A page is tried twice; ten tries of a storage, of a minute each,
        pass before."""
        return max(1800, 3 * self.page_wall_seconds)


class LabelerSettings(Section):
    """The labeler that decides which blocks are main content, and the fallback if it marks none."""

    name: str = "cpu"
    """One labeler, or several in a chain (`cpu,lm`): each gets the pages that the previous one is
    unsure of."""
    escalate_below: float | None = Field(default=None, ge=0, le=1)
    """Confidence (the F1 that the labeler expects) below which the next labeler of a chain gets a
    page. null: 0.85 if the chain ends with `reader`, which is cheap, else 0.7."""
    escalate_share: float | None = Field(default=None, gt=0, le=1)
    """Share of a batch's pages that go to the next labeler, the least certain first. Only for a
    staged run of a chain of two, instead of `escalate_below`."""
    fallback: Literal["auto", "cpu", "trafilatura", "body", "empty"] = "auto"
    """For a page without one main block, or without usable labels: the labeler `cpu`, Trafilatura's
    choice, every block, or an empty extraction. auto: `cpu` for the labeler `lm`,
    every block for `cpu`, Trafilatura for the others."""
    staged: bool | None = None
    """Whether pages are labelled in a separate stage, between tables (pages, blocks, labels), or in
    one pass. null: the default of the labeler; `lm` uses a stage, because it needs GPUs."""


class LabelsSettings(Section):
    """The settings of single labelers, each in a section with the labeler's name.

    Of the class that its entry has (`dripper.labels.entry`). Sections are checked where settings
    are read, by `dripper.labels.config`.
    """

    model_config = ConfigDict(extra="allow")

    def options(self, name: str) -> dict[str, Any]:
        """Return the section of the labeler `name` as the options of `dripper.labels.load`; empty
        if nothing is set."""
        section = (self.model_extra or {}).get(name, {})
        return section.model_dump() if isinstance(section, BaseModel) else dict(section)


class HtmlSettings(Section):
    """The form of main HTML in the profiles `dripper` and `paper`. The profiles `mineru-…` ignore
    it."""

    inert: bool = True
    """Whether main HTML is made inert: no event handlers, no script URIs, no elements that run or
    load code."""
    absolute_links: bool = True
    """Whether relative addresses of links, images and other media become absolute, by the page's
    address and `<base href>`. For Markdown, this applies to every profile."""
    keep: tuple[str, ...] = ()
    """CSS selectors, such as [".recipe", "#opening-hours"], for sites that you know: blocks inside
    the matching elements, and around them, are main content, whatever the labeler decides. Works in
    every profile."""
    drop: tuple[str, ...] = ()
    """CSS selectors: matching elements are removed from the page before anything else reads it."""
    hidden: Literal["drop", "keep"] = "drop"
    """Text hidden by the page's attributes, styles and style sheets (SECURITY.md lists the ways).
    drop: it is in no block, and `hidden_chars` counts it. keep: it is part of the page. Only for
    the profile `dripper`."""


class MarkdownSettings(Section):
    """The form of the Markdown of main HTML."""

    converter: Literal["dripper", "html2text"] = "dripper"
    """html2text writes the Markdown that the Dripper paper scored. It is under GPL-3.0, so it has
    its own extra. Of the settings below, only `title`, `links` and `images` apply to it."""
    title: Literal["include", "exclude"] = "include"
    """Whether the Markdown begins with the page's title as a heading, if the main content lacks
    it."""
    links: Literal["keep", "text"] = "keep"
    """text: without addresses."""
    images: Literal["keep", "drop"] = "keep"
    tables: Literal["keep", "text"] = "keep"
    """text: only the cells of a table, one after the other."""


class BatchSettings(Section):
    """The grouping of WARC files. A batch is the unit of commit and of redoing."""

    files: int = Field(default=1000, ge=1)
    """Maximum number of files in a batch; limits the reports to the driver (1 kB each)."""


class OutputSettings(Section):
    """The tables as a whole."""

    single_writer: bool = False
    """Your promise that nothing except one run of this program writes to the output. Needed on S3
    outside Databricks if Delta has no log store for several writers; otherwise no run begins
    there."""


class StageSettings(Section):
    """The stage `label` of a staged run."""

    engines: int | None = Field(default=None, ge=1)
    """Engines that label at once. None: one for each GPU of the session, one if it has none (each
    engine has its own copy of the model, 2.7 GB for the smallest in vLLM)."""
    gpus: int = Field(default=0, ge=0, le=1)
    """1: jobs/run.py requests executors with a GPU by a resource profile, so only this stage runs
    on machines with GPUs. 0: the stage runs on any executor. An engine takes one GPU, which is
    enough for models of up to some 8 billion parameters."""
    gpu_discovery_script: str = ""
    """The script on the executors' machines that prints their GPUs, if the cluster does not bring
    its own."""
    executor_cores: int = Field(default=4, ge=1)
    """Cores of an executor of that profile; one engine runs on it."""
    executor_memory: str = "8g"
    """Memory of its JVM, which only passes rows on."""
    executor_memory_overhead: str = "16g"
    """Memory of its Python worker: the engine's weights on their way to the GPU."""
    commit_pages: int = Field(default=20_000, ge=1)
    """Pages per engine between two commits of a batch's labels. A lost driver loses this work, 80
    minutes of an L4 at 4 pages per second. Engines wait for the slowest of them before each commit.
    A task has a tenth of these pages, which is the work that a lost executor loses."""


class LayoutSettings(Section):
    """Labels that are transferred by layout (docs/layouts.md). Only in jobs, because it needs
    several pages of a host."""

    enabled: bool = False
    """Whether the second labeler of a chain labels only a few pages of each layout, and their
    labels are transferred to the others. The run is then staged."""


class DeviceSettings(Section):
    """A GPU's price, and the pages per second that it labels."""

    dollars_per_hour: float = Field(ge=0)
    pages_per_second: float = Field(gt=0)


class CostSettings(Section):
    """Prices and devices, for the estimates of `--dry-run` and the price of a staged run."""

    core_dollars_per_hour: float = Field(default=0.0425, ge=0)
    """Price of a core per hour, for the price in a run's report. The default is Amazon's c6i on
    demand, us-east-1, in 2025."""
    devices: dict[str, DeviceSettings] = {
        "L4": DeviceSettings(dollars_per_hour=0.39, pages_per_second=0.68),
        "A100": DeviceSettings(dollars_per_hour=2.72, pages_per_second=3.6),
    }
    """Devices by name. The defaults are the Pulpie authors' measurements of Dripper (500 Common
    Crawl pages, token by token) and prices: replace the speed by the speed of your first run."""


class SparkSettings(Section):
    """The session, if this program creates it; spark-submit and Databricks bring their own."""

    master: str | None = None
    """Only for runs outside spark-submit; None: local[*,4], which retries failed tasks, as a
    cluster does."""
    jars: str = ""
    """A folder or comma-separated files with the jars delta-spark, delta-storage and
    antlr4-runtime, for machines without a network. Otherwise Delta comes from the class path or
    from Maven Central."""
    properties: dict[str, str] = {}
    """Further Spark properties, passed on unchanged."""

    @field_validator("properties", mode="before")
    @classmethod
    def _as_spark_writes_them(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {str(key): str(item).lower() if isinstance(item, bool) else str(item) for key, item in value.items()}


Output = Literal["main_html", "markdown", "images", "posts", "metadata", "schema_org"]
ALL_OUTPUTS: tuple[Output, ...] = get_args(Output)
"""The parts of an extraction that can be left out."""
OUTPUTS = ALL_OUTPUTS[:-1]
"""The parts that are made unless others are asked for."""


def name_rules(profile: str, outputs: Sequence[Output]) -> str:
    """Return the name of a profile, for the column `versions`, with the outputs if some are left
    out.

    >>> name_rules("dripper", ["main_html", "metadata"])
    'dripper (main_html, metadata)'
    """
    return profile if tuple(outputs) == OUTPUTS else f"{profile} ({', '.join(outputs)})"


class Settings(Section):
    """Everything that can be set."""

    profile: Literal["dripper", "mineru-1.0", "mineru-1.1", "paper"] = "dripper"
    """The rules that split a page into blocks. dripper: nothing visible is lost; mineru-1.0,
    mineru-1.1: byte for byte the output of these versions of MinerU-HTML, including their losses;
    paper: as in the Dripper paper."""
    outputs: tuple[Output, ...] = OUTPUTS
    """The parts of an extraction that are made; the others cost nothing and are null. `text` needs
    main_html. Without `posts`, a page is searched for posts only if the labeler calls it a
    forum, as its main content depends on them. `schema_org`, the page's JSON-LD, is made only if it
    is named. The column `versions` names a choice beside the profile."""
    labeler: LabelerSettings = LabelerSettings()
    labels: LabelsSettings = LabelsSettings()
    reading: ReadSettings = ReadSettings()
    limits: LimitSettings = LimitSettings()
    html: HtmlSettings = HtmlSettings()
    markdown: MarkdownSettings = MarkdownSettings()
    batch: BatchSettings = BatchSettings()
    output: OutputSettings = OutputSettings()
    stages: StageSettings = StageSettings()
    layouts: LayoutSettings = LayoutSettings()
    cost: CostSettings = CostSettings()
    spark: SparkSettings = SparkSettings()

    @field_validator("outputs", mode="before")
    @classmethod
    def _in_order(cls, value: object) -> object:
        names = value.split(",") if isinstance(value, str) else value
        if not isinstance(names, (list, tuple, set, frozenset)):
            return value
        asked = ["main_html" if name == "text" else name for name in names]
        return [*(name for name in ALL_OUTPUTS if name in asked), *(name for name in asked if name not in ALL_OUTPUTS)]


_FORMS = "a result has markdown, text and main_html, and `dripper extract --format` writes these and others"
_BY_SELECTOR = "settings={'html.keep': [CSS], 'html.drop': [CSS]}"
OF_PEERS = {
    **dict.fromkeys(("output_format", "format", "formats"), _FORMS),
    **dict.fromkeys(("include_links", "links"), "settings={'markdown.links': 'text'} drops addresses of links"),
    **dict.fromkeys(("include_images", "alt_texts"), "settings={'markdown.images': 'drop'} drops images"),
    **dict.fromkeys(("prune_xpath", "css_selector", "excluded_tags", "include_tags", "exclude_tags"), _BY_SELECTOR),
    "include_comments": "of the labeler cpu it is comments='include'",
    "include_tables": "settings={'markdown.tables': 'text'} writes tables as text",
    "include_formatting": "result.text is without formatting",
    "favor_precision": "of the labeler cpu it is focus='precision'",
    "favor_recall": "of the labeler cpu it is focus='recall'",
    "with_metadata": "each result has metadata",
    "target_language": "each result has its language",
    "main_content": "result.main_html is the main content",
}
"""Keywords of other extractors, and the way here (docs/coming_from.md)."""

S = TypeVar("S", bound=Section)


def validate(
    section: type[S], values: Any, prefix: str = "", list_keys: Callable[[], Iterable[str]] | None = None
) -> S:
    """Return the section with `values`, the rest as by default.

    Args:
        section: The class of the section.
        values: The given values, by name.
        prefix: Of the section's keys, as people write them, with the dot.
        list_keys: Yields all keys there are, if more than the section's own.

    Raises:
        SettingsError: One sentence for each value that does not fit.
    """
    try:
        return section.model_validate(values)
    except ValidationError as error:
        names = list(list_keys() if list_keys else keys(section, prefix))
        raise SettingsError("\n".join(_write_sentence(problem, prefix, names) for problem in error.errors())) from None


def keys(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of all settings of a section, in order of declaration."""
    for name, field in section.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from keys(inner, f"{prefix}{name}.")
        else:
            yield prefix + name


def _write_sentence(problem: Mapping[str, Any], prefix: str, valid_keys: list[str]) -> str:
    place = [str(part) for part in problem["loc"]]
    key = prefix + ".".join(place) if place else prefix.rstrip(".")
    if problem["type"] == "model_type":
        inside = [name for name in valid_keys if name.startswith(key + ".")]
        return f"setting {key} is a section: set one of {', '.join(inside)}"
    if problem["type"] != "extra_forbidden":
        words = problem["msg"][0].lower() + problem["msg"][1:].replace("a valid tuple", "a list, such as [a, b]")
        return f"setting {key}={problem['input']!r}: {words}"
    if place[-1] in OF_PEERS:
        return f"unknown setting {key}: {OF_PEERS[place[-1]]}"
    value = problem["input"]
    while isinstance(value, dict) and value:
        # An unknown section: its keys are the best hint at the one that was meant.
        inner, value = next(iter(value.items()))
        key, place = f"{key}.{inner}", [*place, str(inner)]
    beside = [name for name in valid_keys if name.startswith(key.rpartition(".")[0] + ".")] or valid_keys
    names = {name.rpartition(".")[2]: name for name in [*valid_keys, *beside]}
    near = get_close_matches(key, valid_keys, n=1, cutoff=0.85) or [
        names[last] for last in get_close_matches(place[-1], names, n=1)
    ]
    return f"unknown setting {key}" + (f"; did you mean {near[0]}?" if near else f"; known are {', '.join(beside)}")
