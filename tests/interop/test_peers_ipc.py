#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrow files and streams that pyarrow, Polars and DuckDB write, read by us (test_ipc.py has the other direction).

    test_peers_ipc.py --bin PATH

Buffers plain, zstd and LZ4. Each peer writes a table of the types that it knows; we convert it to a stream, to a file and
through a .ald, and pyarrow finds the same table in all of them. Exit status 77: no peer is installed.
The last line of output is `N passed, N failed`.
"""
import argparse
import datetime
import decimal
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import pyarrow as pa
    import pyarrow.ipc
except ImportError:
    print("skipped: no pyarrow")
    sys.exit(77)
try:
    import polars
except ImportError:
    polars = None
try:
    import duckdb
except ImportError:
    duckdb = None

CODECS = ("none", "zstd", "lz4")
SUFFIXES = (".arrow", ".arrows")


class Failed(Exception):
    """What differs."""


def convert(binary, source, target):
    command = [binary, "convert", "--force", "--quiet", str(source), str(target)]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise Failed(f"{source.name} to {target.name}: exit {result.returncode}, {result.stderr.strip()}")


# ---- tables

ROWS = 2500


def some(values, every=7):
    """`values` over ROWS rows, with nulls"""
    return [None if i % every == 3 else values[i % len(values)] for i in range(ROWS)]


def common_columns():
    """Types that all three know."""
    day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 15, 123456)
    texts = ["", "a", "twelve bytes", "longer than twelve bytes", "été €"]
    return {
        "bool": pa.array(some([True, False, False])),
        "i8": pa.array(some([-128, 127, 0]), pa.int8()), "u8": pa.array(some([0, 255]), pa.uint8()),
        "i16": pa.array(some([-2**15, 2**15 - 1]), pa.int16()), "u16": pa.array(some([0, 2**16 - 1]), pa.uint16()),
        "i32": pa.array(some([-2**31, 2**31 - 1]), pa.int32()), "u32": pa.array(some([0, 2**32 - 1]), pa.uint32()),
        "i64": pa.array(some([-2**63, 2**63 - 1, 7]), pa.int64()), "u64": pa.array(some([0, 2**64 - 1]), pa.uint64()),
        "f32": pa.array(some([0.5, -1.25, float("inf")]), pa.float32()),
        "f64": pa.array(some([0.1, -1e300, 5e-324, -0.0]), pa.float64()),
        "text": pa.array(some(texts), pa.string()), "large_text": pa.array(some(texts), pa.large_string()),
        "binary": pa.array(some([b"", b"\0\xff", b"0123456789abcdef"]), pa.binary()),
        "day": pa.array(some([day, datetime.date(1969, 12, 31)]), pa.date32()),
        "us": pa.array(some([moment, datetime.datetime(1900, 1, 1)]), pa.timestamp("us")),
        "ns_utc": pa.array(some([1709209815123456789, -1]), pa.int64()).cast(pa.timestamp("ns", "UTC")),
        "time": pa.array(some([0, 86399999999]), pa.int64()).cast(pa.time64("us")),
        "decimal": pa.array(some([decimal.Decimal("-12345.67"), decimal.Decimal("0.01")]), pa.decimal128(18, 2)),
        "list": pa.array(some([[1, 2], [], [None, 3]]), pa.list_(pa.int64())),
        "struct": pa.array(some([{"a": 1, "b": "x"}, {"a": None, "b": None}]),
                           pa.struct([("a", pa.int32()), ("b", pa.string())])),
        "category": pa.array(some(["red", "green", "blue"])).dictionary_encode(),
        "empty": pa.array([None] * ROWS, pa.int32()),
    }


def arrow_columns():
    """What pyarrow writes besides."""
    return {
        "null": pa.nulls(ROWS), "f16": pa.array(some([0.5, -2.0]), pa.float16()),
        "view": pa.array(some(["short", "a text longer than twelve bytes"]), pa.string_view()),
        "binary_view": pa.array(some([b"x", b"0123456789abcdef"]), pa.binary_view()),
        "fixed": pa.array(some([b"abc", b"\0\0\0"]), pa.binary(3)),
        "large_binary": pa.array(some([b"", b"z"]), pa.large_binary()),
        "day64": pa.array(some([0, 86400000]), pa.int64()).cast(pa.date64()),
        "seconds": pa.array(some([0, 1]), pa.int64()).cast(pa.timestamp("s", "+05:30")),
        "duration": pa.array(some([0, -1]), pa.int64()).cast(pa.duration("ms")),
        "interval": pa.array(some([pa.MonthDayNano([1, -2, 3])]), pa.month_day_nano_interval()),
        "d32": pa.array(some([decimal.Decimal("1.5")]), pa.decimal32(9, 1)),
        "d64": pa.array(some([decimal.Decimal("-1.55")]), pa.decimal64(18, 2)),
        "d256": pa.array(some([decimal.Decimal(10) ** 60]), pa.decimal256(76, 0)),
        "large_list": pa.array(some([["a"], []]), pa.large_list(pa.string())),
        "fixed_list": pa.array(some([[1.5, 2.5], [0.0, None]]), pa.list_(pa.float64(), 2)),
        "list_view": pa.array(some([[1], [2, 3]]), pa.list_view(pa.int16())),
        "map": pa.array(some([[("k", 1)], []]), pa.map_(pa.string(), pa.int32())),
        "sparse": pa.UnionArray.from_sparse(pa.array([i % 2 for i in range(ROWS)], pa.int8()),
                                            [pa.array(some([1, 2])), pa.array(some(["x"]))]),
        "dense": pa.UnionArray.from_dense(pa.array([i % 2 for i in range(ROWS)], pa.int8()),
                                          pa.array([i // 2 for i in range(ROWS)], pa.int32()),
                                          [pa.array(some([1, 2])), pa.array(some(["x"]))]),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1000, ROWS], pa.int32()), pa.array(["a", None])),
    }


def arrow_table():
    table = pa.table({**common_columns(), **arrow_columns()})
    fields = [field.with_metadata({"note": "für " + field.name}) for field in table.schema]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields, metadata={"origin": "test"}))


# ---- peers: each writes its table

def arrow_write(table, path, codec):
    options = pa.ipc.IpcWriteOptions(compression=None if codec == "none" else codec)
    make = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
    with make(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=700)


def arrow_read(path):
    opened = (pa.ipc.open_file if path.suffix == ".arrow" else pa.ipc.open_stream)(str(path))
    table = opened.read_all()
    table.validate(full=True)
    return table


def polars_write(table, path, codec):
    frame = polars.from_arrow(table)
    compression = {"none": "uncompressed"}.get(codec, codec)
    if path.suffix == ".arrow":
        frame.write_ipc(path, compression=compression)
    else:
        frame.write_ipc_stream(path, compression=compression)


def duckdb_write(table, path, codec):
    """DuckDB makes Arrow batches of its own from a query; its own IPC writer is an extension that is not packaged."""
    connection = duckdb.connect()
    connection.register("source", table)
    arrow_write(connection.sql("select * from source").to_arrow_table(), path, codec)


def python_values(column):
    """Nanoseconds as numbers: Python's own times have microseconds."""
    if getattr(column.type, "unit", None) == "ns":
        column = column.cast(pa.int64())
    return column.to_pylist()


