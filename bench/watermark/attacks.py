#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What somebody who knows the method, or several buyers together, can do to a mark; measured, whatever comes out.

    bench/watermark/attacks.py --bin PATH [--rows 1000,5000] [--trials N] [--json FILE]

Needs numpy and pyarrow (as survival.py, whose sets and files it uses). Every trial has keys of its own.

- collusion of 2, 3 and 5 buyers: the average of their copies, as it is and with the decimals that the columns had; one of them
  cell by cell; least or greatest by cell. Shares of trials: a colluder is read blind; all are in the registry's list; one is; somebody else is (which ends the run);
- overwriting: the marked copy is marked again with another seller's key;
- informed erasure: the lattice is fitted without the key, and every value moved to the nearest edge between two bits; or, without
  looking for a lattice, every value moved by a quarter of a cell, up or down; beside them Gaussian noise of the same size;
- unit conversion, without and with --affine.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from survival import SETS, Tool, column, read_arrow, write_arrow  # noqa: E402

BUYERS = [f"b{i}" for i in range(10)]
STRENGTH = "0.001"


class Bench:
    def __init__(self, path, folder):
        self.tool, self.folder = Tool(path, folder), folder
        for name in ("seller", "other"):
            self.tool.run("keygen", "-q", "-o", folder / name, "--no-passphrase")
        start = folder / "start.csv"
        start.write_text("x\n" + "\n".join(repr(float(v)) for v in np.random.default_rng(2).normal(size=500)))
        for b in BUYERS:
            self.tool.run("watermark", start, folder / "copy.csv", "--buyer", b, "--seller-key", folder / "seller", "--registry",
                          folder / "registry", "--force")

    def mark(self, table, buyer, trial, key="seller"):
        write_arrow(self.folder / "clean.arrow", table)
        self.tool.run("watermark", self.folder / "clean.arrow", self.folder / "marked.arrow", "--buyer", buyer, "--seller-key",
                      self.folder / key, "--dataset-id", trial, "--strength", STRENGTH, "--no-registry", "--force", "-q")
        return read_arrow(self.folder / "marked.arrow")

    def look(self, table, trial, *options, key="seller"):
        """-> (buyer read blind or None, those confirmed by the registry)"""
        write_arrow(self.folder / "leak.arrow", table)
        out = json.loads(self.tool.run("piracy", "extract", self.folder / "leak.arrow", "--seller-key", self.folder / key,
                                       "--dataset-id", trial, "--buyers", self.folder / "registry", "--json", *options,
                                       codes=(0, 1)))
        blind = (out["buyer"] or "?") if out["method"] == "blind" else None
        return blind, {c["buyer"] for c in out["confirmed"]}


def make(name, n, seed):
    rng = np.random.default_rng([seed, n])
    return {f"{i}_{k}": column(k, n, rng) for i, k in enumerate(SETS[name])}, rng


def combine(copies, how, rng):
    out = {}
    for name in copies[0]:
        stack = np.stack([c[name] for c in copies])
        rows = np.arange(stack.shape[1])
        if how.startswith("average"):
            out[name] = stack.mean(axis=0)
            if how == "average, rounded" and name.endswith("price"):
                out[name] = np.round(out[name], 2)
        elif how == "cells":
            out[name] = stack[rng.integers(0, len(copies), len(rows)), rows]
        else:
            out[name] = np.where(rng.integers(0, 2, len(rows)) == 0, stack.min(axis=0), stack.max(axis=0))
    return out


def collusion(bench, n, trials, results):
    for count in (2, 3, 5):
        for how in ("average", "average, rounded", "cells", "minmax"):
            blind = every = some = 0
            for seed in range(trials):
                table, rng = make("3", n, seed)
                guilty = BUYERS[:count]
                got, listed = bench.look(combine([bench.mark(table, b, seed) for b in guilty], how, rng), seed)
                if (got is not None and got not in guilty) or not listed <= set(guilty):
                    raise SystemExit(f"an innocent buyer: {how} {count} {n} {seed}: {got} {listed}")
                blind += got is not None
                every += listed == set(guilty)
                some += bool(listed)
            say(results, f"{count} buyers, {how}, {n} rows: one read blind %, all listed %, one listed %", trials, blind, every,
                some)


