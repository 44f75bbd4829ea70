#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The viewer's own parts, in Node.js (tests/js/viewer.mjs)."""
import subprocess
import sys

import js_env

if __name__ == "__main__":
    program, viewer = js_env.ROOT / "tests/js/viewer.mjs", js_env.ROOT / "bindings/viewer"
    sys.exit(subprocess.run([js_env.find_node(), "--no-warnings", str(program), str(viewer)]).returncode)
