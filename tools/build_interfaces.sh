#!/bin/sh
# Build gripsim_interfaces with the CMake and Ninja of the virtual environment, into it, for
# Python programs: C++ programs take what colcon builds.
# Usage: build_interfaces.sh VENV
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
venv=$(cd "$1" && pwd)
build=$venv/build/gripsim_interfaces
output=$venv/build/gripsim_interfaces.log

rm -rf "$build"
mkdir -p "$build"
export PATH="$venv/bin:$PATH"

compile() {
    "$venv/bin/cmake" -S "$root/gripsim_interfaces" -B "$build" -G Ninja \
        -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_MAKE_PROGRAM="$venv/bin/ninja" \
        -DCMAKE_INSTALL_PREFIX="$venv" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_PREFIX_PATH="$venv" -DPython3_EXECUTABLE="$venv/bin/python" \
        -DCMAKE_PROJECT_gripsim_interfaces_INCLUDE="$root/tools/wheel_interfaces.cmake" \
        -DBUILD_TESTING=OFF -Wno-dev &&
    "$venv/bin/cmake" --build "$build" &&
    "$venv/bin/cmake" --install "$build" &&
    "$venv/bin/python" -c 'import gripsim_interfaces.msg, gripsim_interfaces.srv, gripsim_interfaces.action'
}

if ! compile >"$output" 2>&1; then
    tail -n 30 "$output" >&2
    echo "gripsim: gripsim_interfaces did not build; the whole output is in $output" >&2
    exit 1
fi
