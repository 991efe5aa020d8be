# The commands of the project. `make try` and `make test` set up what they need; nothing has to be installed by hand beyond git and Python ≥ 3.11.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := -m pip --disable-pip-version-check

.PHONY: try test lint check docs bench precision lock clean

try: $(READY)
	@$(BIN)/python -m fixtures.demo

test: $(READY)
	$(BIN)/python -m pytest -n auto

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m bot.docs --check

check: lint test

docs: $(READY)
	$(BIN)/python -m bot.docs

bench: $(READY)
	$(BIN)/python -m bench.run
	$(BIN)/python -m bench.service

# make precision ARGS="--replay 10 clone/of/a/repository its-config.yml"
precision: $(READY)
	$(BIN)/python -m bench.precision $(ARGS)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Assay needs Python 3.11 or newer; set PYTHON=… to one." if sys.version_info < (3, 11) else None)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) install --quiet --requirement requirements.lock
	$(BIN)/python $(PIP) install --quiet --no-deps --editable .
	@touch $(READY)

# The newest releases that pyproject.toml allows, in an environment of their own. Names and versions only: where they come from is pip's configuration.
lock:
	rm -rf $(VENV)-lock
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python $(PIP) install --quiet --editable '.[dev]'
	{ sed -n '/^#/p' requirements.lock; $(VENV)-lock/bin/python $(PIP) freeze --exclude-editable; } > requirements.lock.new
	mv requirements.lock.new requirements.lock
	rm -rf $(VENV)-lock

clean:
	rm -rf $(VENV) $(VENV)-lock .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
