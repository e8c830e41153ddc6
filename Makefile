# Every target sets up what it needs: only Python 3.11 or newer, git and make have to be there.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
UV := $(shell command -v uv || echo .venv/bin/uv)
RUN := .venv/bin/python
READY := .venv/.ready
COMPILED := .venv/.compiled
ARGS ?=
export UV_PYTHON_DOWNLOADS := never
export UV_NO_PROGRESS := 1
export UV_SYSTEM_CERTS := 1

.PHONY: help demo test test-long check format lint types imports bench docs hooks clean
.DEFAULT_GOAL := help

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/it"; exit 1; }
	@test -x "$(UV)" || test -x .venv/bin/pip || $(PYTHON) -m venv --clear .venv
	@test -x "$(UV)" || .venv/bin/python -m pip install --quiet uv
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@$(UV) sync --quiet --locked --python .venv/bin/python
	@touch $@

# The tests start many processes, which would each compile what they import where Python is told to keep no bytecode.
$(COMPILED): $(READY)
	@$(RUN) -m compileall -qq -j 0 .venv/lib || true
	@touch $@

demo: $(READY) ## play the whole job offline and stay up; ARGS=--once ends when the pull request is open
	@$(RUN) -m hikitsugi.cli.demo $(ARGS)

test: $(COMPILED) ## run all tests in their short form
	$(RUN) -m pytest -n 2 --dist loadgroup $(ARGS)

test-long: $(COMPILED) ## run the same suites in full
	$(RUN) -m pytest -n 2 --dist loadgroup --long --timeout 3000 $(ARGS)

check: format lint types imports test ## format, lint, types, import rules, tests

format: $(READY) ## check the formatting
	$(RUN) -m ruff format --check .

lint: $(READY) ## check the house rules
	$(RUN) -m ruff check .

types: $(READY) ## check the types
	.venv/bin/pyright

imports: $(READY) ## check who knows whom
	.venv/bin/lint-imports --no-cache

bench: $(READY) ## run the benchmarks and print the ratios
	$(RUN) -m benchmarks $(ARGS)

docs: $(READY) ## write docs/requirements.md anew from the tests' markers
	$(RUN) -m tools.requirements_page

hooks: $(READY) ## have git call the same checks before a commit
	.venv/bin/pre-commit install

clean: ## remove what the targets made
	rm -rf .venv .hikitsugi .hikitsugi-demo .pytest_cache .ruff_cache .hypothesis
