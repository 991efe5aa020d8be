# The commands of the project. `make try` and `make test` set up what they need; nothing has to be installed by hand beyond git and Python ≥ 3.11.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: try test check docs bench clean

try: $(READY)
	@$(BIN)/python -m fixtures.demo

test: $(READY)
	$(BIN)/python -m pytest -n auto

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto
	$(BIN)/python -m bot.docs --check

docs: $(READY)
	$(BIN)/python -m bot.docs

bench: $(READY)
	$(BIN)/python -m bench.run
	$(BIN)/python -m bench.service

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Assay needs Python 3.11 or newer; set PYTHON=… to one.") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(READY)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
