#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often a mark is read after what a leak goes through, with the command and real files.

    bench/watermark/survival.py --bin PATH [--sets 3,normal] [--rows 1000,5000] [--strengths 0.001] [--attacks a,b] [--trials N]
                                [--promised] [--json FILE]

Needs numpy and pyarrow, and takes pandas where it is there. A set is made from a seed, marked as an Arrow file with a key of its
own, attacked, and written in one of several formats in turns (CSV, JSON Lines and Parquet through `convert`, by pyarrow and by
pandas; an Arrow file): so the formats are part of each attack. Then `piracy extract` reads it: blind, with the key alone; and
with a registry of the buyer and nine others.

--promised runs the six rows that docs/WATERMARK.md promises something for, with 5,000 rows of 3 columns, and fails when one of
them is not kept. Each cell: read blind % / found in the registry %. A buyer that is wrong ends the run.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

try:
    import pandas as pd
except ImportError:
    pd = None

PROMISED = {"sample50": 99, "col1": 95, "csv": 99, "noise.1s": 90, "round/2": 85, "shuffle": 100}


def column(kind, n, rng):
    if kind == "normal":
        return rng.normal(size=n)
    if kind == "price":
        return np.round(np.exp(3.5 + rng.normal(size=n)), 2)
    if kind == "uniform":
        return rng.uniform(0, 1000, n)
    if kind == "intf":
        return np.floor(np.exp(9 + 1.2 * rng.normal(size=n)))
    if kind == "f32":
        return (0.05 * rng.normal(size=n)).astype(np.float32)
    if kind == "n50":
        return rng.normal(50, 10, n)
    if kind == "lognormal":
        return np.exp(3 + 1.5 * rng.normal(size=n))
    return np.floor(1.6e9 + rng.uniform(0, 3e7, n))


SETS = {"normal": ["normal"], "price": ["price"], "intf": ["intf"], "f32": ["f32"], "3": ["normal", "price", "uniform"],
        "8": ["normal", "n50", "price", "uniform", "intf", "f32", "lognormal", "ts"]}


def each(change):
    return lambda t, s, rng: {k: change(np.asarray(v, float), s, rng) for k, v in t.items()}


def rows(choose):
    def attack(t, s, rng):
        keep = choose(len(next(iter(t.values()))), rng)
        return {k: v[keep] for k, v in t.items()}
    return attack


def noise(of_strength=None, of_std=None):
    return each(lambda v, s, rng: v + rng.normal(0, (of_std or of_strength * s) * v.std(), len(v)))


def rounding(part):
    def change(v, s, rng):
        q = 10.0 ** np.floor(np.log10(s * v.std() / part))
        return np.round(v / q) * q
    return each(change)


def digits(n):
    return each(lambda v, s, rng: np.array([float(f"{x:.{n}g}") for x in v]))


def low_bits(count, random):
    def change(v, s, rng):
        bits = v.copy().view(np.uint64)
        mask = np.uint64((1 << count) - 1)
        return ((bits & ~mask) | (rng.integers(0, 1 << count, len(v), dtype=np.uint64) if random else np.uint64(0))).view(float)
    return each(change)


def sample(share):
    return rows(lambda n, rng: np.sort(rng.choice(n, max(1, int(n * share)), replace=False)))


def columns(count):
    def attack(t, s, rng):
        n = (len(t) + 1) // 2 if count == 0 else 1
        keep = rng.choice(list(t), n, replace=False)
        return {f"renamed {i}": t[k] for i, k in enumerate(keep)}
    return attack


def mixed(t, s, rng):
    return {k: np.concatenate([v, column(k.split("_")[1], len(v), rng).astype(v.dtype)]) for k, v in t.items()}


def top(t, s, rng):
    first = next(iter(t.values()))
    keep = first > np.quantile(first, 0.75)
    return {k: v[keep] for k, v in t.items()}


def chain(*attacks):
    def attack(t, s, rng):
        for a in attacks:
            t = a(t, s, rng)
        return t
    return attack


SHUFFLE = rows(lambda n, rng: rng.permutation(n))
COMBO = chain(sample(0.5), SHUFFLE, columns(0), digits(9))
ATTACKS = {
    "none": lambda t, s, rng: t, "csv": lambda t, s, rng: t, "shuffle": SHUFFLE, "sample50": sample(0.5), "sample10": sample(0.1),
    "colhalf": columns(0), "col1": columns(1), "csv17": digits(17), "csv15": digits(15), "csv9": digits(9), "csv7": digits(7),
    "csv6": digits(6), "sig5": digits(5), "sig4": digits(4), "sig3": digits(3), "f32": each(lambda v, s, rng: v.astype(np.float32)),
    "lsb0x8": low_bits(8, False), "lsb0x24": low_bits(24, False), "lsbrndx32": low_bits(32, True), "round/10": rounding(10),
    "round/2": rounding(2), "noise1e-6": noise(of_std=1e-6), "noise1e-5": noise(of_std=1e-5), "noise1e-4": noise(of_std=1e-4),
    "noise3e-4": noise(of_std=3e-4), "noise1e-3": noise(of_std=1e-3), "noise.03s": noise(0.03), "noise.1s": noise(0.1),
    "noise.2s": noise(0.2), "noise.3s": noise(0.3), "noise.5s": noise(0.5), "noise1s": noise(1), "top25": top, "mix50": mixed,
    "combo": COMBO, "combo+.05s": chain(COMBO, noise(0.05)),
}
WAYS = ["csv", "pandas csv", "jsonl", "pyarrow parquet", "parquet", "pyarrow csv", "pandas jsonl", "arrow", "pandas parquet"]


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def run(self, *args, codes=(0,)):
        result = subprocess.run([self.path, *map(str, args)], capture_output=True, text=True)
        if result.returncode not in codes or result.returncode != 0 and not result.stdout:
            raise SystemExit(f"{args}: exit {result.returncode}: {result.stderr}")
        return result.stdout


    def drop_parquet_if_missing(self, start):
        result = subprocess.run([self.path, "convert", start, self.folder / "try.parquet"], capture_output=True)
        if result.returncode != 0:
            print("without Parquet, which this build does not read")
            WAYS[:] = [w for w in WAYS if not w.endswith("parquet")]


