# `make demo` and `make test` each set up everything they need; Python 3.11 or newer and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-all test-node test-engines check smoke mutants nightly format bench bench-all ledger-torture \
	torture-kernel lock clean

demo: $(VENV)/demo.stamp  ## the main job on a real table; leaves demo/release and demo/curve
	$(BIN)/python examples/rand_health/demo.py demo

test: $(VENV)/dev.stamp  ## the default tests, about four minutes on two cores
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not engines and not node"

test-all: $(VENV)/dev.stamp  ## also the long ones, and more cases of the random ones
	DALENIUS_TESTS=all $(BIN)/python -m pytest -n 2 --dist loadfile

test-node: $(VENV)/dev.stamp  ## the second checker, in JavaScript, against the first; Node.js is installed where it is missing
	command -v node >/dev/null || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nodejs)
	$(BIN)/python -m pytest -m node tests/second_checker

test-engines: $(VENV)/dev.stamp  ## tests against a database server, which is installed where it is missing
	scripts/with_postgresql.sh $(BIN)/python -m pytest -m engines tests/tables

check: $(VENV)/dev.stamp  ## format, lint, strict types, tests and doctests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test

smoke:  ## build the wheel and try it on every supported Python that is installed
	PYTHON=$(PYTHON) scripts/smoke_all.sh

mutants: $(VENV)/dev.stamp  ## plant small errors in the code that guards the promises, list those that no test sees: hours
	$(BIN)/python scripts/mutants.py

nightly: test-all ledger-torture  ## the long runs

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Those that need nothing beyond the development environment, at sizes of a few seconds each; every script says its own.
QUICK := apply "compositions 20" "disclosure 1 64" estimation "mixtures_columns 1 3" queries "rate 1000 100" sampler \
	"self_disclosure --short enumeration"
BENCHMARKS := $(filter-out reporting,$(basename $(notdir $(wildcard benchmarks/*.py))))

bench: $(VENV)/dev.stamp  ## the quick benchmarks, a few minutes; tables on the terminal, JSON in benchmarks/results
	for b in $(QUICK); do set -- $$b; name=$$1; shift; $(BIN)/python benchmarks/$$name.py "$$@" || exit 1; done

bench-all: $(VENV)/rivals.stamp  ## every benchmark at its full size, with all rivals: hours
	for b in $(BENCHMARKS); do $(BIN)/python benchmarks/$$b.py || exit 1; done

ledger-torture: $(VENV)/dev.stamp  ## 1,000 kills with 8 processes at once, and the planted bugs, about 4 minutes
	$(BIN)/python -m tests.ledger.torture --kills 1000 --processes 8
	$(BIN)/python -m pytest tests/ledger/test_torture.py -k planted

torture-kernel: $(VENV)/dev.stamp  ## 100,000 damaged documents, damaged and random proofs, every planted error: an hour
	$(BIN)/python -m tests.kernel.torture 100000
	$(BIN)/python -m tests.kernel.torture_rules 20000
	DALENIUS_TESTS=all $(BIN)/python -m pytest tests/kernel -k "planted or torture"
	$(BIN)/python -m tests.kernel.count

lock:  ## renew the locked dependencies (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra risk --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --upgrade --quiet -o requirements/demo.lock
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra risk --extra robust --extra dev --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --upgrade --quiet -o requirements/dev.lock

clean:
	rm -rf $(VENV) demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Dalenius needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/rivals.stamp: $(VENV)/dev.stamp
	$(PIP) --editable ".[rivals]"
	touch $@

$(VENV)/%.stamp: requirements/%.lock pyproject.toml | $(BIN)/python
	$(PIP) -r requirements/$*.lock
	$(PIP) --no-deps --editable .
	touch $@
