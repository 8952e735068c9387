# SPDX-FileCopyrightText: 2026 the gpuwhy authors
# SPDX-License-Identifier: Apache-2.0
# Thin names for the commands of the project; the work is done by CMake and tools/.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
RELEASE := build/release
PYTHON := /usr/bin/python3

.DEFAULT_GOAL := help
.PHONY: help setup build demo test lint bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## install what build, tests and lint need (Debian 12; root or sudo)
	@tools/setup.sh

build: ## build the program: build/gpuwhy
	@tools/setup.sh --minimal
	cmake --preset release -B $(RELEASE)
	cmake --build $(RELEASE) --target gpuwhy -j $(JOBS)
	@tools/publish.sh $(RELEASE) build/gpuwhy

demo: build ## replay a recorded GPU session, then watch a small real job on this machine
	build/gpuwhy demo
	build/gpuwhy run -- $(PYTHON) tools/demo_job.py

test: ## everything CI runs: lint, sanitizers, unit, rule and end-to-end tests
	@tools/test.sh

lint: ## format, layers, rules, sizes, clang-tidy of changed files (LINT_ALL=1: of all)
	@tools/setup.sh
	@tools/lint.sh

bench: build ## cost of watching: samplers here, a whole training where there is an NVIDIA GPU
	@tools/setup.sh
	cmake --preset release -B $(RELEASE) -DGPUWHY_BENCH=ON
	cmake --build $(RELEASE) -j $(JOBS)
	@tools/bench.sh $(RELEASE)

clean: ## remove everything built (caches outside the tree stay)
	rm -rf build