def write_arrow(path, table):
    t = pa.table({k: pa.array(v) for k, v in table.items()})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, t.schema) as writer:
        writer.write_table(t)


def read_arrow(path):
    with pa.memory_map(str(path)) as source:
        t = pa.ipc.open_file(source).read_all()
        return {name: t.column(i).to_numpy() for i, name in enumerate(t.column_names)}


def write_foreign(path, table, way):
    frame = pa.table({k: pa.array(v) for k, v in table.items()})
    if pd is not None and way.startswith("pandas"):
        data = pd.DataFrame(table)
        if way == "pandas csv":
            data.to_csv(path, index=False)
        elif way == "pandas jsonl":
            data.to_json(path, orient="records", lines=True, double_precision=15)
        else:
            data.to_parquet(path)
    elif way.endswith("csv"):
        pyarrow.csv.write_csv(frame, str(path))
    elif way.endswith("parquet"):
        pyarrow.parquet.write_table(frame, str(path))
    else:
        return False
    return True


def write_leak(tool, table, way):
    """One of the formats -> the file"""
    arrow = tool.folder / "leak.arrow"
    path = tool.folder / f"leak.{way.split()[-1]}"
    if " " in way and write_foreign(path, table, way):
        return path
    write_arrow(arrow, table)
    if way != "arrow":
        tool.run("convert", arrow, path, "--force", "-q")
    return path


def marked_set(tool, kinds, n, strength, seed):
    """The same for every attack. Each has a key of its own: how two lattices lie to each other is part of chance."""
    rng = np.random.default_rng([seed, n, int(float(strength) * 1e6)])
    table = {f"{i}_{k}": column(k, n, rng) for i, k in enumerate(kinds)}
    clean, marked = tool.folder / "clean.arrow", tool.folder / "marked.arrow"
    write_arrow(clean, table)
    tool.run("watermark", clean, marked, "--buyer", f"b{seed % 10}", "--seller-key", tool.folder / "seller", "--strength", strength,
             "--dataset-id", seed, "--no-registry", "--force", "-q")
    return read_arrow(marked)


def trial(tool, sets, attack, n, strength, seed, way):
    """-> (read blind, found in the registry)"""
    rng = np.random.default_rng([seed, n, int(float(strength) * 1e6), sum(attack.encode())])
    leak = write_leak(tool, ATTACKS[attack](sets[seed], float(strength), rng), way)
    out = json.loads(tool.run("piracy", "extract", leak, "--seller-key", tool.folder / "seller", "--dataset-id", seed, "--buyers",
                              tool.folder / "registry", "--json", codes=(0, 1)))
    buyer = f"b{seed % 10}"
    if out["found"] and out["buyer"] != buyer or any(c["buyer"] != buyer for c in out["confirmed"]):
        raise SystemExit(f"a wrong buyer: {n} {strength} {attack} {seed}: {out}")
    return out["method"] == "blind", bool(out["confirmed"])


def cell(tool, sets, attack, n, strength):
    blind = listed = 0
    for i in range(len(sets)):
        b, v = trial(tool, sets, attack, n, strength, i, "csv" if attack == "csv" else WAYS[i % len(WAYS)])
        blind, listed = blind + b, listed + v
    return round(100 * blind / len(sets)), round(100 * listed / len(sets))


def one_set(tool, name, strength, args, results):
    """Prints a line for each attack; -> the promises that are not kept"""
    sizes = list(map(int, args.rows.split(",")))
    sets = {n: [marked_set(tool, SETS[name], n, strength, seed) for seed in range(args.trials)] for n in sizes}
    broken = []
    print(f"== set {name} strength {strength}: read blind % / in the registry %, {args.trials} trials", flush=True)
    for attack in args.attacks.split(","):
        line = f"{attack:12}"
        for n in sizes:
            got = cell(tool, sets[n], attack, n, strength)
            results[f"{name} {strength} {attack} {n}"] = got
            line += f"  {n}: {got[0]:3d}/{got[1]:3d}"
            if args.promised and got[0] < PROMISED[attack]:
                broken.append(f"{attack}: {got[0]} %, promised {PROMISED[attack]} %")
        print(line, flush=True)
    return broken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--sets", default="3")
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--strengths", default="0.001")
    parser.add_argument("--attacks", default=",".join(ATTACKS))
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--promised", action="store_true")
    parser.add_argument("--json")
    args = parser.parse_args()
    results, broken = {}, []
    if args.promised:
        args.sets, args.rows, args.attacks = "3", "5000", ",".join(PROMISED)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(args.bin, Path(folder))
        tool.run("keygen", "-q", "-o", tool.folder / "seller", "--no-passphrase")
        start = tool.folder / "start.csv"
        start.write_text("x\n" + "\n".join(repr(float(v)) for v in np.random.default_rng(2).normal(size=500)))
        for i in range(10):
            tool.run("watermark", start, tool.folder / "copy.csv", "--buyer", f"b{i}", "--seller-key", tool.folder / "seller",
                     "--registry", tool.folder / "registry", "--force")
        tool.drop_parquet_if_missing(start)
        for name in args.sets.split(","):
            for strength in args.strengths.split(","):
                broken += one_set(tool, name, strength, args, results)
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=2) + "\n")
    if args.promised:
        print("\n".join(broken) or "all promises are kept")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
