# Rushlight. On a fresh machine with Python >= 3.11: `make demo`, `make test`. Everything lives in .venv.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Tests start thousands of processes; without compiled bytecode each reads 250 modules anew (0.4 s, not 0.05).
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
PY := $(VENV)/bin/python
# An editable install stays plain Python; what `make compiled` builds lies in a tree of its own.
INSTALL := RUSHLIGHT_PURE=1 $(PY) -m pip install --disable-pip-version-check
COMPILED := build/compiled
DEMO ?= examples/digits.py

# ARGS goes to what runs: make test ARGS="tests/nn -k linear -x"
ARGS ?=
WORKERS ?= 2
# MARK chooses tests by their marks: make compiled MARK="not slow"
MARK ?=
# With ARGS one process, so that -x, -s and --pdb do what they say. Without, several, with one BLAS
# thread each: processes times threads would be slower than one process.
PYTEST = $(if $(ARGS),,OPENBLAS_NUM_THREADS=1) $(PY) -m pytest $(if $(ARGS),$(ARGS),-q -n $(WORKERS)) $(if $(MARK),-m "$(MARK)")

comma := ,
step = @printf '\n\033[1m==> %s\033[0m\n' "$(1)"

# A Python without the global lock, where the machine has one; the tests of threads run on it.
FREE := $(firstword $(foreach v,3.14t 3.13t,$(shell command -v python$(v) 2>/dev/null)))

.PHONY: help demo test matrix style types check compiled freethreaded attack two-hosts compare operators fuzz bench gallery gallery-tests reference docs wheel clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 15

demo: $(VENV)/.demo  ## train something and look at it
	$(call step,the demo: $(DEMO))
	@$(PY) $(DEMO) $(ARGS)

test: $(VENV)/.dev  ## the tests, on the plain Python core
	$(call step,the tests)
	@RUSHLIGHT_PURE=1 $(PYTEST) $(if $(ARGS),,--ignore=tests/compare)

VERSIONS ?= 3.11 3.12 3.13 3.14
matrix:  ## the quick tests on each Python from 3.11 to 3.14 that is here (VERSIONS="3.12 3.13" for some)
	@missing=; for v in $(VERSIONS); do \
	    found=; for p in python$$v "$$HOME"/.pyenv/versions/$$v.*/bin/python; do \
	        [ "$$("$$p" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" != $$v ] || found=$$p; \
	    done; \
	    if [ -z "$$found" ]; then missing="$$missing $$v"; continue; fi; \
	    $(MAKE) --no-print-directory test PYTHON="$$found" VENV=$(VENV)-$$v MARK="not slow"; \
	done; \
	if [ -n "$$missing" ]; then echo "not here, so not tried:$$missing"; fi

style: $(VENV)/.dev
	$(call step,style)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: $(VENV)/.dev
	$(call step,types)
	@$(PY) -m mypy

check: style types  ## style, types and the rules of the house
	$(call step,the house)
	@$(PY) -m pytest -q tests/house

# Where there is no C compiler the tree holds the plain core.
define compile-core
$(call step,compiling the core into $(COMPILED))
@mkdir -p $(COMPILED) && find $(COMPILED) -name '*.py' -delete
@RUSHLIGHT_PURE=0 $(PY) setup.py -q build --build-lib $(COMPILED)
endef

compiled: $(VENV)/.dev  ## the same tests but those of the sources, on the core that mypyc has compiled
	$(compile-core)
	@cd $(COMPILED) && PYTHONPATH=. ../../$(PY) -c "from rushlight import __config__ as c; print(c.show()); assert c.compiled"
	$(call step,the tests on the compiled core)
	@PYTHONPATH=$(COMPILED) $(PYTEST) $(if $(ARGS),,--ignore=tests/compare --ignore=tests/house)

freethreaded:  ## the tests of threads and memory, on a Python without the global lock
	@test -n "$(FREE)" || { echo "no python3.14t or python3.13t on PATH: nothing to run"; exit 1; }
	$(call step,the tests of threads on $(FREE))
	@test -d build/free || $(FREE) -m venv build/free
	@build/free/bin/python -m pip install --disable-pip-version-check -q numpy pytest
	@PYTHONPATH=src PYTHON_GIL=0 build/free/bin/python -m pytest -q -p no:cacheprovider $(if $(ARGS),$(ARGS),tests/core tests/autograd)

SEED ?= 0
attack: $(VENV)/.dev $(VENV)/.mpi  ## attacks on compiled steps, files, forks, interrupts and ranks: bounded and seeded (SEED=7 for others)
	$(call step,compiled steps: random programs, changed between calls)
	@$(PY) -m tests.attack.compiled --programs 1000 --changes 10 --seed $(SEED)
	$(call step,the same with programs that were thought of)
	@$(PY) -m tests.attack.written
	$(call step,hostile and damaged files$(comma) kills while saving)
	@$(PY) -m tests.attack.files --count 1000 --seed $(SEED)
	$(call step,forks beside busy threads)
	@$(PY) -m tests.attack.forks --count 200 --seed $(SEED)
	$(call step,interrupts at every place of a context)
	@$(PY) -m tests.attack.interrupts --count 200 --seed $(SEED)
	$(call step,faults of one rank of three)
	@$(PY) -m tests.attack.ranks --count 40 --seed $(SEED)
	$(call step,the same while their world forms)
	@$(PY) -m tests.attack.ranks --forming --count 15 --seed $(SEED)

