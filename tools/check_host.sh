#!/bin/sh
# Say in one line what the machine lacks for `make setup`.
python=${1:-python3}

fail() {
    echo "gripsim: $1" >&2
    exit 1
}

command -v "$python" >/dev/null 2>&1 ||
    fail "$python is missing: sudo apt install python3 python3-venv python3-dev"
"$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' ||
    fail "$("$python" --version) cannot be used: Python 3.10 to 3.13 is needed (make setup PYTHON=python3.12)"
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    fail "$python cannot create virtual environments: sudo apt install python3-venv"
"$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' ||
    fail "the headers of $python are missing: sudo apt install python3-dev"
for compiler in gcc g++; do
    command -v "$compiler" >/dev/null 2>&1 ||
        fail "$compiler is missing: sudo apt install build-essential"
done
