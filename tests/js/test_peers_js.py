#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package's types under the TypeScript compiler, and its Arrow IPC against apache-arrow and flechette."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import js_env
from engines import TOOLS


def compile_types(node, package):
    """-> what the compiler says about tests/js/types.ts"""
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        target = folder / "node_modules/alimentar"
        target.mkdir(parents=True)
        for name in ("index.d.ts", "package.json"):
            shutil.copy(package / name, target / name)
        shutil.copy(js_env.ROOT / "tests/js/types.ts", folder)
        result = subprocess.run([node, str(TOOLS / "node_modules/typescript/bin/tsc"), "--strict", "--noEmit", "--target", "es2022",
                                 "--module", "nodenext", "--lib", "es2022,dom,dom.iterable", "types.ts"],
                                cwd=folder, capture_output=True, text=True, timeout=300)
        return result.stdout if result.returncode else ""


def main():
    if not (TOOLS / "node_modules/typescript").is_dir():
        print("skipped: no packages in build/js-tools: tools/setup test installs them")
        sys.exit(js_env.SKIP)
    node, package = js_env.find_node(), js_env.make_package()
    said = compile_types(node, package)
    print(said, end="")
    program = str(js_env.ROOT / "tests/js/peers.mjs")
    result = subprocess.run([node, "--no-warnings", program, str(package), str(TOOLS)], stdout=subprocess.PIPE, text=True)
    lines = result.stdout.splitlines() or ["0 passed, 1 failed"]
    print("\n".join(lines[:-1]))
    passed, failed = (int(word) for word in lines[-1].replace(",", "").split()[::2])
    js_env.finish(passed + (not said), failed + bool(said) + (result.returncode != 0 and not failed))


if __name__ == "__main__":
    main()
