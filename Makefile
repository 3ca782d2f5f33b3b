# Every target sets up what it needs in .venv, quietly and once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile

.PHONY: help demo test test-slow test-engines test-browser lint format bench bench-rover bench-soil bench-track bench-omni bench-study bench-real schemas screenshot clean

help:
	@echo "make demo          plan, drive, calibrate, validate a simulated robot; twin, report, pictures in demo/"
	@echo "make test          the tests (five minutes on two cores, eight the first time)"
	@echo "make test-slow     long statistics and fuzzing"
	@echo "make test-engines  tests in ODE, MuJoCo, gz-physics; installs what apt has where it may"
	@echo "make test-browser  reports in a headless browser (needs Chromium)"
	@echo "make lint          format, rules and types"
	@echo "make bench         speeds, as ratios (needs g++; all bench targets need a quiet machine, or do not judge speeds)"
	@echo "make bench-rover   rovers on planes and height fields against C++ (needs g++)"
	@echo "make bench-soil    a rover on soil against C++ (needs g++)"
	@echo "make bench-track   a tracked robot on a curb in sand against C++ (needs g++)"
	@echo "make bench-omni    omnidirectional robots against C++, the document's figures, recordings (needs g++, shared data)"
	@echo "make bench-study   studies with full simulations, on threads and a local cluster; coverage of intervals"
	@echo "make bench-real    predictions on recordings of real robots (needs the shared data beside the checkout)"
	@echo "make schemas       write the JSON schemas of our files anew"
	@echo "make screenshot    picture of a report for the docs; REPORT=demo/p3at.report.html (needs Chromium)"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "slipfit needs Python 3.11 or newer; set PYTHON=python3.x"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade pip

$(VENV)/.run: $(BIN)/python pyproject.toml
	@echo "setting up .venv (once)"
	@$(PIP) install -e .
	@echo "compiling the simulator (once)"
	@$(BIN)/python -m slipfit.simulation.warm_up
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	@echo "installing what tests and checks need (once)"
	@$(PIP) install -e '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	@$(PIP) install -e '.[bench]'
	@touch $@

$(VENV)/.engines: $(VENV)/.dev
	@$(PIP) install -e '.[engines]'
	@touch $@

demo: $(VENV)/.run
	@$(BIN)/slipfit demo --out demo --force

test: $(VENV)/.dev
	@echo "testing; a first run compiles the kernels, with a line for each"
	@$(PYTEST) -m "not slow and not engine and not browser"

test-slow: $(VENV)/.dev
	@$(PYTEST) -m "slow and not engine"

test-engines: $(VENV)/.engines
	@sh tools/install_engines.sh
	@$(PYTEST) -m engine

test-browser: $(VENV)/.dev
	@$(BIN)/python -m pytest -m browser tests/browser

lint: $(VENV)/.dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

format: $(VENV)/.dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# Each runs all its scripts. Exit codes: 0 all goals met, 1 one missed or a script failed, 3 not judged: the machine was busy.
bench: $(VENV)/.bench
	@$(BIN)/python benchmarks/judge.py bench

bench-rover bench-soil bench-track bench-omni bench-study bench-real: $(VENV)/.dev
	@$(BIN)/python benchmarks/judge.py $(@:bench-%=%)

schemas: $(VENV)/.run
	@for file in robot.1 ground.1 terrain.1 scenario.2 columns.1 twin.1 odometry.1 study.1 plate_columns.1 shear_columns.1 wheel_columns.1 tyre_columns.1; do $(BIN)/slipfit schema $${file%.*} > src/slipfit/library/schemas/$$file.json || exit 1; done

screenshot: $(VENV)/.dev
	@$(BIN)/python tests/browser/screenshot.py docs/images/calibration_report.png $(REPORT)

clean:
	rm -rf $(VENV) demo build src/*.egg-info .pytest_cache .mypy_cache .ruff_cache
