"""Defines all settings, in sections, with types and defaults. For each invalid value, the error
message has one sentence. `dripper.labels.config` reads the settings from files and flags.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from dripper.errors import SettingsError
from dripper.flags import find_nearest

MIB = 1 << 20
GIB = 1 << 30


class Section(BaseModel):
    """A section of related settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class S3Settings(Section):
    """Access to `s3://` paths. Credentials come from boto3's usual sources. `max_attempts` also
    applies to other remote paths, and `timeout_seconds` to http paths."""

    endpoint_url: str | None = None
    """The URL of an S3 service other than Amazon's, for instance `http://127.0.0.1:9000`."""
    region: str | None = None
    """The region of the buckets. None: the region that boto3 finds."""
    anonymous: bool = False
    """Whether to send unsigned requests, for public buckets."""
    requester_pays: bool = False
    """Whether you agree to pay for requests and traffic, which requester-pays buckets require."""
    max_attempts: int = Field(default=10, ge=1)
    """Maximum attempts per request. If a connection drops, reading resumes; it fails after this
    many consecutive attempts without a single byte received. botocore's default of 5 was too few
    for Common Crawl's SlowDown answers."""
    timeout_seconds: float = Field(default=60.0, gt=0)
    """Timeout in seconds for each connection attempt and each read."""


class ReadSettings(Section):
    """Settings for reading archives. docs/storages.md lists further limits."""

    page_bytes: int = Field(default=32 * MIB, ge=1024)
    """Maximum size of a page's decompressed body. A larger page becomes an error row. A reader's
    memory is limited to about four times this size. Common Crawl truncates pages at 1 MiB (5 MiB
    since 2025). Parsing a 32 MiB page takes about 400 MB."""
    statuses: tuple[Annotated[str, Field(pattern=r"^[1-9](xx|\d\d)$")], ...] = ("2xx",)
    """HTTP statuses of the responses that are pages, such as "2xx" or "404". Other responses are
    skipped and counted. A response without a status is a page."""
    list_prefix: str = ""
    """Prefix for the relative lines of an @list, for instance `s3://commoncrawl/` for Common
    Crawl's warc.paths.gz."""
    crawl: str = ""
    """The name of the crawl, for the `crawl` column. If empty, the name is taken from archive
    addresses that follow Common Crawl's layout. The name is not read from the archives: only the
    warcinfo record at the start of a file has it, and files are read in parts."""
    s3: S3Settings = S3Settings()

    def keeps(self, status: int | None) -> bool:
        """Return whether a response with this status is a page."""
        return status is None or str(status) in self.statuses or f"{status // 100}xx" in self.statuses


class LimitSettings(Section):
    """Limits for one page. A page that exceeds a limit becomes an error row. The system's hard
    limits (ulimit -H) apply if they are lower."""

    page_cpu_seconds: int = Field(default=20, ge=1)
    """Maximum CPU seconds. Unlike wall time, they do not depend on how busy the machine is. The
    slowest real page took under 2 s. The limit on a page's wall time is 15 times as many
    seconds."""
    page_memory_bytes: int = Field(default=1 * GIB, ge=64 * MIB)
    """Maximum number of bytes by which the address space of a page process may grow beyond its
    initial size."""

    @property
    def page_wall_seconds(self) -> int:
        """The limit on a page's wall time, which ends a page process that hangs without using the
        CPU. On busy machines, a limit closer to the CPU limit stopped good pages."""
        return 15 * self.page_cpu_seconds

    @property
    def stall_seconds(self) -> int:
        """Seconds without progress after which a reading or extracting worker exits, so that Spark
        retries the task. This is enough to try a page twice, or a storage request ten times for a
        minute each."""
        return max(1800, 3 * self.page_wall_seconds)


class LabelerSettings(Section):
    """The labeler, which decides which blocks are main content, and the fallback for pages on which
    the labeler selects no block."""

    name: str = "cpu"
    """One labeler, or a chain (`cpu,lm`) in which each labeler gets the pages that the previous
    labeler is unsure of."""
    escalate_below: float | None = Field(default=None, ge=0, le=1)
    """Confidence (the F1 that the labeler expects) below which the next labeler of a chain gets a
    page. null: 0.85 if the chain ends with `reader`, which is cheap, else 0.7."""
    escalate_share: float | None = Field(default=None, gt=0, le=1)
    """The fraction of a batch's pages to send to the next labeler, the least certain pages first.
    Replaces `escalate_below`. Works only in a staged run with a chain of two labelers."""
    fallback: Literal["auto", "cpu", "trafilatura", "body", "empty"] = "auto"
    """The fallback for a page that has no usable labels, or no main block. cpu: the `cpu` labeler
    decides. trafilatura: Trafilatura decides. body: every block. empty: no block. auto: cpu for the
    `lm` labeler, body for `cpu`, trafilatura for all others."""
    staged: bool | None = None
    """Whether to label pages in a separate stage, which reads and writes tables (pages, blocks,
    labels), instead of in one pass. null: the labeler's default. `lm` uses a stage, because it
    needs GPUs."""


