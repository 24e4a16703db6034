# `make demo` and `make test` each set up everything they need; Python 3.11 or newer and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RIVALS := .venv-rivals
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Compiled modules are kept: without them every command starts half a second later.
unexport PYTHONDONTWRITEBYTECODE
# Tests see the streams that most people have; those that are about others say so.
unexport PYTHONUNBUFFERED

.PHONY: demo test test-long test-all test-kernels test-node test-engines test-browser test-r test-docs docs check coverage test-untraced smoke mutants nightly format \
	bench bench-quick bench-page bench-all ledger-torture torture torture-kernel lock clean

PLAIN := not slow and not engines and not node and not browser and not r

# Asserts are not rewritten here: that would take longer than many of the tests. `pytest FILE` shows the values of one that fails.
OPTIONS := -n 2 --dist loadfile --max-worker-restart 0 --assert=plain --showlocals
COUNTED :=  # set by `coverage`: the same commands then also count the lines that they run
PYTEST := $(BIN)/python $(COUNTED) -m pytest $(OPTIONS)

demo: $(VENV)/demo.stamp  ## the main job on a real table; leaves demo/release and demo/curve
	$(BIN)/python examples/rand_health/demo.py demo

test: $(VENV)/dev.stamp  ## the default tests, under two minutes on two quiet cores
	$(PYTEST) -m "$(PLAIN) and not long"

test-long: $(VENV)/dev.stamp  ## those that take more than a tenth of a second each, about three minutes
	$(PYTEST) -m "$(PLAIN) and long"

test-all: $(VENV)/rivals.stamp  ## also the slow ones, some against other solvers, and more cases of the random ones
	DALENIUS_TESTS=all $(PYTEST) -m "not engines and not node and not browser and not r"

# Doubles differ by processor; OpenBLAS can take the kernels of another one, if this one has the instructions.
KERNELS := Prescott Nehalem Sandybridge Haswell SkylakeX

test-kernels: $(VENV)/dev.stamp  ## demo and tests with the linear algebra of other processors: five minutes each
	PYTHON=$(BIN)/python scripts/with_kernels.sh $(KERNELS)

test-node: $(VENV)/dev.stamp  ## the second checker, in JavaScript, against the first; Node.js is installed where it is missing
	command -v node >/dev/null || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs)
	$(BIN)/python -m pytest -m node tests/second_checker

test-engines: $(VENV)/engines.stamp  ## tests against PostgreSQL and Spark; server and Java are installed where they are missing
	command -v java >/dev/null || (apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless >/dev/null)
	scripts/with_postgresql.sh $(BIN)/python -m pytest -m engines tests/tables tests/engines

test-browser: $(VENV)/dev.stamp $(VENV)/browser.stamp  ## statement and studio in Chromium, which is installed where it is missing
	command -v chromium >/dev/null || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium)
	$(BIN)/python -m pytest -n 2 -m browser tests/browser

test-r: $(VENV)/dev.stamp  ## the reader for R; R is installed where it is missing
	command -v Rscript >/dev/null || (apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends r-base-core r-cran-jsonlite)
	$(BIN)/python -m pytest -m r tests/r

docs: $(VENV)/docs.stamp  ## the documentation site, strictly and without a network, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

test-docs: $(VENV)/dev.stamp  ## every command and program of the pages, about ten minutes
	$(BIN)/python -m pytest -n 2 -m slow tests/test_tutorials.py

check: $(VENV)/dev.stamp  ## format, lint, strict types, default and longer tests, doctests, and what they cover: seven minutes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) coverage test-untraced

coverage: $(VENV)/dev.stamp  ## the default and the longer tests, counted: every line and branch of the kernel, 95 % of the package
	$(BIN)/python -m coverage erase
	$(MAKE) test test-long COUNTED="-m coverage run"
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --include "*/dalenius/kernel/*" --show-missing --skip-covered --fail-under 100
	$(BIN)/python -m coverage report --format total --precision 2 --fail-under 95

test-untraced: $(VENV)/dev.stamp  ## what a tracer that counts lines would spoil
	$(BIN)/python -m pytest -m long tests/cli/test_interrupts.py -k time_limit

smoke:  ## build the wheel and try it on every supported Python that is installed
	PYTHON=$(PYTHON) scripts/smoke_all.sh

