#!/bin/bash
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
#
# The injection library on a real NVIDIA GPU with CUDA 13 and PyTorch: every kind of job it must not disturb.
# usage: tests/h200/inject_probe.sh        needs g++, nvcc, python3 with torch; under 4 minutes, under 150 lines
set -u
cd "$(dirname "$0")/../.." || exit 2
build=$(mktemp -d /tmp/gpuwhy-inject-probe.XXXXXX)
chmod 755 "$build"
trap 'rm -rf "$build"' EXIT
here=tests/h200
failed=0

python3 tools/gen_wire.py wire/schema.json --cc "$build/gen/wire/wire.gen.h" || exit 2
g++ -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -fno-exceptions -fno-rtti -fno-threadsafe-statics -I "$build/gen" -I . inject/*.cc \
  -o "$build/libgpuwhy_inject.so" -Wl,-z,nodelete -Wl,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0 || exit 2
python3 tools/check_glibc.py "$build/libgpuwhy_inject.so" 2.17
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
"$nvcc" -O2 -arch=native "$here/saxpy_loop.cu" -o "$build/saxpy_loop" || exit 2

probe() {  # title, then the arguments of ring_dump.py
  local title=$1 begin=$SECONDS
  shift
  echo "== $title"
  timeout 60 python3 "$here/ring_dump.py" --library "$build/libgpuwhy_inject.so" "$@" 2>&1 | cut -c1-600 | head -24
  local rc=${PIPESTATUS[0]}
  echo "  -- rc $rc, $((SECONDS - begin)) s"
  [ "$rc" = 0 ] || failed=$((failed + 1))
}

probe "C++, one kernel" -- "$build/saxpy_loop" 0 once
probe "C++, windows late" --plan timing:2:500,sync:3.5:300 -- "$build/saxpy_loop" 6
probe "C++, CUDA graph" --plan timing:2:500 -- "$build/saxpy_loop" 5 graph
probe "C++, timing then none, close" --plan timing:1:20000,none:2:0,close:3:0,timing:3.5:500 -- "$build/saxpy_loop" 5
probe "torch training" --plan timing:6:1000,sync:9:300 -- python3 "$here/torch_job.py" 14 threads
probe "torch, loader workers" --plan timing:6:500 -- python3 "$here/torch_job.py" 8 workers
probe "torch, CUDA graph" --plan timing:5:500 -- python3 "$here/torch_job.py" 8 graph
probe "torch, profiler of the job after our window" -- python3 "$here/torch_job.py" 8 profile
probe "torch, profiler of the job inside our window, closed first" --plan timing:4:20000 -- python3 "$here/torch_job.py" 12 profile close
probe "torch, profiler and then a window" --plan timing:9:500 -- python3 "$here/torch_job.py" 10 profile
probe "torch, not root" --user 65534 --plan timing:5:300 -- python3 "$here/torch_job.py" 6
probe "torch, permanent" --trace permanent -- python3 "$here/torch_job.py" 6
echo "== without gpuwhy: torch"
STEP_LOG= python3 "$here/torch_job.py" 5 threads
echo "inject_probe: $failed probes with a bad exit status"
exit "$((failed > 0))"
