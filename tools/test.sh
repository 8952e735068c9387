#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
# Runs everything CI runs, from a machine that may have nothing but git, make and a root shell.
# usage: test.sh [--quick]    --quick leaves out sanitizer builds other than asan and the framework tests
# The last line is "N passed, N failed, N skipped" over all tests of all steps; a step that breaks counts as one failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
exec </dev/null

readonly PYTHON=/usr/bin/python3
readonly RESULTS=build/results
jobs=$(nproc)
broken=()
outcome=ok # of the step that runs
prefix=() # what ctest is started through
started=$SECONDS

minutes() { awk -v s="$1" 'BEGIN { printf "%.1f", s / 60 }'; }

step() { # step NAME COMMAND...: runs it, prints how long it took, remembers a failure
  local name=$1 begin=$SECONDS status=0
  shift
  echo "== $name"
  outcome=ok
  "$@" || status=$?
  [ "$status" = 0 ] || outcome="BROKEN"
  echo "== $name: $outcome, $(minutes $((SECONDS - begin))) min"
  [ "$status" = 0 ] || broken+=("$name")
  return "$status"
}

build() { # build PRESET [TARGET...]
  local preset=$1
  shift
  cmake --preset "$preset" -B "build/$preset" >"$RESULTS/configure-$preset.log" 2>&1 ||
    { cat "$RESULTS/configure-$preset.log"; return 1; }
  cmake --build "build/$preset" -j "$jobs" ${1:+--target "$@"} >"$RESULTS/build-$preset.log" 2>&1 ||
    { grep -E -A 12 'error|FAILED|undefined reference' "$RESULTS/build-$preset.log" | head -n 80; return 1; }
}

ctest_run() { # ctest_run PRESET [ctest arguments]; a failing test is counted from the report, a missing report is a break
  local preset=$1
  shift
  local report="$PWD/$RESULTS/ctest-$preset.xml"
  ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
    "${prefix[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --timeout 300 -j "$jobs" \
    --output-junit "$report" "$@" >"$RESULTS/ctest-$preset.log" 2>&1
  local status=$?
  [ -s "$report" ] || return 1
  [ "$status" = 0 ] && return 0
  outcome="TESTS FAILED"
  grep -vE '^ *(Start|[0-9]+/[0-9]+ Test .*Passed)' "$RESULTS/ctest-$preset.log" | tail -n 200
  grep -q '<failure' "$report" # else ctest failed for a reason that no test carries
}

tsan() {
  if ! ctest --test-dir build/asan -N -L '^tsan$' 2>/dev/null | grep -q 'Total Tests: [1-9]'; then
    echo "no test carries the label tsan yet: nothing to do"
    return 0
  fi
  # ThreadSanitizer maps its shadow at fixed addresses, which newer kernels' address randomisation may hit.
  local target=() prefix=()
  setarch "$(uname -m)" -R true 2>/dev/null && prefix=(setarch "$(uname -m)" -R)
  grep -qE '^build tsan_tests:' build/asan/build.ninja 2>/dev/null && target=(tsan_tests)
  build tsan "${target[@]}" && ctest_run tsan -L '^tsan$'
}

pytest_run() { # pytest_run NAME PYTHON [arguments]
  local name=$1 python=$2
  shift 2
  "$python" -m pytest tests -q -rsfE --tb=short -p no:cacheprovider \
    --junitxml="$RESULTS/pytest-$name.xml" -o junit_family=xunit2 "$@"
  local status=$?
  [ "$status" = 1 ] && outcome="TESTS FAILED"
  [ "$status" -le 1 ] && [ -s "$RESULTS/pytest-$name.xml" ]
}

program() {
  build release gpuwhy && tools/publish.sh build/release build/gpuwhy
}

single_file() { # only the C library may be needed at run time
  local extra
  extra=$(readelf -d build/gpuwhy | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|ld-linux-aarch64)\.so\.[0-9]+$')
  [ -z "$extra" ] || { echo "build/gpuwhy needs more than glibc: $extra"; return 1; }
  # 2.36 is Debian 12's, the oldest system that this build has to start on; 2.17 is the oldest a CUDA job may live on.
  "$PYTHON" tools/check_glibc.py build/gpuwhy 2.36 &&
    "$PYTHON" tools/check_glibc.py "$(find build/release -name libgpuwhy_inject.so -print -quit)" 2.17
}

quick=""
case "${1:-}" in
  "") ;;
  --quick) quick=1 ;;
  *) echo "test.sh: unknown argument '$1'; expected --quick or nothing" >&2; exit 2 ;;
esac
rm -rf "$RESULTS"
mkdir -p "$RESULTS"
if [ "$quick" ]; then step "setup" tools/setup.sh; else step "setup" tools/setup.sh --frameworks; fi || exit 1
step "lint" tools/lint.sh --fast
if step "build with address and undefined-behaviour sanitizers" build asan; then
  step "unit and rule tests" ctest_run asan
  [ "$quick" ] || step "threaded tests under the thread sanitizer" tsan
fi
if step "release build" program; then
  step "build/gpuwhy needs glibc only" single_file
  # Tests of real frameworks start jobs in .venv; without it each is skipped, with the reason that setup recorded.
  step "end-to-end tests" pytest_run system "$PYTHON" ${quick:+--ignore=tests/agent --ignore=tests/cli/test_frameworks.py}
else
  # The tools' own tests need no program.
  step "tests of the tools" pytest_run tools "$PYTHON" tests/tools
fi
echo "== total: $(minutes $((SECONDS - started))) min"
exec "$PYTHON" tools/test_summary.py "$RESULTS" "${broken[@]/#/--broken=}"
