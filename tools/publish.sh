#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
# Copies the program out of a build folder, as a real file that is replaced in one step: a running copy stays intact.
# usage: publish.sh BUILD_DIR TARGET
set -euo pipefail
source_file=""
for candidate in "$1/gpuwhy" "$1/src/gpuwhy" "$1/src/cli/gpuwhy" "$1/bin/gpuwhy"; do
  [ -f "$candidate" ] && source_file=$candidate && break
done
if [ -z "$source_file" ]; then
  echo "publish.sh: no program 'gpuwhy' in $1: the build did not make one; run 'make build' and read its first error" >&2
  exit 1
fi
cmp -s "$source_file" "$2" && exit 0
cp "$source_file" "$2.new"
mv "$2.new" "$2"
