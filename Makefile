# `make demo` and `make test` each set up everything they need; Python 3.11 or newer and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-all check format bench ledger-torture lock clean

demo: $(VENV)/demo.stamp  ## the main job on a real table; leaves demo/release and demo/curve
	$(BIN)/python examples/rand_health/demo.py demo

test: $(VENV)/dev.stamp  ## the default tests, two minutes on two cores
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-all: $(VENV)/dev.stamp  ## also the long ones, and more cases of the random ones
	DALENIUS_TESTS=all $(BIN)/python -m pytest -n 2 --dist loadfile

check: $(VENV)/dev.stamp  ## format, lint, strict types, tests and doctests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test

format: $(VENV)/dev.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/dev.stamp  ## every benchmark, with its rivals
	for b in compositions disclosure estimation sampler self_disclosure; do $(BIN)/python benchmarks/$$b.py || exit 1; done

ledger-torture: $(VENV)/dev.stamp  ## 1,000 kills with 8 processes at once, and the planted bugs, about 4 minutes
	$(BIN)/python -m tests.ledger.torture --kills 1000 --processes 8
	$(BIN)/python -m pytest tests/ledger/test_torture.py -k planted

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

$(VENV)/%.stamp: requirements/%.lock pyproject.toml | $(BIN)/python
	$(PIP) -r requirements/$*.lock
	$(PIP) --no-deps --editable .
	touch $@
