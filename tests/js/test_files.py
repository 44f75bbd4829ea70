#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden and hostile files through the WebAssembly modules in Node.js: the values and error names of the native command.

The checks are those of tests/runners/check_files.py; only the tool behind them is another: the npm package, in one process.
"""
import argparse
import base64
import json
import subprocess
import sys
import tempfile

import js_env
from js_env import ROOT, build

sys.path.insert(0, str(ROOT / "tests/runners"))
import check_files  # noqa: E402

NODE = js_env.find_node()


class PackageTool(check_files.Tool):
    """Asks one process of file_tool.mjs instead of starting a command a file."""

    def __init__(self, package, module, tmp):
        super().__init__("node", tmp, 0)
        self.process = subprocess.Popen([NODE, str(ROOT / "tests/js/file_tool.mjs"), str(package), str(module)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, args, timeout):
        print(json.dumps(args), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise check_files.Bad(f"{args[0]}: the process has ended")
        answer = json.loads(line)
        if answer["code"] > 63:
            raise check_files.Bad(f"{args[0]}: {answer['err']}")
        return answer["code"], base64.b64decode(answer["out"]), answer["err"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def check(package, module, what, folder, count):
    options = argparse.Namespace(what=what, dirs=[str(folder)], timeout=120, skip_keys=False, skip_flags=[])
    with tempfile.TemporaryDirectory() as tmp:
        tool = PackageTool(package, build.OUT / module, tmp)
        for path, job in check_files.jobs_of(options):
            try:
                job(tool)
                count["passed"] += 1
            except check_files.Skip:
                count["skipped"] += 1
            except check_files.Bad as error:
                count["failed"] += 1
                print(f"FAIL {module}: {path.rsplit('/', 1)[-1]}: {error}")
        tool.close()


def main():
    package = js_env.make_package()
    count = {"passed": 0, "failed": 0, "skipped": 0}
    check(package, "ald.wasm", "golden", ROOT / "tests/golden/crate-0.2", count)
    check(package, "ald.wasm", "golden", ROOT / "tests/golden/wire-1.3", count)
    check(package, "ald.wasm", "hostile", ROOT / "tests/hostile", count)
    check(package, "ald-reader.wasm", "hostile", ROOT / "tests/hostile", count)
    print(f"note: {count['skipped']} files need what no command can say")
    js_env.finish(count["passed"], count["failed"])


if __name__ == "__main__":
    main()
