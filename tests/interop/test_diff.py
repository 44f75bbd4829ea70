#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`alimentar diff` against a comparison in Python.

    test_diff.py --bin PATH

types     tables of every type: no difference to themselves, however stored, and to a copy with changed rows the ones changed
hash      tables of one schema are the same for diff when they are for hash
key       shuffled rows, with changes, additions and removals, small and beyond what is held in memory
numbers   integers, floats and decimals of different types, and tolerances

A line for each failure, `N passed, N failed` as the last. Exits 77 when a package is absent.
"""
import decimal
import json
import struct
import subprocess
import sys

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    from test_ipc import ROWS, Failed, all_columns, batch_of, run, run_checks, write
except ModuleNotFoundError as e:
    print(f"skipped: {e}")
    sys.exit(77)

from parquet_tools import has_module


def diff(bin_path, a, b, *options):
    """-> (exit status, what --json says)"""
    done = subprocess.run([bin_path, "diff", "--json", "--quiet", str(a), str(b), *map(str, options)], capture_output=True,
                          text=True, timeout=300)
    if done.returncode not in (0, 1):
        raise Failed(f"diff {a} {b} {options}: exit {done.returncode}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    if found["same"] != (done.returncode == 0):
        raise Failed(f"diff {a} {b}: exit {done.returncode} and same {found['same']}")
    return done.returncode, found


def put(folder, name, table):
    path = folder / f"{name}.arrows"
    write(path, table.schema, table.to_batches())
    return path


def expect(name, got, want):
    return None if got == want else f"{name}: {got}, wanted {want}"


def check_types(bin_path, folder, rng):
    columns, _ = all_columns(rng)
    batch = batch_of(columns)
    a = folder / "a.arrow"
    write(a, batch.schema, [batch.slice(0, 100), batch.slice(100)])
    ways = [["a.arrows"], ["a.ald", "--compression", "packed", "--chunk-rows", "70"], ["a.ald", "--aligned", "--streaming"]]
    for name, *options in ways:
        b = folder / name
        run(bin_path, "convert", a, b, "--force", "--quiet", *options)
        yield expect(f"types: {name} {options}", diff(bin_path, a, b)[1]["same"], True)
    # Rows 40 to 59 are taken from elsewhere; text is how the oracle tells values apart.
    order = [i if not 40 <= i < 60 else (i * 7) % ROWS for i in range(ROWS)]
    moved = {name: pa.concat_arrays([column.slice(0, 40), *[column.slice(i, 1) for i in order[40:60]], column.slice(60)])
             for name, column in columns.items() if name != "runs"}
    few = batch_of({name: columns[name] for name in moved})
    x, y = folder / "x.arrows", folder / "y.arrows"
    write(x, few.schema, [few])
    other = batch_of(moved)
    write(y, other.schema, [other.slice(0, 55), other.slice(55)])
    _, found = diff(bin_path, x, y, "--limit", 1000)
    got = {c["name"]: [e["row"] for e in c["examples"]] for c in found["columns"]}
    for name, column in moved.items():
        before, after = columns[name].to_pylist(), column.to_pylist()
        want = [i for i in range(ROWS) if str(before[i]) != str(after[i])]
        yield expect(f"types: rows of {name} ({column.type})", got.get(name, []), want)
    yield expect("types: schema", found["schema"], [])


def check_hash(bin_path, folder, rng):
    """Small tables that differ little, pair by pair."""
    nan = [struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in (0x7FF8000000000000, 0x7FF8000000000001)]
    pool = [(pa.float64(), [0.0, -0.0, *nan, None]), (pa.int8(), [0, 1, None]), (pa.string(), ["", "a", None]),
            (pa.list_(pa.string()), [[], ["a"], ["a", None], None]), (pa.decimal128(5, 2), [decimal.Decimal(1), None]),
            (pa.bool_(), [True, False, None]), (pa.timestamp("ms", "UTC"), [0, 1, None])]
    kinds = [kind for kind, _ in pool]
    tables = []
    for _ in range(14):
        rows = int(rng.integers(1, 3))
        tables.append(pa.table({str(k): pa.array([v[int(i)] for i in rng.integers(0, len(v), rows)], t)
                                for k, (t, v) in enumerate(pool[:int(rng.integers(1, 3)) + 1])}))
    single = [pa.table({"c": pa.array([value], kind)}) for kind, values in pool for value in values]
    for group in (tables, single):
        paths = [put(folder, f"h{i}", table) for i, table in enumerate(group)]
        hashes = [line[:64] for line in run(bin_path, "hash", *paths).splitlines()]
        for i, a in enumerate(paths):
            for j, b in enumerate(paths[:i + 1]):
                if group[i].schema != group[j].schema:
                    continue
                same = diff(bin_path, a, b)[1]["same"]
                yield expect(f"hash: {group[i].to_pydict()} and {group[j].to_pydict()}", same, hashes[i] == hashes[j])
    yield expect("hash: kinds", len(kinds), len(pool))


def keyed_tables(rng, rows):
    table = pa.table({"id": pa.array(np.arange(rows) * 3), "part": pa.array([f"p{i % 5}" for i in range(rows)]),
                      "value": pa.array(rng.random(rows)), "text": pa.array([None if i % 11 == 0 else f"text {i}" for i in range(rows)])})
    order = rng.permutation(rows)
    gone, changed = order[:4], sorted(order[4:30].tolist())
    values = table["value"].to_numpy().copy()
    values[changed] += 1
    texts = table["text"].to_pylist()
    for i in changed[::2]:
        texts[i] = "" if i % 11 == 0 else None
    other = table.set_column(2, "value", pa.array(values)).set_column(3, "text", pa.array(texts, pa.string()))
    other = other.take(pa.array(rng.permutation(rows)))
    other = other.filter(pc.invert(pc.is_in(other["id"], pa.array(gone * 3))))
    more = pa.table({"id": [-1, -2], "part": ["new", "new"], "value": [0.5, 0.25], "text": ["x", None]})
    return table, pa.concat_tables([more, other]), sorted(gone.tolist()), changed


def check_key(bin_path, folder, rng):
    for rows in (50, 3000, 700_000):
        a, b, gone, changed = keyed_tables(rng, rows)
        paths = put(folder, "ka", a), put(folder, "kb", b.cast(pa.schema([("id", pa.int32()), *list(b.schema)[1:]])))
        _, found = diff(bin_path, *paths, "--key", "id,part", "--limit", 30)
        yield expect(f"key: rows of {rows}", found["rows"], {"a": rows, "b": rows - 2, "changed": 26, "removed": 4, "added": 2})
        yield expect(f"key: removed of {rows}", [r["key"] for r in found["removed"]], [[str(i * 3), f"p{i % 5}"] for i in gone])
        yield expect(f"key: added to {rows}", [r["key"] for r in found["added"]], [["-1", "new"], ["-2", "new"]])
        columns = {c["name"]: [e["a_row"] for e in c["examples"]] for c in found["columns"]}
        yield expect(f"key: changed of {rows}", columns, {"value": changed, "text": changed[::2]})
        yield expect(f"key: types of {rows}", [f["kind"] for f in found["schema"]], ["type"])
        ids = b["id"].to_pylist()
        places = {e["a_row"]: ids[e["b_row"]] for c in found["columns"] for e in c["examples"]}
        yield expect(f"key: places of {rows}", [places[i] for i in changed], [i * 3 for i in changed])
    twice = pa.concat_tables([a.slice(0, 10), a.slice(5, 1)])
    done = subprocess.run([bin_path, "diff", put(folder, "twice", twice), paths[0], "--key", "id"], capture_output=True, text=True)
    yield expect("key: twice", (done.returncode, "rows 5 and 10 have the same key: 15" in done.stderr), (2, True))


def check_numbers(bin_path, folder, _rng):
    def same(x, y, *options):
        found = diff(bin_path, put(folder, "x", pa.table({"c": x})), put(folder, "y", pa.table({"c": y})), "--values-only", *options)
        return [e["row"] for c in found[1]["columns"] for e in c["examples"]]
    ints = pa.array([0, -1, 2**53, 2**53 + 1, None])
    yield expect("numbers: int64 and uint64", same(pa.array([1, 2]), pa.array([1, 3], pa.uint64())), [1])
    yield expect("numbers: above int64", same(pa.array([2**63, 2**64 - 1], pa.uint64()), pa.array([-2**63, -1])), [0, 1])
    yield expect("numbers: int64 and double", same(ints, pa.array([0.0, -1.0, 2.0**53, 2.0**53, None])), [3])
    yield expect("numbers: double and int64", same(pa.array([0.5, float("nan"), 1e300]), pa.array([0, 0, 0])), [0, 1, 2])
    yield expect("numbers: float and double", same(pa.array([0.5, 0.1], pa.float32()), pa.array([0.5, 0.1])), [1])
    yield expect("numbers: decimals", same(pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.01")]),
                                           pa.array([decimal.Decimal("1.500"), decimal.Decimal("2.011")])), [1])
    yield expect("numbers: decimal and int", same(pa.array([decimal.Decimal("15.00"), decimal.Decimal("-0.50")]), pa.array([15, 0])), [1])
    yield expect("numbers: text and int", same(pa.array(["1", "01"]), pa.array([1, 1])), [1])
    yield expect("numbers: times", same(pa.array([0, 1500], pa.timestamp("ms")), pa.array([0, 1500000001], pa.timestamp("ns"))), [1])
    floats = pa.array([1.0, 0.0, float("nan"), float("inf"), float("inf"), 1e9])
    near = pa.array([1.0 + 1e-10, -0.0, -float("nan"), float("inf"), -float("inf"), 1e9 + 1])
    yield expect("numbers: bits", same(floats, near), [0, 1, 2, 4, 5])
    yield expect("numbers: absolute", same(floats, near, "--tolerance", "1e-9"), [4, 5])
    yield expect("numbers: relative", same(floats, near, "--relative", "1e-8"), [4])
    yield expect("numbers: tolerance 0", same(floats, near, "--tolerance", "0"), [0, 4, 5])
    single = pa.table({"f": pa.array([0.1, 2.5, None], pa.float32()), "d": pa.array([1, 2, 3], pa.int16())})
    path = put(folder, "single", single)
    run(bin_path, "convert", path, folder / "single.csv", "--force", "--quiet")
    yield expect("numbers: floats in CSV", diff(bin_path, path, folder / "single.csv")[1]["same"], True)
    if has_module(bin_path):
        run(bin_path, "convert", path, folder / "single.parquet", "--force", "--quiet")
        yield expect("numbers: Parquet and CSV", diff(bin_path, folder / "single.parquet", folder / "single.csv")[1]["same"], True)


def main():
    return run_checks((check_types, check_hash, check_key, check_numbers), ROWS)


if __name__ == "__main__":
    sys.exit(main())
