#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parquet in and out, against pyarrow.

    test_parquet.py --bin PATH

Exit status 77: there is no pyarrow, or no Parquet module beside the command. The last line is `N passed, N failed`.
"""
import argparse
import datetime
import decimal
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    print("skipped: no pyarrow")
    sys.exit(77)

from parquet_tools import Failed, compare, convert, error_name, has_module, read_stream, run

ROWS = 2500
MUTATIONS = 1000
PEAK_BYTES = 256 << 20
# Prints the peak memory of a command in KB. A process of its own: a child begins with the peak of the one that forks it.
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


# ---- tables

def some(values, every=7):
    """`values` over ROWS rows, with nulls"""
    return [None if i % every == 3 else values[i % len(values)] for i in range(ROWS)]


def column_types():
    """name -> (type, values): all that must come back as it was"""
    zoned = datetime.datetime(2024, 3, 31, 1, 59, 59, tzinfo=datetime.timezone.utc)
    day = datetime.date(1969, 7, 20)
    notes = {"note": "kept"}
    return {
        "bool": (pa.bool_(), [True, False]),
        "i8": (pa.int8(), [-128, 127]), "i16": (pa.int16(), [-2**15, 2**15 - 1]),
        "i32": (pa.int32(), [-2**31, 2**31 - 1]), "i64": (pa.int64(), [-2**63, 2**63 - 1]),
        "u8": (pa.uint8(), [0, 255]), "u16": (pa.uint16(), [0, 2**16 - 1]),
        "u32": (pa.uint32(), [0, 2**32 - 1]), "u64": (pa.uint64(), [0, 2**64 - 1]),
        "f16": (pa.float16(), [np.float16(0.5), np.float16(-2)]), "f32": (pa.float32(), [0.5, float("inf")]),
        "f64": (pa.float64(), [0.1, -0.0, 1e300]),
        "text": (pa.string(), ["", "ä", "日本", "x" * 300]), "large": (pa.large_string(), ["", "ä"]),
        "view": (pa.string_view(), ["short", "longer than twelve bytes"]),
        "bytes": (pa.binary(), [b"", b"\xff\x00"]), "four": (pa.binary(4), [b"abcd", b"\0\0\0\0"]),
        "d32": (pa.decimal32(9, 2), [decimal.Decimal("1234567.89")]),
        "d64": (pa.decimal64(18, 6), [decimal.Decimal("-1.000001")]),
        "d128": (pa.decimal128(38, 10), [decimal.Decimal("12345678901234567890.0123456789")]),
        "d256": (pa.decimal256(60, 3), [decimal.Decimal("-0.001")]),
        "date": (pa.date32(), [day]), "date64": (pa.date64(), [day]),
        "time_s": (pa.time32("s"), [datetime.time(23, 59, 59)]),
        "time_ns": (pa.time64("ns"), [datetime.time(23, 59, 59, 5)]),
        "ts_s": (pa.timestamp("s", "Europe/Berlin"), [zoned]), "ts_ms": (pa.timestamp("ms"), [0, -1]),
        "ts_us": (pa.timestamp("us", "UTC"), [zoned]), "ts_ns": (pa.timestamp("ns"), [1, -1]),
        "duration": (pa.duration("us"), [1, -1]), "null": (pa.null(), [None]),
        "dict": (pa.dictionary(pa.int32(), pa.string()), ["a", "b", "c"]),
        "dict8": (pa.dictionary(pa.int8(), pa.string(), ordered=True), ["a", "b", "c"]),
        "dict_large": (pa.dictionary(pa.int32(), pa.large_string()), ["a", "b"]),
        "dict_int": (pa.dictionary(pa.int32(), pa.int64()), [5, 7]),
        "list": (pa.list_(pa.field("item", pa.int64(), metadata=notes)), [[], [1, None], [2]]),
        "named": (pa.list_(pa.field("x", pa.int64(), nullable=False)), [[], [1], [2, 3]]),
        "fixed": (pa.list_(pa.field("item", pa.float32()), 2), [[1.0, 2.0]]),
        "deep": (pa.large_list(pa.list_(pa.struct([pa.field("k", pa.string(), metadata=notes)]))),
                 [[], [[], [{"k": None}, None], None], [[{"k": "v"}]]]),
        "struct": (pa.struct([pa.field("a", pa.int8()), pa.field("t", pa.timestamp("s"))]),
                   [{"a": 1, "t": 5}, {"a": None, "t": None}]),
        "map": (pa.map_(pa.string(), pa.field("value", pa.int32(), metadata=notes)), [[], [("a", 1), ("b", None)]]),
        "uuid": (pa.uuid(), [b"0123456789abcdef"]), "json": (pa.json_(), ['{"a": 1}']),
    }


FEW = ["list", "deep", "struct", "map", "fixed", "text", "dict", "dict_int", "ts_s", "d128", "required"]


def full_table():
    fields, arrays = [], []
    for name, (kind, values) in column_types().items():
        storage = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
        array = pa.array(some(values), storage)
        fields.append(pa.field(name, kind, metadata={"description": f"what {name} means"}))
        arrays.append(pa.ExtensionArray.from_storage(kind, array) if storage is not kind else array)
    fields.append(pa.field("required", pa.int32(), nullable=False))
    arrays.append(pa.array(range(ROWS), pa.int32()))
    return pa.table(arrays, schema=pa.schema(fields, metadata={"about": "the table"}))


def big_table(rows):
    numbers = np.random.default_rng(5)
    return pa.table({
        "id": np.arange(rows), "x": numbers.normal(size=rows), "k": numbers.integers(0, 50, rows).astype("int32"),
        "text": pa.array([f"row number {i}" for i in range(rows)]),
        "when": pa.array(np.arange(rows) * 1000, pa.timestamp("us", "UTC"))})


def write_stream(table, path):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        for batch in table.to_batches(max_chunksize=700):
            stream.write_batch(batch)


# ---- checks; each gets the command and a folder

def round_trip(binary, folder):
    """Types, metadata of fields and values come back, through Parquet and through .ald."""
    for want in (full_table(), full_table().select(FEW)):
        check_round_trip(binary, folder, want)


def check_round_trip(binary, folder, want):
    source, first, ald, second, back = (folder / n for n in ("in.arrows", "1.parquet", "1.ald", "2.pq", "out.arrows"))
    write_stream(want, source)
    convert(binary, source, first)
    convert(binary, first, ald)
    convert(binary, ald, second)
    convert(binary, second, back)
    compare(read_stream(back), want, metadata=True)
    file = pq.ParquetFile(first, page_checksum_verification=True)
    file.read()
    if b"ARROW:schema" not in file.metadata.metadata:
        raise Failed("there is no ARROW:schema")
    codecs = {file.metadata.row_group(0).column(i).compression for i in range(file.metadata.num_columns)}
    if codecs != {"ZSTD"}:
        raise Failed(f"codecs are {codecs}")


def written_by_pyarrow(binary, folder):
    """Codecs, page versions, encodings, many row groups; without a stored Arrow schema too. Tables of many columns are read
    another way than those of few."""
    for table in (full_table().drop_columns(["null"]), full_table().select(FEW)):
        check_options(binary, folder, table)


def check_options(binary, folder, table):
    for number, options in enumerate([
            {"compression": "snappy"}, {"compression": "gzip", "data_page_version": "2.0"}, {"compression": "brotli"},
            {"compression": "lz4", "row_group_size": 100}, {"compression": "none", "use_dictionary": False},
            {"store_schema": False}, {"compression": "zstd", "write_page_checksum": True, "data_page_size": 100}]):
        source, out = folder / f"{number}.parquet", folder / f"{number}.arrows"
        pq.write_table(table, source, **options)
        convert(binary, source, out)
        got, want = read_stream(out), pq.read_table(source)
        if options.get("store_schema", True):
            want = table.replace_schema_metadata(want.schema.metadata)
        compare(got, want)


def int96(binary, folder):
    table = pa.table({"t": pa.array([0, 1, -1, None, 1711846799123456789], pa.timestamp("ns"))})
    pq.write_table(table, folder / "t.parquet", use_deprecated_int96_timestamps=True, store_schema=False)
    convert(binary, folder / "t.parquet", folder / "t.arrows")
    compare(read_stream(folder / "t.arrows"), table)


def changing_dictionaries(binary, folder):
    """Each row group has values of its own: together too many for the indices, and inside lists."""
    for index in (pa.int8(), pa.int32()):
        kind = pa.dictionary(index, pa.string())
        batches = []
        for k in range(9):
            indices = pa.array([None if i == 7 else i % 90 for i in range(300)], index)
            values = pa.DictionaryArray.from_arrays(indices, pa.array([f"{k}-{i}" for i in range(90)]))
            lists = pa.ListArray.from_arrays(pa.array(range(0, 301, 1), pa.int32()), values)
            batches.append(pa.record_batch([values.cast(kind), lists], ["d", "l"]))
        table = pa.Table.from_batches(batches)
        pq.write_table(table, folder / "d.parquet", row_group_size=300)
        for source, target in (("d.parquet", "d.ald"), ("d.ald", "e.parquet"), ("e.parquet", "e.arrows")):
            convert(binary, folder / source, folder / target)
        got = read_stream(folder / "e.arrows")
        if got.schema != table.schema:
            raise Failed(f"the schema is\n{got.schema}\nwanted\n{table.schema}")
        if got.to_pylist() != table.to_pylist() or pq.read_table(folder / "e.parquet").to_pylist() != table.to_pylist():
            raise Failed(f"values differ with {index}")


def empty_tables(binary, folder):
    for name, table in (("rows", full_table().slice(0, 0)), ("columns", pa.table({}))):
        write_stream(table, folder / f"{name}.arrows")
        convert(binary, folder / f"{name}.arrows", folder / f"{name}.parquet")
        convert(binary, folder / f"{name}.parquet", folder / f"{name}-back.arrows")
        compare(read_stream(folder / f"{name}-back.arrows"), table)


def columns_and_rows(binary, folder):
    """head, tail, cat, schema, stats and info; only the columns asked for are read."""
    path = folder / "c.parquet"
    pq.write_table(big_table(20000), path, row_group_size=3000)
    status, stdout, stderr = run(binary, "head", "--json", "--rows", 2, "--columns", "k,id", path)
    if status != 0 or [list(json.loads(line)) for line in stdout.splitlines()] != [["k", "id"]] * 2:
        raise Failed(f"head: {status}, {stdout!r} {stderr}")
    status, stdout, _ = run(binary, "tail", "--json", "--rows", 1, path)
    if status != 0 or json.loads(stdout)["id"] != 19999:
        raise Failed(f"tail: {status}, {stdout!r}")
    status, _, stderr = run(binary, "cat", "--columns", "nowhere", path)
    if status != 2 or "nowhere" not in stderr:
        raise Failed(f"an unknown column: {status}, {stderr!r}")
    for command in ("schema", "stats", "info"):
        status, _, stderr = run(binary, command, path)
        if status != 0:
            raise Failed(f"{command}: {status}, {stderr!r}")
    # A page of `text` is broken: that column fails, the others do not look at it.
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(3)
    data = bytearray(path.read_bytes())
    data[chunk.data_page_offset:chunk.data_page_offset + 40] = b"\xff" * 40
    path.write_bytes(data)
    if run(binary, "cat", "--columns", "id,x", path)[0] != 0:
        raise Failed("a column that was not asked for was read")
    status, _, stderr = run(binary, "cat", path)
    if error_name(status, stderr) is None or "column 'text'" not in stderr:
        raise Failed(f"the broken column: {status}, {stderr!r}")


def one_at_a_time(binary, folder):
    """The same table on one thread and on several."""
    pq.write_table(big_table(200000), folder / "t.parquet", row_group_size=70000)
    for threads in (1, 3):
        convert(binary, folder / "t.parquet", folder / f"{threads}.arrows", "--threads", threads)
        convert(binary, folder / f"{threads}.arrows", folder / f"{threads}.parquet", "--threads", threads)
        compare(pq.read_table(folder / f"{threads}.parquet"), big_table(200000))
    compare(read_stream(folder / "1.arrows"), read_stream(folder / "3.arrows"))


def bad_utf8(binary, folder):
    """Arrow C++ does not look at it: nothing of it may come out."""
    table = pa.table({"s": pa.StringArray.from_buffers(2, pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0"), pa.py_buffer(b"ab\xc3\x28"))})
    pq.write_table(table, folder / "u.parquet")
    status, _, stderr = run(binary, "convert", folder / "u.parquet", folder / "u.ald")
    if error_name(status, stderr) != "InvalidFormat" or "UTF-8" not in stderr or (folder / "u.ald").exists():
        raise Failed(f"{status}, {stderr!r}")


def page_checksums(binary, folder):
    path = folder / "c.parquet"
    write_stream(big_table(1000), folder / "c.arrows")
    convert(binary, folder / "c.arrows", path)
    data = bytearray(path.read_bytes())
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    data[column.data_page_offset + column.total_compressed_size // 2] ^= 1
    path.write_bytes(data)
    status, _, stderr = run(binary, "cat", path)
    if error_name(status, stderr) != "ChecksumMismatch":
        raise Failed(f"{status}, {stderr!r}")


def no_form(binary, folder):
    """Types that Parquet does not have are refused by name."""
    for name, array in (("runs", pa.RunEndEncodedArray.from_arrays([2], ["a"])),
                        ("union", pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]))):
        write_stream(pa.table({name: array}), folder / "n.arrows")
        status, _, stderr = run(binary, "convert", folder / "n.arrows", folder / "n.parquet")
        if error_name(status, stderr) != "Unsupported" or name not in stderr or (folder / "n.parquet").exists():
            raise Failed(f"{name}: {status}, {stderr!r}")


def peak(binary, *arguments):
    """Bytes of memory that a command needs at most."""
    result = subprocess.run([sys.executable, "-c", MEASURE, binary, *map(str, arguments)], capture_output=True, text=True)
    if result.returncode != 0:
        raise Failed(f"{arguments}: {result.stderr.strip()}")
    return int(result.stdout) << 10


def bounded_memory(binary, folder):
    """One row group of five million rows, both ways."""
    if b"__asan_init" in Path(binary).read_bytes():
        return
    part = big_table(1 << 20)
    with pq.ParquetWriter(folder / "in.parquet", part.schema, compression="zstd") as writer:
        writer.write_table(pa.concat_tables([part] * 5), row_group_size=10**8)
    for source, target in (("in.parquet", "out.ald"), ("out.ald", "out.parquet")):
        bytes_used = peak(binary, "convert", "--quiet", "--threads", "2", folder / source, folder / target)
        if bytes_used > PEAK_BYTES:
            raise Failed(f"{source} to {target} took {bytes_used >> 20} MB")
    groups = pq.ParquetFile(folder / "out.parquet").metadata
    if groups.num_rows != 5 << 20 or groups.num_row_groups < 2:
        raise Failed(f"{groups.num_rows} rows in {groups.num_row_groups} row groups")


def shards_in_one_piece(binary, folder):
    """Of .ald files without chunks, one at a time is in memory."""
    pq.write_table(big_table(3_400_000), folder / "in.parquet")
    convert(binary, folder / "in.parquet", folder / "shard-{shard}.ald", "--rows-per-shard", 1_700_000, "--no-streaming")
    bytes_used = peak(binary, "convert", "--quiet", "--threads", "2", folder / "shard-?.ald", folder / "out.parquet")
    if bytes_used > PEAK_BYTES and b"__asan_init" not in Path(binary).read_bytes():
        raise Failed(f"it took {bytes_used >> 20} MB")
    compare(pq.read_table(folder / "out.parquet"), pq.read_table(folder / "in.parquet"))


def useful_dictionaries(binary, folder):
    """A column has a dictionary unless it would outgrow it, whatever it is part of."""
    rows = 300_000
    many, few = pa.array(np.arange(rows) * 7), pa.array(np.arange(rows) % 5000)
    text = pa.array([f"the text of row number {i}" for i in range(rows)])
    lists = pa.ListArray.from_arrays(pa.array(np.arange(rows + 1), pa.int32()), many)
    table = pa.table({
        "few": few, "many": many, "text": text, "kind": text.take(pa.array(np.arange(rows) % 9)), "lists": lists,
        "struct": pa.StructArray.from_arrays([few, text], ["few", "text"]), "late": pa.array(np.arange(rows) // 4),
        "named": pa.array(np.arange(rows) % 5000).dictionary_encode(), "empty": pa.nulls(rows, pa.string())})
    pq.write_table(table, folder / "in.parquet")
    convert(binary, folder / "in.parquet", folder / "out.parquet")
    compare(pq.read_table(folder / "out.parquet"), pq.read_table(folder / "in.parquet"))
    group = pq.ParquetFile(folder / "out.parquet").metadata.row_group(0)
    without = {group.column(i).path_in_schema for i in range(group.num_columns)
               if group.column(i).dictionary_page_offset is None}
    if without != {"many", "text", "lists.list.element", "struct.text"}:
        raise Failed(f"no dictionaries: {without}")


def very_wide(binary, folder):
    """A thousand columns in one large row group: its columns go through a temporary file, whatever their types."""
    some = full_table().drop_columns(["null", "dict", "dict8", "dict_large", "dict_int"])
    kinds = [(field.with_name(f"{field.name}{i}"), some.column(field.name)) for i in range(5) for field in some.schema]
    table = pa.table([c for _, c in kinds], schema=pa.schema([f for f, _ in kinds]))
    table = pa.concat_tables([table] * 20).combine_chunks()
    pq.write_table(table, folder / "types.parquet", row_group_size=49000, data_page_size=20000)
    for threads in (1, 3):
        convert(binary, folder / "types.parquet", folder / "types.arrows", "--threads", threads)
        compare(read_stream(folder / "types.arrows"), table, metadata=True)
    missing = subprocess.run([binary, "convert", "--quiet", str(folder / "types.parquet"), str(folder / "no.arrows")],
                             env={"TMPDIR": str(folder / "missing")}, capture_output=True, text=True)
    if missing.returncode != 3 or "cannot make a temporary file" not in missing.stderr or (folder / "no.arrows").exists():
        raise Failed(f"no temporary folder: exit {missing.returncode}, {missing.stderr!r}")
    numbers = np.random.default_rng(6)
    wide = pa.table({f"c{i}": numbers.random(25000) if i % 2 else pa.array([f"v{k}" for k in range(i, i + 25000)])
                     for i in range(1000)})
    pq.write_table(wide, folder / "wide.parquet", compression="zstd")
    for source, target in (("wide.parquet", "wide.ald"), ("wide.ald", "wide2.parquet")):
        bytes_used = peak(binary, "convert", "--quiet", "--threads", "2", folder / source, folder / target)
        if bytes_used > PEAK_BYTES and b"__asan_init" not in Path(binary).read_bytes():
            raise Failed(f"{source} to {target} took {bytes_used >> 20} MB")
    compare(pq.read_table(folder / "wide2.parquet"), wide)


def mutated_files(binary, folder):
    """Flipped and cut files: a table that is valid, or a known error."""
    seeds = []
    small = full_table().slice(0, 60)
    for number, options in enumerate([{}, {"compression": "none", "use_dictionary": False}, {"data_page_version": "2.0"},
                                      {"store_schema": False, "compression": "none", "row_group_size": 7}]):
        table = small.select(FEW) if number > 1 else small.drop_columns(["null"]) if number else small
        pq.write_table(table, folder / f"{number}.parquet", **options)
        seeds.append((folder / f"{number}.parquet").read_bytes())
    numbers = random.Random(20240607)
    out = folder / "m.arrows"
    for i in range(MUTATIONS):
        data = bytearray(seeds[i % len(seeds)])
        kind = i % 10
        if kind == 0:
            del data[numbers.randrange(len(data)):]
        else:
            # The footer steers the reader: half of the changes go there.
            low = len(data) - 8 - int.from_bytes(data[-8:-4], "little") if kind % 2 else 4
            for _ in range(numbers.choice((1, 1, 2, 8))):
                data[numbers.randrange(low, len(data))] = numbers.choice((0, 255, 127, numbers.randrange(256)))
        (folder / "m.parquet").write_bytes(data)
        out.unlink(missing_ok=True)
        status, _, stderr = run(binary, "convert", "--quiet", folder / "m.parquet", out, memory_bytes=1 << 30, seconds=20)
        try:
            if status == 0:
                read_stream(out)
            elif error_name(status, stderr) is None or out.exists():
                raise Failed(f"exit {status}, {stderr[:300]!r}")
        except (Failed, pa.ArrowException, UnicodeDecodeError) as problem:
            raise Failed(f"mutation {i}: {problem}") from problem


def short_memory(binary, folder):
    """Whatever memory there is: done, or an error of its own and no output. One thread: where a new one gets no memory of its
    own, the system's C library ends the process."""
    table = big_table(400000)
    pq.write_table(table, folder / "in.parquet")
    write_stream(table, folder / "in.arrows")
    ended = set()
    for megabytes in range(110, 400, 24):
        for source, target in (("in.parquet", "out.arrows"), ("in.arrows", "out.parquet")):
            (folder / target).unlink(missing_ok=True)
            status, _, stderr = run(binary, "convert", "--quiet", "--threads", 1, folder / source, folder / target,
                                    memory_bytes=megabytes << 20)
            if status not in (0, 1, 3) or (status == 0) != (folder / target).exists():
                raise Failed(f"{source} in {megabytes} MB: exit {status}, {stderr!r}")
            if status == 1 and "Unsupported" not in stderr:  # not even the module could be loaded
                raise Failed(f"{source} in {megabytes} MB: {stderr!r}")
            ended.add(status)
    if b"__asan_init" not in Path(binary).read_bytes() and not {0, 3} <= ended:
        raise Failed(f"exits were {ended}")


