"""The typed settings, section by section, each with its default. How they are read: `dripper.config`."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

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
    requester_pays: bool = False
    """For buckets whose readers pay: agree to be charged for requests and bytes."""
    max_attempts: int = Field(default=10, ge=1)
    """Tries per request, and how often in a row a dropped connection is resumed without a new byte. botocore's default of 5
    was seen to give up under Common Crawl's SlowDown."""
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
    parser_steps: int = Field(default=400_000_000, ge=1)
    """Of the HTML parser up the tree, 2.4 ns each: 28,000 nested elements are the default (real pages have some 100)."""
    parser_attributes: int = Field(default=30_000, ge=1)
    """Of one tag; the parser compares each with all before it."""
    parser_options: int = Field(default=20_000, ge=1)
    """Of one `select`; the parser's time grows with their square, 1.4 s for the default."""


class LabelerSettings(_Section):
    """Who decides which blocks are main content, and what happens where nothing is."""

    name: str = "cpu"
    fallback: Literal["auto", "cpu", "trafilatura", "body", "empty"] = "auto"
    """For a page without one main block, or without usable labels: the labeler `cpu`, Trafilatura's choice, every block, or an
    empty extraction. auto: `cpu` for the labeler `lm`; every block for `cpu`, which marks none only where no block has a word;
    Trafilatura for all others."""

    staged: bool | None = None
    """Whether pages are labelled in a stage of their own, between tables (pages, blocks, labels), or on the way through one
    pass. null: as the labeler wants it; `lm` wants a stage, as it wants GPUs."""

    @property
    def runs_staged(self) -> bool:
        """`staged` with null decided."""
        return self.name == "lm" if self.staged is None else self.staged

    @property
    def used_fallback(self) -> str:
        """The fallback with `auto` decided.

        >>> LabelerSettings(name="lm").used_fallback, LabelerSettings().used_fallback
        ('cpu', 'body')
        """
        return self.fallback if self.fallback != "auto" else {"lm": "cpu", "cpu": "body"}.get(self.name, "trafilatura")


Wish = Literal["auto", "include", "exclude"]
"""What to do with something that some annotators count as main content and others do not."""


class CpuSettings(_Section):
    """The labeler `cpu`: what counts as main where people disagree."""

    comments: Wish = "auto"
    """Readers' comments under an article, a product, a video. Posts of a forum are content and stay. auto: as the labelled pages
    mostly have it, without."""
    title: Wish = "auto"
    """The heading that repeats the page's title. auto: as the labelled pages mostly have it, without on articles."""


class HtmlSettings(_Section):
    """What leaves as main HTML in the profiles `dripper` and `paper`; that of `mineru-1.1` is never touched."""

    inert: bool = True
    """Nothing in it can run: no event handlers, no addresses that are scripts, no elements that run or load code."""
    absolute_links: bool = True
    """Relative addresses of links, images and other media are completed by the page's own, `<base href>` included. Holds for
    the Markdown of every profile."""


class MarkdownSettings(_Section):
    """What the Markdown of main HTML looks like."""

    converter: Literal["html-to-markdown", "html2text"] = "html-to-markdown"
    """html2text writes Markdown as the Dripper paper scored it, and is GPL-3.0: it is installed apart, and the settings below
    but `title` and `links` and `images` do not reach it."""
    title: Literal["include", "exclude"] = "include"
    """Whether the Markdown opens with the page's title as a heading, where the main content does not have it already."""
    links: Literal["keep", "text"] = "keep"
    """text: without addresses."""
    images: Literal["keep", "drop"] = "keep"
    tables: Literal["keep", "text"] = "keep"
    """text: the cells of every table, one after the other."""


