# What a contributor runs; CONTRIBUTING.md explains. `make WORKERS=2 check` uses two processes.
PYTHON ?= $(CURDIR)/.venv/bin/python
MYPY ?= $(PYTHON) -m mypy
WORKERS ?= auto
PYTEST = $(PYTHON) -P -m pytest
# One process more than cores: fast tests wait for servers and commands.
ONE_MORE = $(shell echo $$(($$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 1)))

.PHONY: check lint types test-fast test bench docs

check: lint types test-fast

lint:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

types: build/types
	cd $< && $(MYPY) --config-file $(CURDIR)/pyproject.toml -p sglc

# The packages as they are imported, for mypy: links to the folders, those at the top too below `sglc`.
build/types: FORCE
	rm -rf $@/sglc && mkdir -p $@/sglc
	ln -s $(CURDIR)/sglc/* $(addprefix $(CURDIR)/,runtime kernels stdlib grammar) $@/sglc
FORCE:

test-fast:
	$(PYTEST) -n $(if $(filter auto,$(WORKERS)),$(ONE_MORE),$(WORKERS)) -m "not slow"

test:
	$(PYTEST) -n $(WORKERS)

bench:
	$(PYTHON) -P tests/benchmarks/compiler/compile_time.py
	$(PYTHON) -P tests/benchmarks/engine/kv_pool.py --gigabytes 1

# Pages that are made from the code.
docs:
	PYTHONPATH=tests/support $(PYTHON) -P -c "from supported.json_schema import page; print(page(), end='')" > docs/json-schema.md
	PYTHONPATH=tests/support $(PYTHON) -P -c "from supported.patterns import page; print(page(), end='')" > docs/patterns.md
	PYTHONPATH=tests/support $(PYTHON) -P -c "from supported.grammars import page; print(page(), end='')" > docs/grammars.md
	PYTHONPATH=tests/support $(PYTHON) -P -c "from supported.library import page; print(page(), end='')" > docs/library.md
	PYTHONPATH=tests/support $(PYTHON) -P -c "from supported.diagnostics import page; print(page(), end='')" > docs/diagnostics.md
	PYTHONPATH=tests/support $(PYTHON) -P -c "from supported.cookbook import page; print(page(), end='')" > docs/cookbook.md
	$(PYTHON) -P -m pytest -q tests/project/pages/test_architecture.py --update-golden
