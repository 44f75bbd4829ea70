# SPDX-License-Identifier: MIT
# Thin: every target is a CMake preset or a script of tools/. `make help` lists them.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
DESTDIR ?=
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help build demo test-fast test check asan ubsan msan fuzz coverage wasm wasm-check viewer bench bench-watermark docs fmt fmt-check tidy \
    install amalgam clean setup-build setup-test setup-check

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

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

demo: build ## converts a real dataset and looks at the result
	@tools/demo

test-fast: setup-test ## unit tests and layers, under a minute
	@tools/run_tests fast --jobs $(JOBS)

test: setup-test ## everything: all tests, layers, symbols, wasm-check, ASan + UBSan
	@tools/run_tests all --jobs $(JOBS)

check: setup-check test fmt-check tidy ## test, format, tidy, longer fuzzing
	@tools/fuzz --seconds $(FUZZ_SECONDS) --jobs $(JOBS)

asan: setup-test ## unit, golden, hostile and corpus replay under ASan + UBSan
	@tools/run_tests asan --jobs $(JOBS)

ubsan: setup-test ## the same under clang's UBSan with its integer checks
	@tools/run_tests ubsan --jobs $(JOBS)

msan: setup-test ## corpus replay under MemorySanitizer
	@tools/run_tests msan --jobs $(JOBS)

fuzz: setup-check ## every fuzz target for FUZZ_SECONDS=60
	@tools/fuzz --seconds $(FUZZ_SECONDS) --jobs $(JOBS)

coverage: setup-test ## line coverage of the tests
	@tools/coverage --jobs $(JOBS)

wasm: wasm-check ## the WebAssembly modules, and the npm package in build/js/alimentar

viewer: setup-test ## serves a page that shows .ald files, on this machine alone
	@tools/viewer

wasm-check: setup-test ## the core needs nothing but a bare wasm32; the modules are small enough
	@tools/wasm_check --jobs $(JOBS)

bench: setup-test ## compares with peers on the same data
	@tools/bench

bench-watermark: setup-test build ## what watermarks survive, through real files; what attackers can do; three quarters of an hour
	@tools/bench_watermark

docs: build ## man pages and completions in build/docs
	@tools/docs build/docs

fmt: ## lays the C code out again
	@tools/setup check
	@tools/format --write

fmt-check: ## says which C files clang-format would change
	@tools/setup check
	@tools/format

tidy: setup-check ## clang-tidy over the sources
	@tools/tidy --jobs $(JOBS)

amalgam: setup-build ## the library as one file, build/amalgam/ald.c, compiled once
	@tools/amalgam

install: build ## library, command, man pages and completions below PREFIX=/usr/local (DESTDIR is honoured)
	DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

clean: ## removes what was built; fetched sources and the Python environment stay
	rm -rf build/release build/dev build/asan build/ubsan build/msan build/fuzz build/coverage build/wasm build/js build/viewer build/demo build/amalgam build/bench \
	    build/docs build/alimentar
