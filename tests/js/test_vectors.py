#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unit tests with vectors, for wasm32 and with the modules' own objects, in Node.js: cryptography and watermarks give the same
bits there.
"""
import re
import subprocess
import sys

import js_env
from js_env import ROOT, build

PROGRAMS = ("test_crypto", "test_watermark_cells", "test_watermark_code", "test_watermark_embed", "test_watermark_entropy",
            "test_watermark_read")
LINK = ["-flto", "-Wl,--lto-O2", "-Wl,--gc-sections", "-Wl,-z,stack-size=1048576"]


def link_programs():
    """The unit tests, compiled for wasm32 with the module's own objects."""
    core, glue, foreign = build.core_units(), build.glue_units(), build.foreign_units()
    host = build.Unit(ROOT / "tests/js/vectors_host.c", build.WARNINGS)
    flags = ["-w", '-DALD_TEST_DATA="/tests"', f"-I{ROOT / 'tests/unit'}"]
    tests = [build.Unit(ROOT / f"tests/unit/{name}.c", flags) for name in PROGRAMS]
    programs = []
    with build.locked():
        errors = [error for _, error in build.compile_all([*tests, host, *core, *glue, *foreign], js_env.jobs()) if error]
        if errors:
            sys.exit(errors[0])
        for test in tests:
            program = build.OUT / f"{test.source.stem}.wasm"
            units = (test, host, *build.units_of("ald.wasm", core, glue, foreign))
            result = build.run([build.CLANG, *build.TARGET, *LINK, *(str(unit.object) for unit in units), "-o", str(program)])
            if result.returncode != 0:
                sys.exit(result.stderr)
            programs.append(program)
    return programs


def main():
    node, passed, failed = js_env.find_node(), 0, 0
    runner = ROOT / "tests/js/run_wasi.mjs"
    for program in link_programs():
        result = subprocess.run([node, "--no-warnings", str(runner), str(program)], stdout=subprocess.PIPE, text=True, timeout=600)
        counts = re.findall(r"^(\d+) passed, (\d+) failed$", result.stdout, re.M)
        if not counts or result.returncode != 0 or int(counts[-1][0]) == 0:
            print(f"FAIL {program.name}: exit status {result.returncode}\n{result.stdout}")
            failed += 1
        passed += int(counts[-1][0]) if counts else 0
        failed += int(counts[-1][1]) if counts else 0
    js_env.finish(passed, failed)


if __name__ == "__main__":
    main()
