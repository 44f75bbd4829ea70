#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrow IPC against other implementations: pyarrow, Polars and DuckDB read what the command writes.

    test_ipc.py --bin PATH

types    `schema --json` prints every type as pyarrow does, and `--schema` reads it
pyarrow  every Arrow type, whole, sliced, in lists and structs, as file and stream, with each compression: equal, valid
deltas   batches with different dictionaries become one dictionary in a file, replaced ones in a stream
polars, duckdb   the types that they know, with each compression

A line for each failure, `N passed, N failed` as the last. Exits 77 when a package is absent.
"""
import argparse
import decimal
import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import duckdb
    import numpy as np
    import polars as pl
    import pyarrow as pa
    import pyarrow.ipc as ipc
except ModuleNotFoundError as e:
    print(f"skipped: {e}")
    sys.exit(77)

ROWS = 500
COMPRESSIONS = ("none", "zstd", "lz4")


class Failed(Exception):
    pass


def run(bin_path, *args):
    done = subprocess.run([bin_path, *map(str, args)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, args))}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def write(path, schema, batches):
    new = ipc.new_file if path.suffix == ".arrow" else ipc.new_stream
    options = ipc.IpcWriteOptions(emit_dictionary_deltas=False, unify_dictionaries=path.suffix == ".arrow")
    with pa.OSFile(str(path), "wb") as sink, new(sink, schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)


def read(path):
    opened = ipc.open_file if path.suffix == ".arrow" else ipc.open_stream
    with pa.OSFile(str(path)) as source:
        return opened(source).read_all()


def same(want, got):
    if not got.schema.equals(want.schema, check_metadata=True):
        raise Failed(f"schema is\n{got.schema}\nwanted\n{want.schema}")
    got.validate(full=True)
    for i, field in enumerate(want.schema):
        a, b = want.column(i), got.column(i)
        if not a.equals(b) and str(a.to_pylist()) != str(b.to_pylist()):
            raise Failed(f"column {field.name} ({field.type}) differs")


def flat_columns(rng):
    """One column of each type without children, with nulls and with text of every length."""
    mask = rng.random(ROWS) < 0.3
    n = np.arange(ROWS)
    texts = [None if m else "\u20ac" * (int(k) % 7) + "x" * int(k) for m, k in zip(mask, rng.integers(0, 40, ROWS))]
    raw = [None if t is None else t.encode() for t in texts]
    columns = {"null": pa.nulls(ROWS), "bool": pa.array(n % 3 == 0, mask=mask)}
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"):
        columns[name] = pa.array((n % 120).astype(name), mask=mask)
    for t in (pa.string(), pa.large_string(), pa.string_view()):
        columns[str(t)] = pa.array(texts, t)
    for t in (pa.binary(), pa.large_binary(), pa.binary_view()):
        columns[str(t)] = pa.array(raw, t)
    columns["fixed"] = pa.array([None if m else bytes([i % 256] * 5) for i, m in enumerate(mask)], pa.binary(5))
    for t in (pa.decimal32(9, 2), pa.decimal64(18, 3), pa.decimal128(38, -2), pa.decimal256(76, 10)):
        columns[str(t)] = pa.array([None if m else decimal.Decimal(i * 100) for i, m in enumerate(mask)], t)
    ints = pa.array(n * 1000, pa.int64(), mask=mask)
    for t in (pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("us", "+05:30"),
              pa.timestamp("ns", "Europe/Berlin"), pa.duration("s"), pa.duration("ms"), pa.duration("us"),
              pa.duration("ns"), pa.time64("us"), pa.time64("ns")):
        columns[str(t)] = ints.cast(t)
    columns["date64"] = pa.array(n * 86400000, pa.int64()).cast(pa.date64())
    for t in (pa.date32(), pa.time32("s"), pa.time32("ms")):
        columns[str(t)] = pa.array(n, pa.int32(), mask=mask).cast(t)
    columns["interval"] = pa.array([None if m else pa.MonthDayNano([1, 2, i]) for i, m in enumerate(mask)])
    return columns, mask, texts


def all_columns(rng):
    columns, mask, texts = flat_columns(rng)
    lists = [None if m else [None if (k + j) % 5 == 0 else j for j in range(k)]
             for m, k in zip(mask, rng.integers(0, 6, ROWS).tolist())]
    for make in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view):
        columns[str(make(pa.int32()))] = pa.array(lists, make(pa.int32()))
    columns["fixed list"] = pa.array([None if m else [i, None, 3] for i, m in enumerate(mask)], pa.list_(pa.int32(), 3))
    kind = pa.struct([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.list_(pa.string()))])
    columns["struct"] = pa.array([None if m else {"a": i, "b": [str(i)] * (i % 3)} for i, m in enumerate(mask)], kind)
    columns["map"] = pa.array([None if m else [(f"k{j}", j) for j in range(i % 4)] for i, m in enumerate(mask)],
                              pa.map_(pa.string(), pa.int64()))
    words = pa.array(texts).dictionary_encode()
    columns["dictionary"] = words
    columns["ordered"] = pa.DictionaryArray.from_arrays(words.indices.cast(pa.uint16()), words.dictionary, ordered=True)
    inner = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2], pa.int8()), pa.array(["p", "q", "r"]))
    columns["nested dictionary"] = pa.DictionaryArray.from_arrays(
        pa.array(np.arange(ROWS) % 3, pa.int32()), pa.StructArray.from_arrays([inner, pa.array([1, 2, 3, 4])], ["x", "y"]))
    columns["runs"] = pa.RunEndEncodedArray.from_arrays(pa.array([10, 20, 300, ROWS], pa.int16()),
                                                        pa.array(["a", None, "b", "c"]))
    types = pa.array(np.arange(ROWS) % 2, pa.int8())
    sides = [pa.array(np.arange(ROWS)), pa.array([str(i) for i in range(ROWS)])]
    columns["sparse"] = pa.UnionArray.from_sparse(types, sides, ["a", "b"], [0, 1])
    columns["dense"] = pa.UnionArray.from_dense(pa.array(7 - np.arange(ROWS) % 2 * 2, pa.int8()),
                                                pa.array(np.arange(ROWS) // 2, pa.int32()), sides, ["a", "b"], [7, 5])
    return columns, mask


def batch_of(columns):
    fields = [pa.field(name, column.type, metadata={"unit": "m"} if i % 3 == 0 else None)
              for i, (name, column) in enumerate(columns.items())]
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=pa.schema(fields, metadata={"origin": "test"}))


def cases(rng):
    """Name and batches of each table."""
    columns, mask = all_columns(rng)
    whole = batch_of(columns)
    yield "whole", [whole]
    yield "no rows", [whole.slice(0, 0)]
    yield "no batches", []
    yield "slices", [whole.slice(3, 200), whole.slice(203, 0), whole.slice(203, 64), whole.slice(267)]
    fields = list(whole.schema)
    struct = pa.StructArray.from_arrays(whole.columns, fields=fields, mask=pa.array(mask))
    yield "struct", [pa.record_batch({"s": struct}), pa.record_batch({"s": struct}).slice(5, 77)]
    cuts = pa.array(sorted(rng.integers(0, ROWS, 41).tolist()), pa.int32())
    some = pa.array(rng.random(40) < 0.3)
    lists = {name: pa.ListArray.from_arrays(cuts, column, mask=some) for name, column in columns.items()}
    yield "lists", [batch_of(lists), batch_of(lists).slice(7, 20)]
    blocks = {name: pa.FixedSizeListArray.from_arrays(column, 10, mask=pa.array(rng.random(50) < 0.3))
              for name, column in columns.items()}
    yield "fixed lists", [batch_of(blocks).slice(2)]
    yield "extensions", [pa.record_batch({"u": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([b"0123456789abcdef", None], pa.binary(16)))})]


def check_pyarrow(bin_path, folder, rng):
    for name, batches in cases(rng):
        schema = batches[0].schema if batches else batch_of(all_columns(rng)[0]).schema
        want = pa.Table.from_batches(batches, schema)
        for kind in (".arrow", ".arrows"):
            source = folder / f"in{kind}"
            write(source, schema, batches)
            for out_kind in (".arrow", ".arrows"):
                for compression in COMPRESSIONS:
                    out = folder / f"out{out_kind}"
                    try:
                        run(bin_path, "convert", source, out, "--force", "--buffer-compression", compression)
                        same(want, read(out))
                    except (Failed, pa.ArrowException) as e:
                        yield f"pyarrow: {name} {kind} to {out_kind}, {compression}: {e}"
                        continue
                    yield None


def check_types(bin_path, folder, rng):
    columns, _ = all_columns(rng)
    extra = [pa.list_(pa.field("x", pa.int8(), nullable=False)), pa.struct([]), pa.map_(pa.string(), pa.int8(), keys_sorted=True),
             pa.dense_union([pa.field("a", pa.int32()), pa.field("b", pa.string(), nullable=False)]),
             pa.run_end_encoded(pa.int64(), pa.dictionary(pa.int8(), pa.string())),
             pa.list_(pa.dictionary(pa.uint8(), pa.struct([pa.field("s", pa.list_(pa.null()))]), True))]
    schema = pa.schema([(f"c{i}", t) for i, t in enumerate([c.type for c in columns.values()] + extra)])
    path = folder / "types.arrow"
    write(path, schema, [])
    got = json.loads(run(bin_path, "schema", "--json", path))["fields"]
    for field, printed in zip(schema, got, strict=True):
        yield None if printed["type"] == str(field.type) else f"types: {printed['type']}, pyarrow says {field.type}"
    (folder / "types.json").write_text(json.dumps({"fields": got}))
    try:
        run(bin_path, "convert", path, folder / "again.arrow", "--schema", folder / "types.json")
        same(pa.Table.from_batches([], schema), read(folder / "again.arrow"))
        yield None
    except Failed as e:
        yield f"types: read back: {e}"


def delta_batches(rng):
    words = [f"w{i}" for i in range(50)]
    for k in range(20):
        some = rng.choice(words, int(rng.integers(1, 10)), replace=False).tolist() + ([None] if k % 4 == 0 else [])
        indices = pa.array(rng.integers(0, len(some), 30), pa.int8(), mask=rng.random(30) < 0.2)
        pairs = pa.StructArray.from_arrays([pa.array(some), pa.array(range(len(some)))], ["a", "b"])
        yield pa.record_batch({"word": pa.DictionaryArray.from_arrays(indices, pa.array(some, pa.string())),
                               "pair": pa.DictionaryArray.from_arrays(indices, pairs)})


def check_deltas(bin_path, folder, rng):
    batches = list(delta_batches(rng))
    source = folder / "deltas.arrows"
    write(source, batches[0].schema, batches)
    want = [row for batch in batches for row in batch.to_pylist()]
    for kind in (".arrow", ".arrows"):
        for compression in COMPRESSIONS:
            out = folder / f"deltas-out{kind}"
            run(bin_path, "convert", source, out, "--force", "--buffer-compression", compression)
            yield None if read(out).to_pylist() == want else f"deltas: {kind} {compression} differs"


POLARS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
          "string", "large_string", "string_view", "binary", "large_binary", "binary_view", "decimal128(38, 2)",
          "timestamp[ms, tz=UTC]", "timestamp[ns, tz=Europe/Berlin]", "duration[ms]", "duration[us]", "time64[ns]",
          "date32[day]", "list<item: int32>", "large_list<item: int32>", "fixed list", "struct", "dictionary", "null")


def check_others(bin_path, folder, rng):
    columns, _ = all_columns(rng)
    columns["decimal128(38, 2)"] = pa.array([decimal.Decimal(i) / 4 for i in range(ROWS)], pa.decimal128(38, 2))
    batch = batch_of({name: columns[name] for name in POLARS})
    source = folder / "others.arrow"
    write(source, batch.schema, [batch.slice(0, 300), batch.slice(300)])
    want = pl.from_arrow(pa.Table.from_batches([batch]))
    for compression in COMPRESSIONS:
        for kind, load in ((".arrow", pl.read_ipc), (".arrows", pl.read_ipc_stream)):
            out = folder / f"others-out{kind}"
            run(bin_path, "convert", source, out, "--force", "--buffer-compression", compression)
            try:
                got = load(out)
                bad = [c for c in want.columns if not got[c].equals(want[c], null_equal=True)]
                yield f"polars: {kind} {compression}: {bad} differ" if bad else None
            except Exception as e:  # noqa: BLE001 - whatever Polars throws is the failure
                yield f"polars: {kind} {compression}: {e}"
            written = read(out).drop_columns(["null"])  # noqa: F841 - DuckDB finds it by its name
            rows = duckdb.sql("select * from written").fetchall()
            expected = duckdb.from_arrow(pa.Table.from_batches([batch]).drop_columns(["null"])).fetchall()
            yield None if str(rows) == str(expected) else f"duckdb: {kind} {compression} differs"


def run_checks(checks, seed):
    """Each of (binary, folder, generator) yields None for what is right and a message for what is not. -> exit status"""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    bin_path = parser.parse_args().bin
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        for check in checks:
            try:
                for message in check(bin_path, Path(name), np.random.default_rng(seed)):
                    passed += message is None
                    failed += message is not None
                    if message is not None:
                        print(message[:2000])
            except Failed as e:
                failed += 1
                print(f"{check.__name__}: {e}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def main():
    return run_checks((check_types, check_pyarrow, check_deltas, check_others), 1)


if __name__ == "__main__":
    sys.exit(main())
