#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loading in Node.js against the native library with one thread: the same zstd files, in one frame and in chunks.

    wasm.py --bin build/…/alimentar --bench-file build/…/bench_file [--megabytes 100] [--rounds 5] [--dir FOLDER] [--json FILE]

CPU seconds (user + system). `first` is the first load of a process, the engine's compilation included; `later` the median of
those after it. The native loads are each the first of a process. --megabytes is the size of the files.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/js"))
import js_env  # noqa: E402  (Node.js and the package)

BYTES_A_ROW = 20.4  # compressed
LEAST = 0.5  # of the native speed


def write_rows(path, megabytes):
    chance, n = np.random.default_rng(1), int(megabytes * 1e6 / BYTES_A_ROW)
    words = np.array([f"word-{i}" for i in range(5000)])
    table = pa.table({
        "id": np.arange(n), "x": chance.normal(size=n), "price": np.round(chance.lognormal(3, 1, n), 2),
        "qty": chance.integers(0, 500, n).astype("int32"), "word": words[chance.integers(0, 5000, n)],
        "when": pa.array(np.cumsum(chance.integers(0, 1000, n)), pa.timestamp("us")),
    })
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{command[0]}: {result.stderr}")
    return result.stdout


def measure(args, node, package, path):
    native = [json.loads(run(args.bench_file, "load", path, 1))["cpu"] for _ in range(args.rounds)]
    rounds = json.loads(run(node, "--no-warnings", Path(__file__).with_name("wasm_load.mjs"), package, path, args.rounds + 1))
    first, *later = [each["cpu"] for each in rounds]
    out = {"bytes": path.stat().st_size, "native": statistics.median(native), "first": first, "later": statistics.median(later)}
    return {**out, "share_first": out["native"] / first, "share_later": out["native"] / out["later"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--bench-file", required=True)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dir")
    parser.add_argument("--json")
    args = parser.parse_args()
    node, package = js_env.find_node(), js_env.make_package()
    results = {}
    with tempfile.TemporaryDirectory(dir=args.dir) as tmp:
        source = Path(tmp) / "rows.arrows"
        write_rows(source, args.megabytes)
        for name, option in (("one frame", "--no-streaming"), ("chunks", "--streaming")):
            path = Path(tmp) / f"{option[2:]}.ald"
            run(args.bin, "convert", "-q", source, path, "--compression", "zstd-l3", option)
            results[name] = measure(args, node, package, path)
    print("| zstd file | MB | native, s | Node.js first, s | later, s | share of native speed, first | later |\n|---|---|---|---|---|---|---|")
    for name, r in results.items():
        print(f"| {name} | {r['bytes'] / 1e6:.0f} | {r['native']:.2f} | {r['first']:.2f} | {r['later']:.2f} "
              f"| {r['share_first']:.2f} | {r['share_later']:.2f} |")
    print(f"\nWanted: {LEAST} of the native speed.")
    if args.json:
        Path(args.json).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
