# make run, make test: all a new user needs. make help lists the rest.
VENV := .venv
BIN := $(VENV)/bin
OUTPUT ?= out
# pip 23.2, which Python 3.11 brings, crashes on an extra of lxml: pip is upgraded first, to a pinned version like the rest.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PINNED := --constraint conf/constraints.txt

.PHONY: help run test bench lint install clean

help:
	@echo "make run      the main job over the sample WARCs of this repository -> ./$(OUTPUT), then SQL over it"
	@echo "make test     every test"
	@echo "make lint     ruff and mypy"
	@echo "make bench    ratios against peers, in one run"
	@echo "make install  $(VENV) with the package and all its extras but gpu"

$(VENV)/base: setup.py conf/constraints.txt
	@sh conf/preflight.sh > /dev/null
	@echo "installing into $(VENV) (1 to 3 minutes)"
	@test -x $(BIN)/python || "$$(sh conf/preflight.sh)" -m venv $(VENV)
	@$(PIP) install $(PINNED) --upgrade pip setuptools wheel
	@$(PIP) install $(PINNED) --no-build-isolation --editable ".[spark]"
	@conf="$$($(BIN)/python -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent / "conf")')" && \
	    mkdir -p "$$conf" && cp conf/spark-local.conf "$$conf/spark-defaults.conf" && \
	    echo "spark.pyspark.python $(CURDIR)/$(BIN)/python" >> "$$conf/spark-defaults.conf"
	@touch $@

$(VENV)/all: $(VENV)/base
	@echo "installing what tests, training and evaluation need into $(VENV)"
	@$(PIP) install $(PINNED) --no-build-isolation --editable ".[spark,test,train,eval]"
	@touch $@

install: $(VENV)/all

run: $(VENV)/base
	@sh conf/preflight.sh > /dev/null
	@$(BIN)/python jobs/run.py --conf conf/local.yml --warcs tests/data/sample --output $(OUTPUT) --show 3

test: $(VENV)/all
	@sh conf/preflight.sh > /dev/null
	@$(BIN)/python -m pytest

lint: $(VENV)/all
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

clean:
	rm -rf $(VENV) $(OUTPUT) build dist lib/*.egg-info