class LabelsSettings(Section):
    """Settings of the labelers. Each section has the name of a labeler.

    The class of a section comes from the labeler's entry (`dripper.labels.entry`).
    `dripper.labels.config` checks the sections when it reads settings.
    """

    model_config = ConfigDict(extra="allow")

    def options(self, name: str) -> dict[str, Any]:
        """Return the settings of the labeler `name` as options for `dripper.labels.load`, or an
        empty dict if nothing is set."""
        section = (self.model_extra or {}).get(name, {})
        return section.model_dump() if isinstance(section, BaseModel) else dict(section)


class HtmlSettings(Section):
    """The form of the main HTML. The profiles `mineru-…` ignore these settings, except where
    noted."""

    inert: bool = True
    """Whether main HTML becomes inert: no event handlers, no script URIs, no elements that run or
    load code."""
    absolute_links: bool = True
    """Whether to make relative URLs of links, images and other media absolute, with the page's URL
    and `<base href>`. In Markdown, this applies to every profile."""
    keep: tuple[str, ...] = ()
    """CSS selectors, such as [".recipe", "#opening-hours"], for sites that you know. Blocks inside
    or around matching elements are main content, whatever the labeler decides. Works in every
    profile."""
    drop: tuple[str, ...] = ()
    """CSS selectors. Matching elements are removed from the page before any other processing."""
    hidden: Literal["drop", "keep"] = "drop"
    """Text hidden by the page's attributes, styles and style sheets (SECURITY.md lists the ways).
    drop: hidden text is in no block, and `hidden_chars` counts it. keep: hidden text is part of the
    page. Only for the `dripper` profile."""


class MarkdownSettings(Section):
    """The form of the Markdown."""

    converter: Literal["dripper", "html2text"] = "dripper"
    """html2text is the converter that the Dripper paper used for its scores. html2text is under
    GPL-3.0, so it has its own extra. Of the settings below, only `title`, `links` and `images`
    apply to html2text."""
    title: Literal["include", "exclude"] = "include"
    """Whether the Markdown begins with the page's title as a heading, if the main content lacks the
    title."""
    links: Literal["keep", "text"] = "keep"
    """keep: links with their URLs. text: only the text of links."""
    images: Literal["keep", "drop"] = "keep"
    tables: Literal["keep", "text"] = "keep"
    """keep: tables as tables. text: only the text of the cells, one cell after another."""


class BatchSettings(Section):
    """The grouping of WARC files into batches. A batch is committed, or redone, as a whole."""

    files: int = Field(default=1000, ge=1)
    """Maximum number of files in a batch. The driver receives a report of 1 kB for each file."""


class OutputSettings(Section):
    """Settings for all output tables."""

    single_writer: bool = False
    """Your promise that only one run of this program writes to the output. Required on S3 outside
    Databricks if Delta has no log store for several writers."""


class StageSettings(Section):
    """The `label` stage in a staged run."""

    engines: int | None = Field(default=None, ge=1)
    """Number of engines that label in parallel. None: one for each GPU in the session, or one if
    the session has no GPU. Each engine has its own copy of the model. In vLLM, the smallest model
    needs 2.7 GB."""
    gpus: int = Field(default=0, ge=0, le=1)
    """1: jobs/run.py requests executors with a GPU through a resource profile, so that only this
    stage runs on GPU machines. 0: the stage runs on any executor. An engine uses one GPU, which is
    enough for models of up to about 8 billion parameters."""
    gpu_discovery_script: str = ""
    """The script on the executors' machines that lists their GPUs, if the cluster does not provide
    one."""
    executor_cores: int = Field(default=4, ge=1)
    """Cores per executor in the resource profile. One engine runs on each executor."""
    executor_memory: str = "8g"
    """Memory for the executor's JVM, which only passes rows to the Python worker."""
    executor_memory_overhead: str = "16g"
    """Memory for the executor's Python worker, which loads the engine's weights on their way to the
    GPU."""
    commit_pages: int = Field(default=20_000, ge=1)
    """Pages per engine between two commits of a batch's labels. If the driver is lost, all work
    since the last commit is lost: up to 80 minutes on an L4 at 4 pages per second. If an executor
    is lost, only its current task is lost, which has at most about a tenth of these pages. Before
    each commit, all engines wait for the slowest."""


class LayoutSettings(Section):
    """The transfer of labels between pages with the same layout (docs/layouts.md). Works only in
    jobs, because it needs several pages from one host."""

    enabled: bool = False
    """Whether the second labeler in a chain labels only a few pages per layout, and its labels are
    transferred to the layout's other pages. This makes the run staged."""


