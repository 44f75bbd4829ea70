#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The vectors of tests/unit/test_crypto.c against the provider of the WebAssembly module, in Node.js."""
import subprocess
import sys

import js_env
from js_env import ROOT, build


def link_program():
    """The unit test, compiled for wasm32 with the module's own objects."""
    core, glue, foreign = build.core_units(), build.glue_units(), build.foreign_units()
    tests = [build.Unit(ROOT / "tests/unit/test_crypto.c", ["-w", '-DALD_TEST_DATA="/tests"', f"-I{ROOT / 'tests/unit'}"]),
             build.Unit(ROOT / "tests/js/vectors_host.c", build.WARNINGS)]
    with build.locked():
        errors = [error for _, error in build.compile_all([*tests, *core, *glue, *foreign], js_env.jobs()) if error]
        if errors:
            sys.exit(errors[0])
        program = build.OUT / "test_crypto.wasm"
        result = build.run([build.CLANG, *build.TARGET, "-flto", "-Wl,--lto-O2", "-Wl,--gc-sections", "-Wl,-z,stack-size=1048576",
                            *(str(unit.object) for unit in (*tests, *build.units_of("ald.wasm", core, glue, foreign))),
                            "-o", str(program)])
        if result.returncode != 0:
            sys.exit(result.stderr)
    return program


def main():
    node = js_env.find_node()
    program = link_program()
    runner = ROOT / "tests/js/run_wasi.mjs"
    sys.exit(subprocess.run([node, "--no-warnings", str(runner), str(program)]).returncode)


if __name__ == "__main__":
    main()
