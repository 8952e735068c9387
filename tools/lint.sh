#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
# Checks the form of the tree.
# usage: lint.sh [--fast]     --fast leaves clang-tidy out
# LINT_ALL=1: clang-tidy over every file. LINT_BASE=REV: over what changed since REV (default: the last commit).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

failed=0
step() { # step NAME COMMAND...
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "lint: ok     $name"
  else
    echo "lint: FAILED $name"
    sed 's/^/  /' <<<"$output"
    failed=1
  fi
}

sources() { # tracked and new files of the given kinds, recorded data left out
  git ls-files -z --cached --others --exclude-standard -- "$@" | tr '\0' '\n' |
    while read -r file; do
      if [ -f "$file" ] && [[ ! "/$file" =~ /(data|fixtures|corpus)/ ]]; then echo "$file"; fi
    done
}

check_format() {
  local bad
  bad=$(sources '*.cc' '*.h' '*.cu' | while read -r file; do
    clang-format --style=file --dry-run -Werror "$file" >/dev/null 2>&1 || echo "$file"
  done)
  [ -z "$bad" ] && return 0
  echo "not formatted; run: clang-format -i $(tr '\n' ' ' <<<"$bad")"
  return 1
}

check_shell() {
  sources '*.sh' '.ci/run' | xargs -r -n 1 bash -n
}

check_spdx() {
  local bad
  bad=$(sources '*.cc' '*.h' '*.cu' '*.py' '*.sh' | while read -r file; do
    [ -s "$file" ] || continue
    head -n 4 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file"
  done)
  [ -z "$bad" ] && return 0
  sed 's/$/: the two SPDX lines are missing/' <<<"$bad"
  return 1
}

check_agent() {
  sources 'agent/*.py' | xargs -r tools/check_py36.py
}

# Files to tidy: all, or those that changed and the sources of headers that changed.
tidy_files() {
  if [ "${LINT_ALL:-}" = 1 ]; then
    sources 'src/*.cc' 'inject/*.cc'
    return
  fi
  local base=${LINT_BASE:-HEAD~1}
  git rev-parse -q --verify "$base" >/dev/null || base=HEAD
  { git diff --name-only "$base" -- src inject; git ls-files --others --exclude-standard -- src inject; } |
    sed 's/\.h$/.cc/' | sort -u | while read -r file; do
      if [ -f "$file" ] && [ "${file##*.}" = cc ]; then echo "$file"; fi
    done
}

check_tidy() {
  local build=build/dev files
  cmake --preset dev -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null || return 1
  # Generated headers have to exist before a file that includes them can be read.
  cmake --build "$build" --target gpuwhy_wire_header >/dev/null || return 1
  files=$(comm -12 <(tidy_files | sort -u) <(jq -r '.[].file' "$build/compile_commands.json" | sed "s|^$PWD/||" | sort -u))
  [ -n "$files" ] || { echo "no changed file is part of the build"; return 0; }
  # The compile commands are GCC's: clang does not know all of its warning flags.
  xargs -P 2 -n 1 clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option <<<"$files" 2>&1 |
    grep -v 'warnings generated'
  return "${PIPESTATUS[0]}"
}

case "${1:-}" in
  "" | --fast) ;;
  *) echo "lint.sh: unknown argument '$1'; expected --fast or nothing" >&2; exit 2 ;;
esac
step "layers" tools/check_layers.py
step "rules" tools/check_rules.py
step "sizes" tools/check_sizes.py
step "knowledge" tools/gen_knowledge.py --check docs/knowledge.md
step "format" check_format
step "licence lines" check_spdx
step "agent is Python 3.6" check_agent
step "shell syntax" check_shell
[ "${1:-}" = --fast ] || step "clang-tidy" check_tidy
exit "$failed"
