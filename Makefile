# Two commands do everything, from a clean clone with Python 3.11+ and a C++ compiler:
#   make demo   sets up and runs the main job
#   make test   sets up and runs every check and every test
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
SOURCES := pyproject.toml setup.py $(wildcard core/include/relift/*.hpp) $(wildcard core/include/relift/*/*.hpp) $(wildcard core/bindings/*.cpp) $(wildcard core/bindings/*/*.hpp)
JOBS ?= 2
MINUTES ?= 5

.PHONY: demo test test-random test-minimal test-lowest test-python mutants sanitize fuzz lint check docs site coverage wheels try-wheels benchmark cvxpy-suite clean

demo: $(VENV)/.relift
	$(RUN)/python examples/charging_fleet.py

# mypy is one of the tests, so that it runs beside the others.
test: $(VENV)/.dev lint
	$(RUN)/python -m pytest -n $(JOBS) --dist worksteal

# The properties with other examples than `make test` tries; SEED=n repeats a run.
SEED ?= $(shell date +%s)
test-random: $(VENV)/.dev
	@echo "SEED=$(SEED)"
	$(RUN)/python -m pytest tests -n $(JOBS) --dist worksteal --hypothesis-profile=random --hypothesis-seed=$(SEED)

# The tests in other environments, kept in build/environments: required packages alone; lowest versions; another Python.
test-minimal: $(VENV)/.dev
	$(RUN)/python -m tests.environments minimal -n $(JOBS) --dist worksteal

test-lowest: $(VENV)/.dev
	$(RUN)/python -m tests.environments lowest -n $(JOBS) --dist worksteal
	$(RUN)/python -m tests.environments lowest-extras -n $(JOBS) --dist worksteal
	$(RUN)/python -m tests.environments lowest-linopy -n $(JOBS) --dist worksteal tests/bridges

test-python: $(VENV)/.dev
	$(RUN)/python -m tests.environments full --python $(PYTHON) -n $(JOBS) --dist worksteal

# A fixed list of small errors, each of which a test must notice; some minutes.
mutants: $(VENV)/.dev
	JOBS=$(JOBS) $(RUN)/python -m tests.mutants

# The tests of the compiled kernels with extensions under ASan and UBSan; some minutes.
sanitize: $(VENV)/.dev
	JOBS=$(JOBS) $(RUN)/python -m tests.core.sanitized

lint: $(VENV)/.dev
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/lint-imports
	$(RUN)/python docs/generate.py --check

check: lint
	$(RUN)/mypy

# How much of the mathematics the tests run; some minutes.
coverage: $(VENV)/.dev
	$(RUN)/python -m pytest -n $(JOBS) --dist worksteal --cov=relift.program --cov=relift.symmetry --cov=relift.lifting \
		--cov-branch --cov-report=term:skip-covered --cov-report=html:build/coverage tests

# The documentation as a site, in build/site: no warning, no broken link inside it.
site: $(VENV)/.site
	$(RUN)/python -m sphinx -W --keep-going -q -b html docs build/site
	$(RUN)/python docs/check_site.py build/site

# Source distribution and wheels for Linux in dist, by Zig's compiler; and each tried in clean environments.
PYTHONS ?= $(PYTHON)
wheels: $(VENV)/.release
	$(RUN)/python -m release.wheels

try-wheels: $(VENV)/.release
	$(RUN)/python -m release.try_wheels --python $(PYTHONS)

docs: $(VENV)/.dev
	$(RUN)/python docs/generate.py

benchmark: $(VENV)/.dev
	$(RUN)/python -m benchmarks

# Random programs, files, models and answers against independent routes; goes on where the last run ended.
fuzz: $(VENV)/.dev
	$(RUN)/python -m tests.fuzz --minutes $(MINUTES) --jobs $(JOBS) $(FUZZ)

# CVXPY's own tests, as they are and with every solve routed through relift; some minutes.
cvxpy-suite: $(VENV)/.dev
	$(RUN)/python -m tests.cvxpy_suite

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "relift needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --upgrade pip

# The stamps are renewed when the build files or the C++ sources change. Modules are compiled here, since containers often
# set PYTHONDONTWRITEBYTECODE: each of the many processes that tests start would compile what it imports.
$(VENV)/.relift: $(VENV)/bin/python $(SOURCES)
	$(RUN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python $(SOURCES)
	$(RUN)/python -m pip install --quiet --editable ".[dev]"
	@$(RUN)/python -m compileall -q src
	@touch $@ $(VENV)/.relift

$(VENV)/.site: $(VENV)/.dev
	$(RUN)/python -m pip install --quiet --editable ".[site]"
	@touch $@

$(VENV)/.release: $(VENV)/bin/python
	$(RUN)/python -m pip install --quiet "build>=1.2" "setuptools>=77" wheel "ziglang>=0.13" "auditwheel>=6.1" "abi3audit>=0.0.20"
	@touch $@

clean:
	rm -rf $(VENV) build dist results spark-warehouse src/relift/*.so src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
