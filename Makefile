# SPDX-License-Identifier: MIT
# Thin: every target is a CMake preset or a script of tools/. `make help` lists them.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
DESTDIR ?=
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help build demo test-fast test check asan ubsan fuzz coverage wasm wasm-check bench docs fmt fmt-check tidy \
    install amalgam clean setup-build setup-test setup-check

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup-build:
	@tools/setup build
	@tools/fetch --for native

setup-test:
	@tools/setup test
	@tools/fetch --for all

setup-check:
	@tools/setup check
	@tools/fetch --for all

build: setup-build ## an optimised command at build/alimentar; installs what is missing
	cmake --preset release -DALD_BUILD_TESTS=OFF
	cmake --build --preset release -j $(JOBS)
	@ln -sfn release/alimentar build/alimentar

clean: ## removes what was built; fetched sources and the Python environment stay
	rm -rf build/release build/dev build/asan build/ubsan build/fuzz build/coverage build/wasm build/demo build/amalgam \
	    build/alimentar