def without_module(binary, folder):
    """The command alone works, and says in one line what is missing."""
    alone = folder / "alone"
    alone.mkdir()
    shutil.copy(binary, alone / "alimentar")
    pq.write_table(big_table(10), folder / "w.parquet")
    status, _, stderr = run(alone / "alimentar", "cat", folder / "w.parquet")
    if "libald_parquet" in stderr:
        if error_name(status, stderr) != "Unsupported" or "hint: " not in stderr or len(stderr.splitlines()) != 2:
            raise Failed(f"{status}, {stderr!r}")
    elif status != 0:  # one that is installed on this machine was found
        raise Failed(f"{status}, {stderr!r}")
    (folder / "w.csv").write_text("a\n1\n")
    if run(alone / "alimentar", "cat", folder / "w.csv")[0] != 0:
        raise Failed("the command does not work alone")


CHECKS = [round_trip, written_by_pyarrow, int96, changing_dictionaries, empty_tables, columns_and_rows, one_at_a_time, bad_utf8,
          page_checksums, no_form, bounded_memory, shards_in_one_piece, useful_dictionaries, very_wide, short_memory, without_module, mutated_files]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", help="the name of one check")
    args = parser.parse_args()
    binary = str(Path(args.bin).resolve())
    if not has_module(binary):
        print("skipped: no Parquet module")
        return 77
    checks = [check for check in CHECKS if args.only in (None, check.__name__)]
    failed = 0
    for check in checks:
        with tempfile.TemporaryDirectory(prefix="alimentar-parquet-") as folder:
            try:
                check(binary, Path(folder))
            except (Failed, pa.ArrowException) as problem:
                failed += 1
                print(f"FAILED {check.__name__}: {problem}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
