#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the streams of this folder with pyarrow, and beside them the values that a reader must find.

NAME.txt has a line for each batch and column: `batch column: value value ...`. Integers, true, false and null are
themselves, bytes of strings and binaries 'hex', other fixed-width values =hex (as in memory), lists [a b], structs,
map entries and unions {a b}: a union shows its type id and its value.
"""
import decimal
import struct
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc

HERE = Path(__file__).resolve().parent


class Raw(bytes):
    """Shown as =hex."""


def show(v):
    if v is None:
        return "null"
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, int):
        return str(v)
    if isinstance(v, float):
        return "=" + struct.pack("<d", v).hex()
    if isinstance(v, Raw):
        return "=" + v.hex()
    if isinstance(v, bytes):
        return "'" + v.hex() + "'"
    if isinstance(v, str):
        return show(v.encode())
    if isinstance(v, list):
        return "[" + " ".join(map(show, v)) + "]"
    if isinstance(v, dict):
        return "{" + " ".join(map(show, v.values())) + "}"
    return "{" + " ".join(map(show, v)) + "}"


def raw_decimal(v, width):
    return None if v is None else Raw(v.to_bytes(width, "little", signed=True))


def scaled(values, kind):
    return pa.array([None if v is None else decimal.Decimal(v).scaleb(-kind.scale, decimal.Context(prec=80))
                     for v in values], kind)


def columns():
    """name, array, values as this script's show() wants them; four rows each."""
    ints = [1, None, -3, 127]
    for bits in (8, 16, 32, 64):
        yield f"int{bits}", pa.array(ints, f"int{bits}"), ints
        big = [1, None, 0, 2**bits - 1]
        yield f"uint{bits}", pa.array(big, f"uint{bits}"), big
    flags = [True, None, False, True]
    yield "bool", pa.array(flags), flags
    yield "null", pa.nulls(4), [None] * 4
    floats = [0.5, None, -2.0, 1e300]
    yield "float64", pa.array(floats), floats
    singles = [0.5, None, -2.0, 3.25]
    for code, kind in (("<f", pa.float32()), ("<e", pa.float16())):
        yield str(kind), pa.array(singles, pa.float64()).cast(kind), [
            None if v is None else Raw(struct.pack(code, v)) for v in singles]
    digits = [12345, None, -7, 0]
    for bits, make in ((32, pa.decimal32), (64, pa.decimal64), (128, pa.decimal128), (256, pa.decimal256)):
        yield f"decimal{bits}", scaled(digits, make(9, 2)), [raw_decimal(v, bits // 8) for v in digits]
    for kind, store in ((pa.date32(), "int32"), (pa.time32("s"), "int32"), (pa.time32("ms"), "int32"),
                        (pa.time64("us"), "int64"), (pa.time64("ns"), "int64"), (pa.timestamp("s"), "int64"),
                        (pa.timestamp("ns", "Europe/Berlin"), "int64"), (pa.duration("ms"), "int64"),
                        (pa.month_day_nano_interval(), None)):
        if store is None:
            packed = [struct.pack("<iiq", 1, 2, 3), None, struct.pack("<iiq", -1, 0, 5), struct.pack("<iiq", 0, 0, 0)]
            array = pa.array([None if b is None else pa.MonthDayNano(struct.unpack("<iiq", b)) for b in packed], kind)
            yield "interval", array, [None if b is None else Raw(b) for b in packed]
        else:
            times = [1, None, 3, 100]
            yield f"{kind}", pa.array(times, store).cast(kind), times
    texts = ["", None, "grün", "more than twelve bytes: 日本語"]
    blobs = [None if t is None else t.encode("utf-16") for t in texts]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        yield str(kind), pa.array(texts, kind), texts
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        yield str(kind), pa.array(blobs, kind), blobs
    fixed = [b"abc", None, b"\0\0\0", b"xyz"]
    yield "fixed", pa.array(fixed, pa.binary(3)), [None if v is None else Raw(v) for v in fixed]
    lists = [[1, None], None, [], [3, 4, 5]]
    for kind in (pa.list_(pa.int32()), pa.large_list(pa.int32()), pa.list_view(pa.int32()),
                 pa.large_list_view(pa.int32())):
        yield f"{kind}", pa.array(lists, kind), lists
    pairs = [[1, 2], None, [None, 4], [5, 6]]
    yield "fixed list", pa.array(pairs, pa.list_(pa.int16(), 2)), pairs
    structs = [{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 4, "b": None}]
    yield "struct", pa.array(structs, pa.struct([("a", pa.int32()), ("b", pa.string())])), structs
    maps = [[("k", 1)], None, [], [("l", None), ("m", 3)]]
    yield "map", pa.array(maps, pa.map_(pa.string(), pa.int32())), maps
    ids = pa.array([5, 7, 5, 7], pa.int8())
    yield "sparse", pa.UnionArray.from_sparse(ids, [pa.array([1, 2, None, 4]), pa.array(["a", "b", "c", "d"])],
                                              ["i", "s"], [5, 7]), [(5, 1), (7, "b"), (5, None), (7, "d")]
    yield "dense", pa.UnionArray.from_dense(ids, pa.array([0, 0, 1, 0], pa.int32()), [pa.array([8, 9]), pa.array(["s"])],
                                            ["i", "s"], [5, 7]), [(5, 8), (7, "s"), (5, 9), (7, "s")]
    yield "runs", pa.RunEndEncodedArray.from_arrays(pa.array([1, 3, 4], pa.int16()), pa.array(["p", None, "q"])), [
        "p", None, None, "q"]
    yield "dictionary", pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.uint8()), ["zero", "one"]), [
        "one", None, "zero", "one"]
    inner = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int16()), ["u", "v"])
    outer = pa.DictionaryArray.from_arrays(pa.array([2, 1, None, 0], pa.int32()),
                                           pa.StructArray.from_arrays([inner, pa.array([10, 11, 12])], ["in", "n"]))
    yield "nested dictionary", outer, [(None, 12), ("u", 11), None, ("v", 10)]


