#!/bin/sh
# Check the core's types as setup.cfg says: sh tools/check_types.sh VENV
# mypy has an environment of its own below VENV, so that nothing that is installed for running
# the product can change the verdict.
set -eu

venv=$1
types=$venv/types

if ! "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo 'gripsim: types are checked with Python 3.11 or later' >&2
    exit 0
fi
if ! cmp -s requirements-types.txt "$types/requirements.txt"; then
    echo 'gripsim: installing mypy'
    rm -rf "$types"
    "$venv/bin/python" -m venv --without-pip "$types"
    "$venv/bin/python" -m pip --python "$types" --disable-pip-version-check install \
        --quiet --quiet -r requirements-types.txt
    cp requirements-types.txt "$types/requirements.txt"
fi
"$types/bin/python" -m mypy --cache-dir "$types/cache"
