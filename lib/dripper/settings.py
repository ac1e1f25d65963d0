"""Typed settings, section by section, each with its default; wrong values give one sentence each.
`dripper.labels.config` reads them from files and flags.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from dripper.errors import SettingsError

MIB = 1 << 20
GIB = 1 << 30


class Section(BaseModel):
    """A section of settings that belong together."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class S3Settings(Section):
    """The access to `s3://` (and http) paths. Credentials come from where boto3 looks for them."""

    endpoint_url: str | None = None
    """Another S3 service than Amazon's, for instance `http://127.0.0.1:9000`."""
    region: str | None = None
    """None: as boto3 finds it."""
    anonymous: bool = False
    """Send unsigned requests: for public buckets, without credentials."""
    requester_pays: bool = False
    """For requester-pays buckets: agree to be charged for requests and bytes."""
    max_attempts: int = Field(default=10, ge=1)
    """Tries per request, and how often in a row a dropped connection is resumed without a new byte.
    botocore's default of 5 was seen to give up under Common Crawl's SlowDown."""
    timeout_seconds: float = Field(default=60.0, gt=0)
    """Seconds for one connect or read."""


class ReadSettings(Section):
    """The reading of archives. Its other limits: docs/storages.md."""

    page_bytes: int = Field(default=32 * MIB, ge=1024)
    """A page with a larger inflated body becomes an error row; also bounds a reader's memory,
    to about four times as much. Common Crawl cuts at 1 MiB (5 MiB since 2025); 32 MiB still parses
    in about 400 MB."""
    statuses: tuple[Annotated[str, Field(pattern=r"^[1-9](xx|\d\d)$")], ...] = ("2xx",)
    """HTTP statuses that make a page, such as "2xx" or "404"; the others are skipped and counted. A
    response without any status is a page."""
    list_prefix: str = ""
    """Put before the relative lines of an @list, for instance `s3://commoncrawl/` for Common
    Crawl's warc.paths.gz."""
    crawl: str = ""
    """Name of the crawl that the archives are of, for the column `crawl`; empty: as a folder of
    Common Crawl's layout in their address says. Not read from the archives: a warcinfo record names
    it only at a file's start, and files are read in parts."""
    s3: S3Settings = S3Settings()

    def keeps(self, status: int | None) -> bool:
        """Tell whether a response of this status is a page."""
        return status is None or str(status) in self.statuses or f"{status // 100}xx" in self.statuses


class LimitSettings(Section):
    """The limits of one page; beyond them it becomes an error row. Hard limits of the system that
    are lower (ulimit -H) hold."""

    page_cpu_seconds: int = Field(default=20, ge=1)
    """The slowest real page seen took under 2 s; a busy machine does not spend this, as it is CPU
    time. A page that sleeps ends after 15 times as much by the clock."""
    page_memory_bytes: int = Field(default=1 * GIB, ge=64 * MIB)
    """Address space of a page process, beyond its size at the start."""

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
    """One labeler, or several in a chain (`cpu,lm`): each next one gets the pages that the one
    before is not sure of."""
    escalate_below: float | None = Field(default=None, ge=0, le=1)
    """Confidence (the F1 that the labeler expects) below which the next labeler of a chain gets a
    page. null: 0.85 if the chain ends with `reader`, which is cheap, else 0.7."""
    escalate_share: float | None = Field(default=None, gt=0, le=1)
    """Share of a batch's pages that escalate, the least sure first: in a staged run of a chain of
    two, instead of `escalate_below`."""
    fallback: Literal["auto", "cpu", "trafilatura", "body", "empty"] = "auto"
    """For a page without one main block, or without usable labels: the labeler `cpu`, Trafilatura's
    choice, every block, or an empty extraction. auto: `cpu` for the labeler `lm`,
    every block for `cpu`, Trafilatura for the others."""
    staged: bool | None = None
    """Whether pages are labelled in a stage of their own, between tables (pages, blocks, labels),
    or on the way through one pass. null: as the labeler's entry says; `lm` wants a stage, as it
    wants GPUs."""


