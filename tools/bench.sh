#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmarks that this machine can run.
# usage: bench.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
"$build/bench_os_sampler"
"$build/bench_read_text" tests/texts/cases/{006,015,049}-*/input.txt
if [ -e /dev/nvidiactl ]; then
  "$build/bench_nvml_sampler" 20
  python3 bench/overhead.py build/gpuwhy
else
  echo "no NVIDIA device here: bench/nvml_sampler and bench/overhead.py are skipped"
fi
/usr/bin/python3 bench/agent_hooks.py
