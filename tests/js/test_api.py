#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The npm package's own functions, in Node.js (tests/js/api.mjs)."""
import subprocess
import sys

import js_env

if __name__ == "__main__":
    node = js_env.find_node()
    package = js_env.make_package()
    program = str(js_env.ROOT / "tests/js/api.mjs")
    sys.exit(subprocess.run([node, "--no-warnings", program, str(package)]).returncode)
