#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package in a page that Vite builds and serves (tests/js/vite_page.mjs)."""
import subprocess
import sys
import tempfile

import engines
import js_env


def main():
    absent = [name for name in engines.missing() if name != "workerd"]
    if not (engines.TOOLS / "node_modules/vite").is_dir():
        absent.append("vite")
    if absent:
        print(f"skipped: {', '.join(absent)}: tools/setup test installs it")
        sys.exit(js_env.SKIP)
    node, package = js_env.find_node(), js_env.make_package()
    with tempfile.TemporaryDirectory() as tmp:
        command = [node, "--no-warnings", js_env.ROOT / "tests/js/vite_page.mjs", package, engines.TOOLS.resolve(), engines.chromium(), tmp]
        # Vite takes a file of the package's name in the current folder for the package.
        sys.exit(subprocess.run([str(word) for word in command], cwd=tmp, timeout=300).returncode)


if __name__ == "__main__":
    main()
