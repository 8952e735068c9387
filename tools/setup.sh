#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
# Installs what gpuwhy's build, tests and lint need on Debian 12 (Ubuntu 24.04: same names, not verified).
# usage: setup.sh [--minimal | --frameworks]
#   --minimal     build and demo only
#   (nothing)     build, tests and lint
#   --frameworks  also Debian's PyTorch and a cached environment with the newest PyTorch, TensorFlow and JAX
# Changes nothing when all is there. What could not be had is written to .setup-state, which the test runner reads.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly STATE=.setup-state
readonly PYTHON=/usr/bin/python3
# Measured: 3.7 GB of wheels in a temporary folder, 7.6 GB installed; the rest is room for newer versions.
readonly NEED_GB=14
readonly MINIMAL="git make g++ cmake ninja-build ccache libfmt-dev libcli11-dev nlohmann-json3-dev python3"
readonly TESTS="libgtest-dev libgmock-dev googletest libbenchmark-dev python3-venv python3-pytest python3-jsonschema
  python3-hypothesis binutils clang-format clang-tidy jq util-linux"
readonly FRAMEWORKS="python3-torch"

say() { echo "setup: $*" >&2; }
die() { say "$*"; exit 2; }

check_system() {
  local id="unknown" version=""
  # shellcheck source=/dev/null
  [ -r /etc/os-release ] && . /etc/os-release && id=${ID:-unknown} version=${VERSION_ID:-}
  case "$id $version" in
    "debian 12") ;;
    "ubuntu 24.04") say "Ubuntu 24.04: the package names are not verified there" ;;
    *) die "'$id $version' is not known to this script: install with your own package manager: ${wanted//$'\n'/ }" ;;
  esac
}

missing_packages() {
  local installed
  # shellcheck disable=SC2086  # a list of words
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p' || true)
  comm -13 <(sort -u <<<"$installed") <(tr -s ' \n' '\n' <<<"$wanted" | sed '/^$/d' | sort -u)
}

install_packages() {
  local missing as_root=()
  missing=$(missing_packages | tr '\n' ' ')
  [ -z "${missing// /}" ] && return 0
  check_system
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "not root and no sudo; ask an administrator: apt-get install $missing"
    as_root=(sudo)
  fi
  say "installing: $missing"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0)
  "${apt[@]}" update >&2 || say "the package lists could not be refreshed; trying with those at hand"
  # shellcheck disable=SC2086
  "${apt[@]}" install --no-install-recommends $missing >&2 ||
    die "apt-get could not install: $missing; see its message above (network? disk?)"
}

# The reason why the environment cannot be made now, or nothing.
obstacle() {
  local free_gb
  [ -x "$PYTHON" ] || { echo "$PYTHON is missing"; return; }
  free_gb=$(($(df --output=avail -k "$cache" | tail -n 1) / 1000000))
  if [ "$free_gb" -lt "$NEED_GB" ]; then
    echo "$free_gb GB free in $cache, $NEED_GB GB needed (GPUWHY_CACHE names another place)"
  fi
}

# Frameworks from the Python package index into a folder outside the tree, one for each (requirements, Python). pip
# unpacks in a temporary folder beside it, so that a small /tmp does not matter; no pip cache: it would keep another
# 3.7 GB for the one case of a changed requirement file.
build_environment() {
  local venv=$1 reason log
  reason=$(obstacle)
  [ -n "$reason" ] && { record_skip "$reason"; return 0; }
  log="$venv.log"
  say "installing PyTorch, TensorFlow and JAX into $venv (about 5 minutes, 3.7 GB to fetch)"
  rm -rf "$venv" "$venv.tmp"
  mkdir -p "$venv.tmp"
  # TMPDIR: see above. The CPU build of JAX is the default one.
  if "$PYTHON" -m venv "$venv" >"$log" 2>&1 &&
    TMPDIR="$venv.tmp" "$venv/bin/python" -m pip install --no-cache-dir --disable-pip-version-check --no-input \
      --progress-bar off --retries 3 -r tests/requirements.txt >>"$log" 2>&1; then
    "$venv/bin/python" -m pip list --format=freeze --disable-pip-version-check >"$venv/installed.txt" 2>/dev/null
    touch "$venv/complete" # written last: a folder without it is a broken install and is made again
  else
    reason=$(grep -E '^ERROR|No space|Error' "$log" | tail -n 1 | cut -c1-200 || true)
    rm -rf "$venv"
    record_skip "pip failed: ${reason:-see $log}"
  fi
  rm -rf "$venv.tmp"
}

record_skip() {
  say "FRAMEWORK TESTS WILL BE SKIPPED: $1"
  printf 'frameworks=skipped\nreason=%s\n' "$1" >"$STATE"
}

setup_environment() {
  cache=${GPUWHY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpuwhy}
  mkdir -p "$cache"
  local key venv
  key=$( (cat tests/requirements.txt; "$PYTHON" -V) | sha256sum | cut -c1-12)
  venv="$cache/venv-$key"
  exec 9>"$venv.lock"
  flock 9 # two checkouts may want the same folder at the same time
  if [ ! -e "$venv/complete" ]; then
    build_environment "$venv"
  fi
  flock -u 9
  if [ -e "$venv/complete" ]; then
    ln -sfn "$venv" .venv
    printf 'frameworks=ok\nvenv=%s\n' "$venv" >"$STATE"
  else
    rm -f .venv
  fi
}

mode=${1:-default}
case "$mode" in
  --minimal) wanted=$MINIMAL ;;
  default) wanted="$MINIMAL $TESTS" ;;
  --frameworks) wanted="$MINIMAL $TESTS $FRAMEWORKS" ;;
  -h | --help) sed -n '/^# usage/,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
  *) die "unknown argument '$mode'; expected --minimal, --frameworks or nothing" ;;
esac
command -v dpkg-query >/dev/null || check_system
install_packages
[ "$mode" = --frameworks ] && setup_environment
exit 0