def overwriting(bench, name, n, trials, results):
    blind = listed = second = 0
    for seed in range(trials):
        table, _ = make(name, n, seed)
        twice = bench.mark(bench.mark(table, "b1", seed), "b2", seed, "other")
        got, confirmed = bench.look(twice, seed)
        blind += got == "b1"
        listed += confirmed == {"b1"}
        second += bench.look(twice, seed, key="other")[0] is not None
    say(results, f"marked over, set {name}, {n} rows: first blind %, first listed %, second blind %", trials, blind, listed, second)


def exponents(v):
    spread = np.subtract(*np.quantile(v, [0.75, 0.25]))
    return np.minimum(np.floor(np.log2(np.abs(v))), np.floor(np.log2(spread)))


def to_edges(v, k, rng):
    """Every value to the nearest edge between two bits of plane k, as fitted from the values themselves."""
    a, e = np.abs(v), exponents(v)
    out = a.copy()
    for one in np.unique(e):
        at = e == one
        t = a[at] * 2.0 ** (k - one)
        middle = np.angle(np.exp(4j * np.pi * t).mean()) / (4 * np.pi)   # of the half cells
        edge = np.round((t - middle) * 2 - 0.5) / 2 + 0.25 + middle
        out[at] = edge * 2.0 ** (one - k)
    return np.sign(v) * out


def by_steps(v, k, rng):
    return v + rng.choice([-0.25, 0.25], len(v)) * 2.0 ** (exponents(v) - k)


def erasure(bench, n, trials, results):
    for what, erase in (("erased at the edges", to_edges), ("moved by quarters of a cell", by_steps)):
        sums = np.zeros(4, int)
        size = []
        for seed in range(trials):
            table, rng = make("normal", n, seed)
            marked = bench.mark(table, "b1", seed)
            v = next(iter(marked.values()))
            moved = erase(v, 10, rng)
            size.append(np.sqrt(np.mean((moved - v) ** 2)) / v.std())
            for i, copy in enumerate((moved, v + rng.normal(0, size[-1] * v.std(), n))):
                got, confirmed = bench.look({"x": copy}, seed)
                sums[2 * i] += got == "b1"
                sums[2 * i + 1] += confirmed == {"b1"}
        say(results, f"{what} ({np.mean(size):.1e} of the deviation), {n} rows: blind %, listed %; noise of that size: "
            "blind %, listed %", trials, *sums)


def conversion(bench, n, trials, results):
    for factor, offset in ((2.54, 0), (0.45359237, 0), (1.8, 32), (0.01, 0)):
        without = with_hint = 0
        for seed in range(trials):
            table, _ = make("3", n, seed)
            copy = {k: v * factor + offset for k, v in bench.mark(table, "b1", seed).items()}
            without += bench.look(copy, seed)[0] == "b1"
            with_hint += bench.look(copy, seed, "--affine", f"{factor},{offset}")[0] == "b1"
        say(results, f"x {factor} + {offset}, {n} rows: blind %, with --affine %", trials, without, with_hint)


def say(results, what, trials, *counts):
    results[what] = [round(100 * int(c) / trials) for c in counts]
    print(f"{what}: {'  '.join(map(str, results[what]))}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--json")
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args.bin, Path(folder))
        for n in map(int, args.rows.split(",")):
            for name in ("normal", "3"):
                overwriting(bench, name, n, args.trials, results)
            erasure(bench, n, args.trials, results)
            collusion(bench, n, args.trials, results)
        conversion(bench, 2000, args.trials, results)
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
