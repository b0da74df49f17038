#!/bin/sh
# What strangers do to the suite, done from outside: many callers, forged answers, meshes that
# nobody chose, nodes killed and stopped; with --nightly also a busy machine, a cold cache, other
# versions and a second suite. `tools/trial.sh --help` names the trials.
cd "$(dirname "$0")/.." || exit 2
exec "${PYTHON:-.venv/bin/python}" -m benchmarks trial "$@"