two-hosts: $(VENV)/.dev $(VENV)/.mpi  ## several processes on two hosts: two network namespaces and a virtual cable (as root)
	$(call step,two hosts)
	@OPENBLAS_NUM_THREADS=1 $(PY) -m pytest $(if $(ARGS),$(ARGS),-q -rs tests/distributed/test_two_hosts.py)

compare: $(VENV)/.compare  ## the same programs, then every operator, on PyTorch and on Rushlight
	$(call step,comparing with PyTorch)
	@$(PY) -m pytest $(if $(ARGS),$(ARGS),-q tests/compare)
	@$(if $(ARGS),:,$(MAKE) --no-print-directory operators ARGS=--fresh)

operators: $(VENV)/.compare  ## every operator on torch's own samples: values, layout, derivatives, errors
	$(call step,operator by operator)
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(PY) -m tests.compare.operators $(ARGS)

fuzz: $(VENV)/.compare  ## random programs on PyTorch and on Rushlight, statement by statement
	$(call step,random programs)
	@OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(PY) -m tests.compare.fuzz $(if $(ARGS),$(ARGS),--programs 20000 --seed $(SEED))

bench: $(VENV)/.compare $(VENV)/.bench  ## speed and memory beside PyTorch, as installed: about 20 minutes
	$(compile-core)
	$(call step,benchmarks)
	@$(PY) -m benchmarks $(ARGS)

gallery: $(VENV)/.compare  ## other people's packages, unmodified: do they run, with the same numbers, how fast
	$(compile-core)
	$(call step,the gallery)
	@PYTHONPATH=$(abspath $(COMPILED)) $(PY) examples/gallery $(ARGS)

gallery-tests: $(VENV)/.compare  ## the packages' own tests, on PyTorch and on Rushlight
	$(call step,the tests of the packages)
	@$(PY) examples/gallery/suites.py $(ARGS)

reference: $(VENV)/.dev  ## the table's index, reference pages, stubs and list of public names, from its rows
	@$(PY) -W ignore -m tests.table.homes
	@$(PY) -W ignore -m tests.table.report
	@$(PY) -W ignore -m tests.table.stubs
	@$(PY) -W ignore -m tests.table.public_names

docs: $(VENV)/.docs  ## the documentation as a site, in build/site/html: needs no network to be read
	$(call step,the site)
	@$(PY) -m docs.site $(ARGS)

wheel: $(VENV)/.dev  ## the wheel that is published: plain Python, everywhere the same
	$(call step,the wheel)
	@rm -rf build/lib dist
	@RUSHLIGHT_PURE=1 $(PY) -m pip wheel --disable-pip-version-check -q --no-deps --no-build-isolation -w dist .
	@ls -l dist
	@test $$(stat -c %s dist/*.whl 2>/dev/null || stat -f %z dist/*.whl) -le 2800000 || { echo "the wheel is larger than 2.8 MB"; exit 1; }

clean:  ## removes what was built and installed here
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment, made once; a stamp for each set of packages, renewed when pyproject.toml changes.

$(VENV)/pyvenv.cfg:
	@found=; for p in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	    if "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$p; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "Rushlight needs Python 3.11 or newer; none was found ($(or $(PYTHON),python3) is $$($(or $(PYTHON),python3) --version 2>&1 || true))."; \
	    echo "Name one: make PYTHON=/path/to/python3.12"; exit 1; \
	fi; \
	printf '\n\033[1m==> %s\033[0m\n' "making $(VENV) with $$found ($$($$found --version))"; \
	"$$found" -m venv $(VENV) || { rm -rf $(VENV); \
	    echo "Python's venv module does not work here (on Debian: apt install python3-venv)."; exit 1; }

$(VENV)/.demo: pyproject.toml setup.py | $(VENV)/pyvenv.cfg
	$(call step,installing Rushlight for the demo)
	@$(INSTALL) -e '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml setup.py | $(VENV)/pyvenv.cfg
	$(call step,installing Rushlight and the tools of its tests)
	@$(INSTALL) -e '.[dev]'
	@touch $@

$(VENV)/.mpi: $(VENV)/.dev
	$(call step,installing MPI)
	@$(INSTALL) -q -e '.[mpi]'
	@touch $@

$(VENV)/.compare: $(VENV)/.dev $(VENV)/.mpi
	$(call step,installing PyTorch to compare with)
	@$(INSTALL) -e '.[compare]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(call step,installing what makes the site)
	@$(INSTALL) -e '.[docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(call step,installing what the benchmarks measure)
	@$(INSTALL) -e '.[bench]'
	@touch $@