mutants: $(VENV)/dev.stamp  ## plant small errors in the code that guards the promises, list those that no test sees: hours
	$(BIN)/python scripts/mutants.py

nightly: test-all test-kernels test-docs ledger-torture torture torture-kernel  ## the long runs

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Those that need nothing beyond the development environment, at sizes of a few seconds each; every script says its own.
QUICK := apply "compositions 20" "disclosure 1 64" estimation "mixtures_columns 1 3" queries "rate 1000 100" sampler \
	"self_disclosure --short enumeration"
BENCHMARKS := $(filter-out reporting contest contestant page regressions,$(basename $(notdir $(wildcard benchmarks/*.py))))

bench: $(VENV)/dev.stamp $(RIVALS)/stamp  ## whether a ratio to a rival fell by more than a third: under three minutes
	$(BIN)/python benchmarks/regressions.py --rivals $(RIVALS)/bin/python

bench-page: $(VENV)/dev.stamp $(RIVALS)/stamp  ## every question asked of everybody, and docs/benchmarks.md: an hour
	$(BIN)/python benchmarks/contest.py --rivals $(RIVALS)/bin/python
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/kinds.py
	$(BIN)/python benchmarks/sampler.py
	$(BIN)/python benchmarks/page.py

bench-quick: $(VENV)/dev.stamp  ## our own benchmarks at small sizes, a few minutes; JSON in benchmarks/results
	for b in $(QUICK); do set -- $$b; name=$$1; shift; $(BIN)/python benchmarks/$$name.py "$$@" || exit 1; done

bench-all: $(VENV)/rivals.stamp bench-page  ## every benchmark at its full size, with all rivals: hours
	for b in $(BENCHMARKS); do $(BIN)/python benchmarks/$$b.py || exit 1; done

ledger-torture: $(VENV)/dev.stamp  ## 1,000 kills with 8 processes at once, and the planted bugs, about 4 minutes
	$(BIN)/python -m tests.ledger.torture --kills 1000 --processes 8
	$(BIN)/python -m pytest tests/ledger/test_torture.py -k planted

torture: $(VENV)/dev.stamp  ## 100,000 damaged inputs, 500 kills over all commands, full disks: hours
	$(BIN)/python -m tests.torture.inputs 100000
	$(BIN)/python -m tests.torture.kills 500
	$(BIN)/python -m tests.torture.disk

torture-kernel: $(VENV)/dev.stamp  ## 100,000 damaged documents, damaged and random proofs, every planted error: an hour
	$(BIN)/python -m tests.kernel.torture 100000
	$(BIN)/python -m tests.kernel.torture_rules 20000
	$(BIN)/python -m tests.kernel.meanings
	DALENIUS_TESTS=all $(BIN)/python -m pytest tests/kernel -k "planted or torture"
	$(BIN)/python -m tests.kernel.count

lock:  ## renew the locked dependencies (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra risk --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --upgrade --quiet -o requirements/demo.lock
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra risk --extra robust --extra dev --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --upgrade --quiet -o requirements/dev.lock
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra docs \
		--constraints requirements/dev.lock --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --quiet -o requirements/docs.lock
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra risk --extra robust --extra dev --extra spark \
		--constraints requirements/dev.lock --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --quiet -o requirements/engines.lock

	printf 'axe-playwright-python>=0.1.4\nplaywright>=1.50\n' | uv pip compile - --universal --python-version 3.11 \
		--generate-hashes --no-header --no-annotate --no-emit-index-url --upgrade --quiet -o requirements/browser.lock

clean:
	rm -rf $(VENV) demo site .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Dalenius needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)

$(RIVALS)/stamp: requirements/rivals.txt
	$(PYTHON) -m venv $(RIVALS)
	$(RIVALS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/rivals.txt
	touch $@

$(VENV)/rivals.stamp: $(VENV)/dev.stamp
	$(PIP) --editable ".[rivals]"
	touch $@

$(VENV)/%.stamp: requirements/%.lock pyproject.toml | $(BIN)/python
	$(PIP) -r requirements/$*.lock
	$(PIP) --no-deps --editable .
	$(BIN)/python -m compileall -q src  # as pip does for a wheel: else every start compiles where nothing may be written
	touch $@
