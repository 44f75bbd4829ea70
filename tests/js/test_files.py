#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden and hostile files through the WebAssembly modules in Node.js: the values and error names of the native command.

The checks are those of tests/runners/check_files.py; only the tool behind them is another: the npm package, in one process. The
values of golden files are compared twice: as Arrow IPC, and as Column.get gives them.
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


def check_values(package, folder, count):
    """Column.get against the twins."""
    with tempfile.TemporaryDirectory() as tmp:
        tool = PackageTool(package, build.OUT / "ald.wasm", tmp)
        for path, twin_path, _ in check_files.golden_files(str(folder)):
            with open(twin_path, encoding="utf-8") as f:
                twin = json.load(f)
            try:
                keys = dict(check_files.keys_of(twin), ignore_expiry=True)
                if twin.get("expect", "ok") == "ok" and not keys.get("trusted"):
                    keys["any_signer"] = True
                if twin.get("expect", "ok") == "ok":
                    code, out, err = tool.run(["values", path, *tool.key_options(keys, 0)], 0)
                    if code:
                        raise check_files.Bad(err)
                    check_files.compare("row", json.loads(out), [row for batch in twin["batches"] for row in batch])
                    count["passed"] += 1
            except check_files.Skip:
                count["skipped"] += 1
            except check_files.Bad as error:
                count["failed"] += 1
                print(f"FAIL values of {path.rsplit('/', 1)[-1]}: {error}")
        tool.close()


def main():
    package = js_env.make_package()
    count = {"passed": 0, "failed": 0, "skipped": 0}
    check(package, "ald.wasm", "golden", ROOT / "tests/golden/crate-0.2", count)
    check(package, "ald.wasm", "golden", ROOT / "tests/golden/wire-1.3", count)
    check_values(package, ROOT / "tests/golden/wire-1.3", count)
    check(package, "ald.wasm", "hostile", ROOT / "tests/hostile", count)
    check(package, "ald-reader.wasm", "hostile", ROOT / "tests/hostile", count)
    print(f"note: {count['skipped']} files need what no command can say")
    js_env.finish(count["passed"], count["failed"])


if __name__ == "__main__":
    main()
