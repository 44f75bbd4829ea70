#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The viewer: its own parts in Node.js (tests/js/viewer.mjs), the page in Chromium (tests/js/viewer_page.mjs)."""
import importlib.machinery
import importlib.util
import subprocess

import engines
import js_env
from js_env import ROOT


def viewer_folder():
    """build/viewer, as `make viewer` puts it together"""
    loader = importlib.machinery.SourceFileLoader("viewer", str(ROOT / "tools/viewer"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("viewer", loader))
    loader.exec_module(module)
    module.assemble()
    return module.TARGET


def run(node, *args):
    """-> (passed, failed)"""
    result = subprocess.run([node, "--no-warnings", *map(str, args)], stdout=subprocess.PIPE, text=True, timeout=300)
    lines = result.stdout.splitlines() or ["0 passed, 1 failed"]
    print("\n".join(lines[:-1]))
    words = lines[-1].replace(",", "").split()
    return (int(words[0]), int(words[2])) if len(words) == 4 else (0, 1)


def main():
    node = js_env.find_node()
    passed, failed = run(node, ROOT / "tests/js/viewer.mjs", ROOT / "bindings/viewer")
    absent = [name for name in engines.missing() if name != "workerd"]
    if absent:
        print(f"note: the page was not tried: {', '.join(absent)}: tools/setup test installs it")
    else:
        more = run(node, ROOT / "tests/js/viewer_page.mjs", viewer_folder(), engines.TOOLS, engines.chromium())
        passed, failed = passed + more[0], failed + more[1]
    js_env.finish(passed, failed)


if __name__ == "__main__":
    main()
