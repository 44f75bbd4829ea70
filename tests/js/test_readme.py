#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of the package's README in Chromium (tests/js/readme_page.mjs)."""
import subprocess
import sys

import engines
import js_env


def main():
    absent = [name for name in engines.missing() if name != "workerd"]
    if absent:
        print(f"skipped: {', '.join(absent)}: tools/setup test installs it")
        sys.exit(js_env.SKIP)
    node, package = js_env.find_node(), js_env.make_package()
    program = js_env.ROOT / "tests/js/readme_page.mjs"
    sys.exit(subprocess.run([node, "--no-warnings", str(program), str(package), str(engines.TOOLS), engines.chromium()],
                            timeout=600).returncode)


if __name__ == "__main__":
    main()
