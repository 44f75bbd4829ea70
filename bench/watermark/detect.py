#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often `piracy detect`, which has no key, flags a column: marked, marked and then changed, and clean.

    bench/watermark/detect.py --bin PATH [--rows 200,500,1000,5000] [--strengths 0.0001,0.001] [--trials N] [--json FILE]

Needs numpy and pyarrow (as survival.py, whose columns and changes it uses). "hidden" is the mark without the bits that show it. Ends
with a failure when less than 99 % of the unchanged marked columns of 1,000 rows or more are flagged, or a clean one in 200 is.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from survival import ATTACKS, Tool, column, read_arrow, write_arrow  # noqa: E402

KINDS = ("normal", "uniform", "lognormal", "f32", "ts")
CHANGES = ("none", "shuffle", "sample50", "csv9", "csv6", "f32", "noise.03s", "noise.1s")


def flagged(tool, v):
    write_arrow(tool.folder / "suspect.arrow", {"x": v})
    return bool(json.loads(tool.run("piracy", "detect", tool.folder / "suspect.arrow", "--json", codes=(0, 1)))["suspicious_columns"])


def marked(tool, v, strength, trial, *options):
    write_arrow(tool.folder / "clean.arrow", {"x": v})
    tool.run("watermark", tool.folder / "clean.arrow", tool.folder / "marked.arrow", "--buyer", "b", "--seller-key",
             tool.folder / "seller", "--dataset-id", trial, "--strength", strength, "--no-registry", "--force", "-q", *options)
    return read_arrow(tool.folder / "marked.arrow")["x"]


def one_trial(tool, kind, n, strength, trial, sums):
    rng = np.random.default_rng([trial, n, int(float(strength) * 1e6), len(kind)])
    v = column(kind, n, rng)
    sums["clean"] += flagged(tool, v)
    copy = marked(tool, v, strength, trial)
    for change in CHANGES:
        sums[change] += flagged(tool, ATTACKS[change]({"x": copy}, float(strength), rng)["x"])
    sums["hidden"] += flagged(tool, marked(tool, v, strength, trial, "--hidden"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--rows", default="200,500,1000,5000")
    parser.add_argument("--strengths", default="0.0001,0.001")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--json")
    args = parser.parse_args()
    results, clean, large, found = {}, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(args.bin, Path(folder))
        tool.run("keygen", "-q", "-o", tool.folder / "seller", "--no-passphrase")
        cells = [(k, s, n) for k in KINDS for s in args.strengths.split(",") for n in map(int, args.rows.split(","))]
        for kind, strength, n in cells:
            sums = dict.fromkeys(("clean", *CHANGES, "hidden"), 0)
            for trial in range(args.trials):
                one_trial(tool, kind, n, strength, trial, sums)
            results[f"{kind} {strength} {n}"] = {k: v / args.trials for k, v in sums.items()}
            print(f"{kind:9} {strength:6} {n:5}  " + "  ".join(f"{k} {v / args.trials:.2f}" for k, v in sums.items()), flush=True)
            clean += sums["clean"]
            large += args.trials * (n >= 1000)
            found += sums["none"] * (n >= 1000)
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=2) + "\n")
    total = len(cells) * args.trials
    print(f"marked, 1,000 rows or more: {found} of {large} flagged; clean: {clean} of {total}")
    return found < 0.99 * large or clean > 0.005 * total


if __name__ == "__main__":
    sys.exit(main())