class LmSettings(_Section):
    """The labeler `lm`: a causal language model in vLLM."""

    model: str = ""
    """A folder with a checkpoint, or its name on a model hub."""
    decoder: Literal["parallel", "fsm", "regex"] = "parallel"
    """How labels are decoded; all three give the same labels."""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Of weights and activations; auto: what the checkpoint says."""
    answer: Literal["auto", "json", "compact", "tagged"] = "auto"
    """The form of the answer that the model was trained to give (tagged: compact within <answer> tags); auto: by the
    checkpoint, or the prompt where one is set."""
    prompt: str = "auto"
    """auto: the one that the checkpoint was trained on, else `own`. Or own, v0, v1, v2, compact, short_compact, or a file with
    `{html}` where the page goes."""
    prompt_folder: str = ""
    """Where `dripper prompts fetch` put the public prompts; empty: the user's cache folder."""
    chat: Literal["auto", "none", "once", "twice"] = "auto"
    """How often the chat template is applied; auto: as the checkpoint's weights saw it (1.1: twice), else once."""
    context_tokens: int = Field(default=32768, ge=64)
    """Of prompt and answer together; longer pages are cut into windows. The paper's context; the model's own where shorter."""
    overlap_blocks: int = Field(default=8, ge=0)
    """So many blocks at most are shown twice where a page is cut, so that none is labelled without what stands around it."""
    threshold: float = Field(default=0.5, gt=0, lt=1)
    """A block is main where its probability is above it; 0.5 is the state machine's arg-max."""
    temperature: float = Field(default=1.0, gt=0)
    """Logits are divided by it, to calibrate probabilities (fitted on labelled pages; not the temperature of sampling)."""
    endpoint: str = ""
    """Address of an OpenAI-compatible vLLM server, such as http://127.0.0.1:8000/v1; empty: the engine runs in the worker."""
    api_key: str = Field(default="", repr=False)
    """Sent to the endpoint as a bearer token."""
    concurrency: int = Field(default=16, ge=1)
    """Requests under way at the endpoint, of one worker."""
    attempts: int = Field(default=6, ge=1)
    """Tries per request at the endpoint, with waits of 1, 2, 4, … seconds."""
    timeout_seconds: float = Field(default=600.0, gt=0)
    """For one answer of the endpoint; a page of 800 blocks is 3,000 to 6,300 tokens."""
    gpu_memory_share: float = Field(default=0.9, gt=0, le=1)
    """Of a GPU's memory that the engine takes (vLLM's gpu_memory_utilization)."""
    cpu_cache_gib: int = Field(default=4, ge=1)
    """Of memory for keys and values where the engine runs on a CPU; 32,768 tokens of a Qwen3-0.6B take 3.5."""


class LabelsSettings(_Section):
    """What single labelers need, a section each."""

    cpu: CpuSettings = CpuSettings()
    lm: LmSettings = LmSettings()

    def options(self, name: str) -> dict[str, Any]:
        """Return the section of the labeler `name` as the options of `dripper.labels.load`; empty where it has none."""
        section = getattr(self, name, None)
        return section.model_dump() if isinstance(section, BaseModel) else {}


class BatchSettings(_Section):
    """How WARC files are grouped. A batch is the unit of commit and of redoing."""

    files: int = Field(default=1000, ge=1)
    """At most so many files a batch; bounds the reports that travel to the driver (1 kB each)."""
    bytes_per_core: int = Field(default=2 * GIB, ge=1)
    """A batch ends after so many archive bytes times Spark's default parallelism: two Common Crawl files a core."""
    in_flight: int = Field(default=2, ge=1)
    """Batches worked on at once, so that the last slow file of one does not leave the cluster idle."""


class StageSettings(_Section):
    """The stage `label` of a staged run."""

    engines: int | None = Field(default=None, ge=1)
    """Engines that label at once. None: one a GPU of the session, one where it has none (each engine has its own copy of the
    model, 2.7 GB for the smallest in vLLM)."""
    gpus: int = Field(default=0, ge=0)
    """GPUs an engine, for which jobs/run.py asks by a resource profile, so that only this stage runs where GPUs are. 0: it runs
    wherever the session runs."""
    gpu_discovery_script: str = ""
    """The script on the executors' machines that prints their GPUs, where the cluster does not bring its own."""
    executor_cores: int = Field(default=4, ge=1)
    """Cores of an executor of that profile; one engine runs on it."""
    executor_memory: str = "8g"
    """Memory of its JVM, which only passes rows on."""
    executor_memory_overhead: str = "16g"
    """Memory of its Python worker: the engine's weights on their way to the GPU."""
    engine_threads: int | None = Field(default=None, ge=1)
    """Threads of an engine on CPU; None: the machine's cores, shared among the engines."""
    batch_pages: int = Field(default=256, ge=1)
    """Pages that an engine gets at once; one that fails is tried again in halves."""
    batch_tokens: int = Field(default=1_000_000, ge=1)
    """Tokens that it gets at once, unless a single page has more."""


class DeviceSettings(_Section):
    """A GPU's rent, and how many pages a second it labels."""

    dollars_per_hour: float = Field(ge=0)
    pages_per_second: float = Field(gt=0)


class CostSettings(_Section):
    """What `--dry-run` estimates from and what a staged run is priced with."""

    sample_pages: int = Field(default=200, ge=1)
    """Pages that are read and split for an estimate."""
    devices: dict[str, DeviceSettings] = {
        "L4": DeviceSettings(dollars_per_hour=0.39, pages_per_second=0.68),
        "A100": DeviceSettings(dollars_per_hour=2.72, pages_per_second=3.6),
    }
    """By name. The defaults are the Pulpie authors' measurements of Dripper (500 Common Crawl pages, token by token) and rents:
    replace the speed by what the first own run says."""


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
    html: HtmlSettings = HtmlSettings()
    markdown: MarkdownSettings = MarkdownSettings()
    batch: BatchSettings = BatchSettings()
    stages: StageSettings = StageSettings()
    cost: CostSettings = CostSettings()
    spark: SparkSettings = SparkSettings()
