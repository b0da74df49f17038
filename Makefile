# Everything from the source tree alone: `make setup`, then `make demo`. No ROS install is needed.
#
#   setup         create .venv from PyPI, build gripsim_interfaces into it, install this package,
#                 compile what planning needs
#   setup-all     also what the tests, the simulated hand, databases, recordings and the view in a
#                 browser need, and the numerical kernels of the other commands
#   demo          .venv/bin/gripsim demo
#   test          every test, slow ones too
#   test-fast     the tests that take seconds
#   test-nightly  those that take longer than they guard in every run
#   lint          flake8, and the core's types
#   coverage      the core's branches that its tests reach; fails below 95 %
#   bench         the benchmarks; bench-setup first installs the peers they compare with
#   docs          the site of docs/ with search, the code's own pages and the gallery's scenes, in build/site
#   wheels        a wheel of each package in dist/: what `pip install` takes
#   trials        what others do to the suite, from outside: some hours; tools/trial.sh for minutes
#   soak          the long-running load test of the suite
#   clean         remove .venv and everything that was built

PYTHON ?= python3
VENV ?= .venv
# A file of upper bounds for pip, such as constraints-lowest.txt.
CONSTRAINTS ?=
PYTEST_ARGS ?=
# Processes that share the files of tests in `make test`, each with a ROS domain of its own: one more
# than cores, since many tests wait.
TEST_WORKERS ?= 3
BENCH_ARGS ?=
SOAK_ARGS ?=
TRIAL_ARGS ?= --nightly

# A sourced ROS would shadow the wheels of .venv.
ROS_VARIABLES := PYTHONPATH PYTHONHOME LD_LIBRARY_PATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH \
                 COLCON_PREFIX_PATH COLCON_CURRENT_PREFIX ROS_DISTRO ROS_VERSION ROS_PYTHON_VERSION
SET_VARIABLES := $(strip $(foreach name,$(ROS_VARIABLES),$(if $($(name)),$(name))))
ifneq ($(SET_VARIABLES),)
ifeq ($(MAKELEVEL),0)
$(shell echo 'gripsim: cleared $(SET_VARIABLES): .venv brings its own ROS' >&2)
endif
endif
# Python keeps its bytecode: hundreds of processes would compile the sources each for itself.
unexport $(ROS_VARIABLES) _ROS_WHEELS_BOOTSTRAP_COMPLETE PYTHONDONTWRITEBYTECODE

BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Python compiles the modules that are used: pip would compile all, for as long as it unpacks them.
PIP_INSTALL := $(PIP) install --no-compile
# With the directories, whose time changes where a file is removed.
INTERFACE_FILES := $(wildcard gripsim_interfaces/* gripsim_interfaces/*/*)
GALLERY_SOURCES := tools/draw_gallery.py $(wildcard gripsim_ros/apps/examples/*.py gripsim_ros/apps/report/*.py \
                   gripsim_ros/apps/report/*/*)
REQUIREMENTS := requirements.txt requirements-wheels.txt
SAY := @printf 'gripsim: %s\n'
# Says what is done, and every few seconds that it goes on.
SHOWN = @$(BIN)/python tools/with_progress.py

INSTALLED := $(STAMPS)/guard $(STAMPS)/package $(STAMPS)/kernels-plan $(STAMPS)/kernels-stages \
             $(STAMPS)/interfaces $(STAMPS)/bytecode
ALL_INSTALLED := $(INSTALLED) $(STAMPS)/extras $(STAMPS)/kernels-rest

.PHONY: setup setup-all installed all-installed demo test test-fast test-nightly lint types coverage bench bench-setup docs wheels trials soak clean
.DELETE_ON_ERROR:

setup: installed
	$(SAY) 'ready: $(BIN)/gripsim --help'

setup-all: all-installed
	$(SAY) 'ready, with all extras: $(BIN)/gripsim --help'

# What does not depend on each other is built at the same time: messages and kernels.
installed:
	@$(MAKE) --silent --no-print-directory -j3 $(INSTALLED)

all-installed:
	@$(MAKE) --silent --no-print-directory -j3 EVERYTHING=yes $(ALL_INSTALLED)

