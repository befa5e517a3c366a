# Every target works alone on a fresh clone; nothing but Python 3.11 or later has to be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/stamp
export JAX_PLATFORMS ?= cpu
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-long lint format golden bench fuzz clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "kraise needs Python 3.11 or later; say which: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing kraise and its development tools (once, a few minutes)"
	@$(BIN)/python -m pip install -qq --no-compile -e '.[dev]'
	@touch $@

DEMO := attractive_force row_softmax heat_steps
demo: $(STAMP) ## translates samples, shows the result, verifies values and gradients
	@mkdir -p build/demo
	@for name in $(DEMO); do \
	  printf '\n$$ kraise translate samples/%s/kernel.py -o build/demo/%s.py\n\n' $$name $$name; \
	  $(BIN)/kraise translate samples/$$name/kernel.py -o build/demo/$$name.py || exit 1; \
	  cat build/demo/$$name.py; \
	  printf '\n$$ kraise verify samples/%s/kernel.py\n\n' $$name; \
	  $(BIN)/kraise verify samples/$$name/kernel.py || exit 1; \
	done
	@printf '\nThe emitted modules are in build/demo; the command is %s/kraise\n' $(BIN)

PYTEST := $(BIN)/python -m pytest -q -n auto --dist loadgroup
test: $(STAMP) ## the first tier of the tests: what holds before every change
	@$(PYTEST) -m "not long"

test-long: $(STAMP) ## all tests, with those marked long: further cases of what the first tier tries
	@$(PYTEST)

lint: $(STAMP) ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(STAMP) ## formats the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

golden: $(STAMP) ## writes samples/*/raised.py anew; verifies what changed
	@$(BIN)/python -m tests.golden

bench: $(STAMP) ## medians, printed as ratios; BENCH="twins memory" for some
	@$(BIN)/python -m tests.bench $(BENCH)

fuzz: $(STAMP) ## random kernels for FUZZ_SECONDS (300), from FUZZ_SEED on; then mutants of samples with barriers, as long
	@$(BIN)/python -m tests.fuzz
	@$(BIN)/python -m tests.fuzz.barriers --seconds $${FUZZ_SECONDS:-300}

clean: ## removes what make made
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