def write_values(name, schema, values):
    lines = [f"{b} {schema.field(c).name}: " + " ".join(map(show, column))
             for b, row in enumerate(values) for c, column in enumerate(row)]
    (HERE / f"{name}.txt").write_text("\n".join(lines) + "\n")


def write(name, schema, batches, **options):
    with ipc.new_stream(str(HERE / f"{name}.arrows"), schema, options=ipc.IpcWriteOptions(**options)) as out:
        for batch in batches:
            out.write_batch(batch)


def write_types():
    names, arrays, values = zip(*columns())
    full = pa.record_batch(list(arrays), list(names))
    sliced = full.slice(1, 2)
    batches, shown = [full, sliced, full.slice(0, 0)], [values, [v[1:3] for v in values], [[] for _ in values]]
    write_values("types", full.schema, shown)
    write("types", full.schema, batches)
    for codec in ("lz4", "zstd"):
        write(f"types_{codec}", full.schema, batches, compression=codec)


def write_deltas():
    """Dictionaries of all value types that grow twice. A first batch uses the first half of each."""
    names, fields, batches, values = [], [], [[], [], []], [[], [], []]
    for name, array, shown in columns():
        if pa.types.is_dictionary(array.type) or pa.types.is_null(array.type):
            continue
        for b, count in enumerate((2, 3, 4)):
            indices = pa.array(list(range(count)) * 2, pa.int8())
            try:
                batches[b].append(pa.DictionaryArray.from_arrays(indices, array.slice(0, count)))
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid, ValueError):
                break
            values[b].append(shown[:count] * 2)
        else:
            names.append(name)
            continue
        del batches[0][len(names):], batches[1][len(names):], batches[2][len(names):]
    made = [pa.record_batch(b, names) for b in batches]
    write_values("deltas", made[0].schema, values)
    write("deltas", made[0].schema, made, emit_dictionary_deltas=True)


def write_claims():
    """2^62 rows in a few bytes."""
    rows = 2**62
    nothing = pa.Array.from_buffers(pa.null(), rows, [None])
    run = pa.RunEndEncodedArray.from_arrays(pa.array([rows], pa.int64()), pa.array([7]))
    empty = pa.Array.from_buffers(pa.struct([]), rows, [None])
    deep = pa.Array.from_buffers(pa.struct([("a", pa.null())]), rows, [None], children=[nothing])
    wide = pa.Array.from_buffers(pa.list_(pa.null(), 1), rows, [None], children=[nothing])
    thin = pa.Array.from_buffers(pa.binary(0), rows, [None, pa.py_buffer(b"")])
    batch = pa.record_batch([nothing, run, empty, deep, wide, thin], ["nothing", "run", "empty", "deep", "wide", "thin"])
    write("claims", batch.schema, [batch], allow_64bit=True)


if __name__ == "__main__":
    write_types()
    write_claims()
    write_deltas()
    sys.exit(0)