def same_values(got, want):
    if got.num_rows != want.num_rows or got.column_names != want.column_names:
        raise Failed(f"{got.num_rows} rows of {got.column_names}")
    for name in want.column_names:
        a, b = python_values(got.column(name)), python_values(want.column(name))
        if repr(a) != repr(b):  # repr tells -0.0 from 0.0 and knows NaN
            row = next(i for i, (x, y) in enumerate(zip(a, b)) if repr(x) != repr(y))
            raise Failed(f"column {name}, row {row}: {a[row]!r}, wanted {b[row]!r}")


def same_schema(got, want):
    if not got.schema.equals(want.schema, check_metadata=True):
        raise Failed(f"schema\n{got.schema}\nwanted\n{want.schema}")


def check_read(binary, folder, theirs):
    for target in (folder / "out.arrows", folder / "out.arrow", folder / "through.ald"):
        convert(binary, theirs, target)
    convert(binary, folder / "through.ald", folder / "back.arrow")
    want = arrow_read(theirs)
    for name in ("out.arrows", "out.arrow", "back.arrow"):
        got = arrow_read(folder / name)
        same_schema(got, want)
        same_values(got, want)


def all_tests():
    """(name, function that writes a file of this suffix and codec, its table)"""
    full, common = arrow_table(), pa.table(common_columns())
    yield "pyarrow", arrow_write, full
    yield "pyarrow, no rows", arrow_write, full.slice(0, 0)
    if polars is not None:
        yield "Polars", polars_write, common
        yield "Polars, no rows", polars_write, common.slice(0, 0)
    if duckdb is not None:
        yield "DuckDB", duckdb_write, common


def run_one(binary, write, table, suffix, codec):
    with tempfile.TemporaryDirectory(prefix="alimentar-interop-") as folder:
        theirs = Path(folder) / f"theirs{suffix}"
        write(table, theirs, codec)
        check_read(binary, Path(folder), theirs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    binary = str(Path(parser.parse_args().bin).resolve())
    passed = failed = 0
    for name, write, table in all_tests():
        for suffix, codec in ((s, c) for s in SUFFIXES for c in CODECS):
            try:
                run_one(binary, write, table, suffix, codec)
                passed += 1
            except (Failed, pa.ArrowException) as problem:
                failed += 1
                print(f"FAILED {name}, {suffix}, {codec}: {problem}")
    for name, module in (("Polars", polars), ("DuckDB", duckdb)):
        if module is None:
            print(f"{name} is not installed: left out")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