class LabelsSettings(Section):
    """The settings of single labelers: a section each, named like the labeler.

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
    """Nothing in it can run: no event handlers, no addresses that are scripts, no elements that run
    or load code."""
    absolute_links: bool = True
    """Relative addresses of links, images and other media are completed by the page's own, `<base
    href>` included. Holds for the Markdown of every profile."""
    keep: tuple[str, ...] = ()
    """CSS selectors, such as [".recipe", "#opening-hours"], for sites that you know: blocks within
    the elements found, and around them, are main content, whatever the labeler says. In every
    profile."""
    drop: tuple[str, ...] = ()
    """CSS selectors: the elements found are removed from the page before anything else reads it."""
    hidden: Literal["drop", "keep"] = "drop"
    """Text that a person does not see on the page, by its attributes, styles and own sheets
    (SECURITY.md lists the ways). drop: it is in no block, and `hidden_chars` counts it. keep: it is
    part of the page. Only the profile `dripper` looks at it."""


class MarkdownSettings(Section):
    """The form of the Markdown of main HTML."""

    converter: Literal["dripper", "html2text"] = "dripper"
    """html2text writes Markdown as the Dripper paper scored it, and is GPL-3.0: it has an extra of
    its own, and the settings below but `title` and `links` and `images` do not reach it."""
    title: Literal["include", "exclude"] = "include"
    """Whether the Markdown opens with the page's title as a heading, unless the main content
    already has it."""
    links: Literal["keep", "text"] = "keep"
    """text: without addresses."""
    images: Literal["keep", "drop"] = "keep"
    tables: Literal["keep", "text"] = "keep"
    """text: the cells of every table, one after the other."""


class BatchSettings(Section):
    """The grouping of WARC files. A batch is the unit of commit and of redoing."""

    files: int = Field(default=1000, ge=1)
    """Files of a batch at most; bounds the reports that travel to the driver (1 kB each)."""


class OutputSettings(Section):
    """The tables as a whole."""

    single_writer: bool = False
    """Whether a person vouches for it that nothing writes into the output beside this program's one
    run. Asked for on S3 outside Databricks where Delta has no log store for several writers;
    without either no run begins there."""


class StageSettings(Section):
    """The stage `label` of a staged run."""

    engines: int | None = Field(default=None, ge=1)
    """Engines that label at once. None: one for each GPU of the session, one if it has none (each
    engine has its own copy of the model, 2.7 GB for the smallest in vLLM)."""
    gpus: int = Field(default=0, ge=0, le=1)
    """1: jobs/run.py asks for executors with a GPU by a resource profile, so that only this stage
    runs where GPUs are. 0: it runs wherever the session runs. An engine takes one GPU, in which all
    models of up to some 8 billion parameters fit."""
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
    """Pages of an engine between two commits of the labels of a batch: a lost driver has to repeat
    this work, 80 minutes of an L4 at 4 pages a second. Engines wait for the last of them before
    each commit. A task has a tenth of them, the work that a lost executor has to repeat."""


class LayoutSettings(Section):
    """Labels that spread by layout (docs/layouts.md), in jobs alone: one page by itself has no
    host."""

    enabled: bool = False
    """Whether the second labeler of a chain labels a few pages of each layout, and their labels
    spread to the others. The run is then staged."""


class DeviceSettings(Section):
    """A GPU's rent, and how many pages a second it labels."""

    dollars_per_hour: float = Field(ge=0)
    pages_per_second: float = Field(gt=0)


class CostSettings(Section):
    """The prices and devices from which `--dry-run` estimates, and by which a staged run is
    priced."""

    core_dollars_per_hour: float = Field(default=0.0425, ge=0)
    """Rent of a core, from which a run's report computes a price. The default is Amazon's c6i on
    demand, us-east-1, in 2025."""
    devices: dict[str, DeviceSettings] = {
        "L4": DeviceSettings(dollars_per_hour=0.39, pages_per_second=0.68),
        "A100": DeviceSettings(dollars_per_hour=2.72, pages_per_second=3.6),
    }
    """Devices by name. The defaults are the Pulpie authors' measurements of Dripper (500 Common
    Crawl pages, token by token) and rents: replace the speed by the speed of your first run."""


class SparkSettings(Section):
    """The session, if this program creates it; spark-submit and Databricks bring their own."""

    master: str | None = None
    """Only for runs outside spark-submit; None: local[*,4], which tries a failed task again, as a
    cluster does."""
    jars: str = ""
    """A folder or comma-separated files: delta-spark, delta-storage and antlr4-runtime jars, for
    machines without a network. Else Delta comes from the class path or from Maven Central."""
    properties: dict[str, str] = {}
    """Further Spark properties, as they are."""

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
    mineru-1.1: byte for byte the input of these versions of MinerU-HTML, losses included; paper: as
    the Dripper paper says."""
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


GONE = frozenset(
    {
        *("batch.file_attempts", "batch.in_flight", "batch.max_failures", "batch.split_bytes"),
        *("cost.sample_pages", "html.media", "labels.encoder.batch_tokens", "labels.encoder.context_tokens"),
        *("labels.encoder.overlap_blocks", "labels.encoder.threshold", "labels.lm.attempts", "labels.lm.draft"),
        *("labels.lm.overlap_blocks", "labels.lm.temperature", "labels.lm.threshold", "labels.lm.timeout_seconds"),
        *("labels.neuscraper.batch_nodes", "labels.neuscraper.device", "labels.neuscraper.threshold"),
        *("labels.web2text.pair_weight", "stages.batch_pages", "stages.engine_threads"),
        *("limits.parser_attributes", "limits.parser_options", "limits.parser_repeats", "limits.parser_steps"),
        *("spark.delta_package", "stages.batch_tokens", "stages.stall_seconds"),
    }
)
"""Keys that earlier versions knew, and that are constants now."""
REPLACED = {
    "batch.bytes_per_core": "batch.files sets it too",
    "labels.encoder.profile": "a checkpoint's dripper_encoder.json says how it reads pages",
    "labels.lm.cpu_cache_gib": "set VLLM_CPU_KVCACHE_SPACE in the environment of the engine",
    "labels.lm.profile": "a checkpoint whose labels.lm.prompt is set labels blocks of any profile",
    "limits.page_wall_seconds": "limits.page_cpu_seconds sets it too",
    "limits.stall_seconds": "limits.page_cpu_seconds sets it too",
    "sites": "layouts.enabled spreads the labels of a chain by layout, and a single labeler labels each page by itself",
    "stages.partition_pages": "stages.commit_pages sets it too",
}
"""Keys of earlier versions, and their replacements."""
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
        return f"setting {key}={problem['input']!r}: {problem['msg'][0].lower()}{problem['msg'][1:]}"
    if key in GONE:
        return f"setting {key} is gone, as nobody had to change its value: leave it out"
    if key in REPLACED:
        return f"setting {key} is gone: {REPLACED[key]}"
    if place[-1] in OF_PEERS:
        return f"unknown setting {key}: {OF_PEERS[place[-1]]}"
    value = problem["input"]
    while isinstance(value, dict) and value:
        # An unknown section: its keys are the best hint at the one that was meant.
        inner, value = next(iter(value.items()))
        key, place = f"{key}.{inner}", [*place, str(inner)]
    near = difflib.get_close_matches(key, valid_keys, n=1, cutoff=0.4) or difflib.get_close_matches(
        place[-1], [name.rpartition(".")[2] for name in valid_keys], n=1, cutoff=0.5
    )
    nearest = next((name for name in valid_keys if near and name.endswith(near[0])), None)
    return f"unknown setting {key}" + (
        f"; did you mean {nearest}?" if nearest else f"; known are {', '.join(valid_keys)}"
    )