$(STAMPS)/venv:
	@sh tools/check_host.sh $(PYTHON)
	$(SAY) 'creating $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS)
	@touch $@

$(STAMPS)/guard: $(STAMPS)/venv tools/venv_guard.py
	@$(BIN)/python tools/venv_guard.py
	@touch $@

$(STAMPS)/requirements: $(REQUIREMENTS) $(CONSTRAINTS) | $(STAMPS)/guard
	$(SHOWN) 'installing packages from PyPI' $(PIP_INSTALL) \
		--upgrade-strategy only-if-needed $(addprefix -r ,$(REQUIREMENTS)) $(addprefix -c ,$(CONSTRAINTS))
	@touch $@

$(STAMPS)/extras: requirements-test.txt $(CONSTRAINTS) | $(STAMPS)/requirements
	$(SHOWN) 'installing the packages of the tests and the extras' $(PIP_INSTALL) \
		--upgrade-strategy only-if-needed -r requirements-test.txt $(addprefix -c ,$(CONSTRAINTS))
	@touch $@

$(STAMPS)/interfaces: $(STAMPS)/requirements $(INTERFACE_FILES) tools/wheel_interfaces.cmake \
		tools/build_interfaces.sh
	$(SHOWN) 'building gripsim_interfaces' sh tools/build_interfaces.sh $(VENV)
	@touch $@

# Nothing imports packages while they are written, which ends in a bus error; nor do two pips run
# at once.
$(STAMPS)/package: $(STAMPS)/requirements setup.py setup.cfg package.xml \
		$(if $(EVERYTHING),| $(STAMPS)/extras)
	$(SAY) 'installing gripsim_ros'
	@$(PIP_INSTALL) --quiet --quiet --use-pep517 --no-build-isolation --no-deps --editable .
	@touch $@

$(STAMPS)/kernels-%: $(STAMPS)/package tools/compile_kernels.py
	$(SHOWN) 'compiling the numerical kernels: $*' $(BIN)/python tools/compile_kernels.py $*
	@touch $@

$(STAMPS)/bytecode: $(STAMPS)/interfaces $(STAMPS)/package tools/make_bytecode.py
	@$(BIN)/python tools/make_bytecode.py
	@touch $@

demo: installed
	@$(BIN)/gripsim demo

test: all-installed
	@$(BIN)/python -m pytest -m 'not nightly' -n $(TEST_WORKERS) --dist loadfile \
		--no-loadscope-reorder $(PYTEST_ARGS)

test-nightly: all-installed
	@$(BIN)/python -m pytest -m nightly $(PYTEST_ARGS)

test-fast: all-installed
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: all-installed types
	@$(BIN)/python -m flake8

types: $(STAMPS)/venv
	@sh tools/check_types.sh $(VENV)

coverage: all-installed
	@$(BIN)/python tools/measure_coverage.py $(PYTEST_ARGS)

bench: all-installed
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

bench-setup: installed
	$(SAY) 'installing the peers that benchmarks compare with'
	@$(PIP_INSTALL) --quiet --quiet -r requirements-bench.txt

wheels: installed
	$(SAY) 'building wheels'
	@$(PIP_INSTALL) --quiet --quiet -r requirements-release.txt
	@$(BIN)/python tools/build_wheels.py

# The gallery is planned anew where an example or the report was changed; `make clean` forgets it.
build/examples/made: $(GALLERY_SOURCES)
	$(SHOWN) 'planning the examples of the gallery' $(BIN)/python tools/draw_gallery.py
	@touch $@

docs: installed build/examples/made
	$(SAY) 'building the site'
	@$(PIP_INSTALL) --quiet --quiet -r requirements-docs.txt
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/site
	@$(BIN)/python tools/check_site.py build/site
	$(SAY) 'open build/site/index.html'

trials: all-installed
	@PYTHON=$(BIN)/python sh tools/trial.sh $(TRIAL_ARGS)

soak: all-installed
	@$(BIN)/python -m benchmarks soak $(SOAK_ARGS)

clean:
	rm -rf $(VENV) build install log *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