class DeviceSettings(Section):
    """A GPU's price and labelling speed."""

    dollars_per_hour: float = Field(ge=0)
    pages_per_second: float = Field(gt=0)


class CostSettings(Section):
    """Prices and devices, for the estimates of `--dry-run` and for the price of a staged run."""

    core_dollars_per_hour: float = Field(default=0.0425, ge=0)
    """Price per core-hour, for the price in a run's report. The default is Amazon's on-demand price
    for c6i instances in us-east-1 in 2025."""
    devices: dict[str, DeviceSettings] = {
        "L4": DeviceSettings(dollars_per_hour=0.39, pages_per_second=0.68),
        "A100": DeviceSettings(dollars_per_hour=2.72, pages_per_second=3.6),
    }
    """Devices by name. The defaults are prices and speeds published by the Pulpie authors, who
    measured Dripper on 500 Common Crawl pages with token-by-token generation. After your first run,
    enter the speed that you measured."""


class SparkSettings(Section):
    """The Spark session, if this program creates it. spark-submit and Databricks provide their
    own."""

    master: str | None = None
    """Only for runs outside spark-submit. None: local[*,4], which retries failed tasks, as a
    cluster does."""
    jars: str = ""
    """A folder or comma-separated files with the jars delta-spark, delta-storage and
    antlr4-runtime, for machines without network access. Otherwise Delta comes from the class path
    or from Maven Central."""
    properties: dict[str, str] = {}
    """Further Spark properties, which are passed to Spark unchanged."""

    @field_validator("properties", mode="before")
    @classmethod
    def _as_spark_writes_them(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {str(key): str(item).lower() if isinstance(item, bool) else str(item) for key, item in value.items()}


Output = Literal["main_html", "markdown", "images", "posts", "metadata", "schema_org"]
ALL_OUTPUTS: tuple[Output, ...] = get_args(Output)
"""The optional parts of an extraction."""
OUTPUTS = ALL_OUTPUTS[:-1]
"""The parts that are produced by default."""


def name_rules(profile: str, outputs: Sequence[Output]) -> str:
    """Return a profile's name for the `versions` column, with the outputs if they are not the
    default.

    >>> name_rules("dripper", ["main_html", "metadata"])
    'dripper (main_html, metadata)'
    """
    return profile if tuple(outputs) == OUTPUTS else f"{profile} ({', '.join(outputs)})"


class Settings(Section):
    """All settings."""

    profile: Literal["dripper", "mineru-1.0", "mineru-1.1", "paper"] = "dripper"
    """The rules for splitting a page into blocks. dripper: loses nothing visible. mineru-1.0,
    mineru-1.1: exactly the output of these MinerU-HTML versions, including their losses. paper: as
    in the Dripper paper."""
    outputs: tuple[Output, ...] = OUTPUTS
    """The parts of an extraction to produce. The other parts cost nothing and are null. `text` also
    selects main_html, because the text is derived from it. Without `posts`, posts are searched for
    only in pages that the labeler classifies as forums, because the main content of a forum depends
    on its posts. `schema_org`, the page's JSON-LD, is produced only if it is named here. The
    `versions` column lists these parts after the profile if they are not the default."""
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
"""Keyword arguments of other extractors → how to get the same result from this package
(docs/coming_from.md)."""

S = TypeVar("S", bound=Section)


def validate(
    section: type[S], values: Any, prefix: str = "", list_keys: Callable[[], Iterable[str]] | None = None
) -> S:
    """Return the section with `values`, and defaults for the rest.

    Args:
        prefix: The prefix of the section's full keys, with the dot.
        list_keys: Returns all valid keys. None means that only the section's own keys are valid.

    Raises:
        SettingsError: A value is invalid. The message has one sentence for each invalid value.
    """
    try:
        return section.model_validate(values)
    except ValidationError as error:
        names = list(list_keys() if list_keys else keys(section, prefix))
        raise SettingsError("\n".join(_write_sentence(problem, prefix, names) for problem in error.errors())) from None


def keys(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of all settings in a section, in declaration order."""
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
        # The section is unknown, but its keys hint at the intended section.
        inner, value = next(iter(value.items()))
        key, place = f"{key}.{inner}", [*place, str(inner)]
    beside = [name for name in valid_keys if name.startswith(key.rpartition(".")[0] + ".")] or valid_keys
    names = {name.rpartition(".")[2]: name for name in [*valid_keys, *beside]}
    near = find_nearest(key, valid_keys, 0.85) or names.get(find_nearest(place[-1], names))
    return f"unknown setting {key}" + (f"; did you mean {near}?" if near else f"; known are {', '.join(beside)}")
