#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NumPy's .npy and .npz and safetensors, against the libraries that write them.

    test_tensors.py --bin PATH

Every value is compared in its bits. Exit status 77: a library is missing. The last line is `N passed, N failed`.
"""
import io
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    import safetensors.numpy
except ImportError as missing:
    print(f"skipped: no {missing.name}")
    sys.exit(77)

from parquet_tools import Failed, check, convert, error_name, has_module, read_stream, run, run_cases

ROWS = 1000


def read(binary, path, *options):
    out = path.with_suffix(".arrows")
    convert(binary, path, out, *options)
    return read_stream(out)


def leaves(array):
    """The values below all lists, and the sizes of the lists."""
    sizes = []
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    while pa.types.is_fixed_size_list(array.type):
        sizes.append(array.type.list_size)
        array = array.flatten()
    return array, sizes


def expect_column(column, want, type_text):
    """`want`, a NumPy array of numbers, in every bit."""
    array, sizes = leaves(column)
    check(str(array.type) == type_text, f"type {array.type}, expected {type_text}")
    shape = list(want.shape[1:]) + ([2] if want.dtype.kind == "c" else [])
    check(sizes == shape, f"lists of {sizes}, expected {shape}")
    check(len(column) == want.shape[0], f"{len(column)} rows, expected {want.shape[0]}")
    check(array.null_count == 0, "nulls")
    want = np.ascontiguousarray(want.astype(want.dtype.newbyteorder("<")))
    if want.dtype.kind == "c":
        want = want.view(want.real.dtype)
    got = array.to_numpy(zero_copy_only=False)
    check(got.tobytes() == want.tobytes(), "other values")


def values(dtype, count):
    kind, size = np.dtype(dtype).kind, np.dtype(dtype).itemsize
    random = np.random.default_rng(size * 100 + ord(kind))
    if kind == "b":
        return random.integers(0, 2, count).astype(bool)
    if kind in "fc":
        bits = random.integers(0, 256, count * size, dtype=np.uint8).tobytes()
        plain = np.frombuffer(bits, np.dtype(dtype).newbyteorder("<"))
        return plain.astype(dtype) if np.dtype(dtype).byteorder == ">" else plain
    bounds = np.iinfo(dtype)
    return random.integers(bounds.min, bounds.max, count, dtype=np.dtype(dtype).newbyteorder("="), endpoint=True).astype(dtype)


NUMBERS = {"i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32",
           "u8": "uint64", "f2": "halffloat", "f4": "float", "f8": "double", "?": "bool", "c8": "float", "c16": "double"}


# ---- .npy

def npy_numbers(binary, folder):
    for code, name in NUMBERS.items():
        for order in "<>":
            for shape in ((ROWS,), (ROWS // 4, 4), (ROWS // 20, 4, 5), (5, 2, 10, 10), (1,), (0,), (0, 3), (3, 0)):
                dtype = np.dtype(code).newbyteorder(order)
                array = values(dtype, int(np.prod(shape))).reshape(shape)
                for fortran in (False, True) if len(shape) > 1 else (False,):
                    path = folder / "a.npy"
                    np.save(path, np.asfortranarray(array) if fortran else array)
                    try:
                        expect_column(read(binary, path)["value"], array, name)
                    except Failed as why:
                        raise Failed(f"{dtype.str} {shape} fortran {fortran}: {why}") from why


def npy_versions(binary, folder):
    array = values("<i4", 12).reshape(3, 4)
    for version in ((1, 0), (2, 0), (3, 0)):
        path = folder / "v.npy"
        with open(path, "wb") as out:
            np.lib.format.write_array(out, array, version=version)
        expect_column(read(binary, path)["value"], array, "int32")
    named = np.array([(1, 2.5)], dtype=[("größe", "<i4"), ("日本", "<f8")])
    path = folder / "v3.npy"
    with open(path, "wb") as out:
        np.lib.format.write_array(out, named, version=(3, 0))
    table = read(binary, path)
    check(table.column_names == ["größe", "日本"], f"names {table.column_names}")
    latin = np.array([(1,)], dtype=[("größe 'x' \\ \"", "<i4")])
    np.save(folder / "v1.npy", latin)
    check(read(binary, folder / "v1.npy").column_names == ["größe 'x' \\ \""], "a name in Latin-1 with quotes")


def npy_scalars(binary, folder):
    np.save(folder / "s.npy", np.array(7, "<i8"))
    check(read(binary, folder / "s.npy")["value"].to_pylist() == [7], "an array without dimensions")
    np.save(folder / "s.npy", np.arange(6, dtype="<i2").reshape(2, 3))
    for order in "CF":
        np.save(folder / "s.npy", np.array(np.arange(24, dtype="<i2").reshape(2, 3, 4), order=order))
        got = read(binary, folder / "s.npy", "--one-row")["value"].to_pylist()
        check(got == [np.arange(24).reshape(2, 3, 4).tolist()], f"--one-row of order {order}")
        np.save(folder / "s.npy", np.array(np.arange(6, dtype="<i2").reshape(2, 3), order=order))
        table = read(binary, folder / "s.npy", "--unpack")
        check(table.to_pydict() == {"f0": [0, 3], "f1": [1, 4], "f2": [2, 5]}, f"--unpack of order {order}")


def npy_texts(binary, folder):
    texts = ["", "a", "äöü", "日本語", "\U0001F600" * 3, "x\0y", "tail "]
    for order in "<>":
        np.save(folder / "t.npy", np.array(texts).astype(np.dtype("U9").newbyteorder(order)))
        check(read(binary, folder / "t.npy")["value"].to_pylist() == texts, f"U of order {order}")
    raw = [b"", b"a", b"\xff\xfe", b"x\0y", b"12345"]
    np.save(folder / "t.npy", np.array(raw, dtype="S5"))
    check(read(binary, folder / "t.npy")["value"].to_pylist() == raw, "S")
    np.save(folder / "t.npy", np.array([b"abc\0", b"\0\0\0\0"], dtype="S4").view("V4"))
    table = read(binary, folder / "t.npy")
    check(table.schema.field(0).type == pa.binary(4), "V")
    check(table["value"].to_pylist() == [b"abc\0", b"\0\0\0\0"], "values of V")
    np.save(folder / "t.npy", np.array([["ab", "c"], ["", "de"]]))
    check(read(binary, folder / "t.npy")["value"].to_pylist() == [["ab", "c"], ["", "de"]], "U of two dimensions")
    bad = np.array([0x41, 0xD800], dtype="<u4").view("<U1")
    np.save(folder / "t.npy", bad)
    status, _, stderr = run(binary, "convert", folder / "t.npy", folder / "no.arrows")
    check(error_name(status, stderr) == "InvalidFormat" and "row 2" in stderr, f"a surrogate: {stderr}")


def npy_times(binary, folder):
    days = np.array(["1969-07-20", "NaT", "2024-02-29", "0002-01-01", "9999-12-31", "1600-02-29", "1900-03-01"], "M8[D]")
    for unit in ("Y", "M", "W", "D", "2D", "3M"):
        np.save(folder / "d.npy", days.astype(f"M8[{unit}]"))
        got = read(binary, folder / "d.npy")["value"]
        check(str(got.type) == "date32[day]", f"type of M8[{unit}]: {got.type}")
        check(got.to_pylist() == days.astype(f"M8[{unit}]").astype("M8[D]").tolist(), f"values of M8[{unit}]")
    stamps = np.array(["1969-07-20T20:17:40.123456789", "NaT", "2024-02-29T23:59:59.999999999"], "M8[ns]")
    for unit, arrow in (("h", "s"), ("m", "s"), ("s", "s"), ("ms", "ms"), ("us", "us"), ("ns", "ns"), ("25s", "s"), ("10us", "us")):
        for order in "<>":
            given = stamps.astype(f"M8[{unit}]")
            np.save(folder / "d.npy", given.astype(given.dtype.newbyteorder(order)))
            got = read(binary, folder / "d.npy")["value"].combine_chunks()
            check(got.type == pa.timestamp(arrow), f"type of M8[{unit}]: {got.type}")
            check(got.equals(pa.array(given.astype(f"M8[{arrow}]"))), f"values of M8[{unit}]")
    for unit, arrow in (("W", "s"), ("D", "s"), ("h", "s"), ("m", "s"), ("s", "s"), ("ms", "ms"), ("us", "us"), ("ns", "ns")):
        given = np.array([-5, "NaT", 0, 12345], f"m8[{unit}]")
        np.save(folder / "d.npy", given)
        got = read(binary, folder / "d.npy")["value"].combine_chunks()
        check(got.equals(pa.array(given.astype(f"m8[{arrow}]"))), f"values of m8[{unit}]: {got}")
    for dtype, number in (("M8[D]", 2**40), ("M8[h]", 2**62), ("m8[W]", 2**60), ("M8[Y]", 2**50)):
        np.save(folder / "d.npy", np.array([0, number], "i8").view(dtype))
        status, _, stderr = run(binary, "convert", folder / "d.npy", folder / "no.arrows")
        check(error_name(status, stderr) == "Unsupported" and "row 2" in stderr, f"{dtype} out of range: {stderr}")


def npy_records(binary, folder):
    dtype = np.dtype([("id", "<u2"), ("big", ">f8"), ("text", "U5"), ("vec", "<f4", (3,)), ("grid", ">i2", (2, 2)),
                      ("ok", "?"), ("when", "M8[s]"), ("in", [("x", "i1"), ("y", "S2", (2,))]), ("z", "c8")], align=True)
    check(any(f[0] == "" for f in dtype.descr), "the test has no padding")
    records = np.zeros(ROWS, dtype)
    records["id"], records["big"], records["text"] = np.arange(ROWS), np.arange(ROWS) / 7, [f"r{i}"[:5] for i in range(ROWS)]
    records["vec"] = values("<f4", ROWS * 3).reshape(ROWS, 3)
    records["grid"] = np.arange(ROWS * 4).reshape(ROWS, 2, 2) % 1000
    records["ok"], records["when"] = np.arange(ROWS) % 3 == 0, np.arange(ROWS).astype("M8[s]")
    records["in"]["x"], records["in"]["y"] = np.arange(ROWS) % 100, [[b"a", b"bc"]] * ROWS
    records["z"] = np.arange(ROWS) * (1 - 2j)
    np.save(folder / "r.npy", records)
    table = read(binary, folder / "r.npy")
    check(table.column_names == list(dtype.names), f"columns {table.column_names}")
    for name, type_text in (("id", "uint16"), ("big", "double"), ("vec", "float"), ("grid", "int16"), ("ok", "bool"), ("z", "float")):
        expect_column(table[name], records[name], type_text)
    check(table["text"].to_pylist() == records["text"].tolist(), "text")
    check(table["when"].to_pylist() == records["when"].tolist(), "when")
    inner = [{"x": int(x), "y": y.tolist()} for x, y in zip(records["in"]["x"], records["in"]["y"])]
    check(table["in"].to_pylist() == inner, "a record in a record")
    np.save(folder / "r.npy", records.reshape(ROWS // 10, 10)[:, :2])
    table = read(binary, folder / "r.npy")
    check(table.column_names == ["value"] and len(table) == ROWS // 10, "records of two dimensions")
    check(table["value"][3].as_py()[1]["id"] == 31, "a value of records of two dimensions")


def npy_refused(binary, folder):
    cases = {"objects": (np.array([{}, None], object), "Unsupported", "pickles are never read"),
             "long double": (np.zeros(2, np.longdouble), "Unsupported", "has no Arrow type"),
             "no unit": (np.zeros(2, "m8"), "Unsupported", "has no unit"),
             "attoseconds": (np.zeros(2, "M8[as]"), "Unsupported", "a unit that no Arrow type has")}
    for name, (array, error, text) in cases.items():
        path = folder / "no.npy"
        np.save(path, array, allow_pickle=True)
        status, _, stderr = run(binary, "convert", "--quiet", path, folder / "no.ald")
        check(error_name(status, stderr) == error and text in stderr, f"{name}: {stderr}")
        check(not (folder / "no.ald").exists(), f"{name}: an output")
    with open(folder / "two.npy", "wb") as out:
        np.save(out, np.arange(3))
        np.save(out, np.arange(3))
    status, _, stderr = run(binary, "convert", folder / "two.npy", folder / "no.ald")
    check(error_name(status, stderr) == "InvalidFormat" and "follow the array" in stderr, f"two arrays: {stderr}")


def npy_large(binary, folder):
    """Several batches; the memory is that of a batch."""
    array = values("<f4", 300_000 * 16).reshape(300_000, 16)
    for order in "CF":
        np.save(folder / "l.npy", np.array(array, order=order))
        expect_column(read(binary, folder / "l.npy")["value"], array, "float")
    path = folder / "huge.npy"
    with open(path, "wb") as out:
        np.lib.format.write_array_header_2_0(out, {"descr": "<f8", "fortran_order": False, "shape": (2**26, 2)})
        out.truncate(out.tell() + 2**30)
    measure = ("import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], check=True)\n"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    command = [binary, "stats", "--quiet", "--threads", "1", str(path)]
    peak = int(subprocess.run([sys.executable, "-c", measure, *command], capture_output=True, check=True,
                              stdin=subprocess.DEVNULL).stdout.split()[-1])
    if b"__asan_init" not in Path(binary).read_bytes():
        check(peak < 256 << 10, f"{peak >> 10} MiB for an array of 1 GiB")


def to_parquet(binary, folder):
    if not has_module(binary):
        return
    array = values("<f4", 4000).reshape(1000, 4)
    np.savez(folder / "p.npz", id=np.arange(1000), emb=array, when=np.arange(1000).astype("M8[us]"))
    convert(binary, folder / "p.npz", folder / "p.ald")
    convert(binary, folder / "p.ald", folder / "p.parquet")
    table = pq.read_table(folder / "p.parquet")
    expect_column(table["emb"], array, "float")
    expect_column(table["id"], np.arange(1000), "int64")
    check(table["when"].to_pylist() == np.arange(1000).astype("M8[us]").tolist(), "times")


# ---- .npz

def npz_members(binary, folder):
    arrays = {"x": np.arange(ROWS * 100), "emb": values("<f4", ROWS * 300).reshape(ROWS * 100, 3),
              "fortran": np.asfortranarray(values(">i2", ROWS * 200).reshape(ROWS * 100, 2)),
              "deep/name": values("?", ROWS * 100), "größe": values("u1", ROWS * 100)}
    for save in (np.savez, np.savez_compressed):
        save(folder / "z.npz", **arrays)
        table = read(binary, folder / "z.npz")
        check(table.column_names == list(arrays), f"columns {table.column_names}")
        for name, array in arrays.items():
            expect_column(table[name], array, NUMBERS[array.dtype.newbyteorder("=").char if array.dtype.kind == "?" else
                                                      {"b": "?"}.get(array.dtype.kind, array.dtype.str[1:])])
        table = read(binary, folder / "z.npz", "--tensor", "emb", "--tensor", "x")
        check(table.column_names == ["emb", "x"], "--tensor keeps its order")
        table = read(binary, folder / "z.npz", "--columns", "größe,x", "--where", "x > 3")
        check(table.column_names == ["größe", "x"] and table["x"][0].as_py() == 4, "--columns")
        table = read(binary, folder / "z.npz", "--unpack", "--tensor", "emb")
        check(table.column_names == ["emb_0", "emb_1", "emb_2"], "--unpack")
    np.savez(folder / "z.npz", a=np.arange(3), b=np.arange(4))
    status, _, stderr = run(binary, "convert", folder / "z.npz", folder / "no.ald")
    check(error_name(status, stderr) is None and "'a' has 3 rows, 'b' has 4" in stderr and "--one-row" in stderr, stderr)
    table = read(binary, folder / "z.npz", "--one-row")
    check(table.to_pylist() == [{"a": [0, 1, 2], "b": [0, 1, 2, 3]}], "--one-row")
    status, _, stderr = run(binary, "cat", folder / "z.npz", "--tensor", "c")
    check(status == 2 and "no array 'c'" in stderr, stderr)


def npy_bytes(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz_hostile(binary, folder):
    path = folder / "h.npz"

    def refused(what, *errors):
        status, _, stderr = run(binary, "convert", "--quiet", path, folder / "no.ald")
        check(error_name(status, stderr) in errors, f"{what}: exit {status}, {stderr}")
        check(not (folder / "no.ald").exists(), f"{what}: an output")

    good = io.BytesIO()
    np.savez_compressed(good, x=np.arange(1000), y=np.arange(1000) % 7)
    good = good.getvalue()
    for size in [0, 1, 3, 4, 21, 22, *range(30, len(good), 97), len(good) - 1]:
        path.write_bytes(good[:size])
        refused(f"cut at {size}", "Truncated", "InvalidFormat")
    silent = 0
    for at in range(0, len(good), 13):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1:])
        status, _, stderr = run(binary, "convert", "--force", path, folder / "flip.arrows")
        if status == 0:
            # Times, attributes and the like are not covered by a checksum; values are.
            table = read_stream(folder / "flip.arrows")
            check(sorted(tuple(c.to_pylist()) for c in table.columns) == sorted([tuple(range(1000)), tuple(i % 7 for i in range(1000))]),
                  f"byte {at} flipped: other values")
            silent += 1
        else:
            check(error_name(status, stderr) is not None, f"byte {at} flipped: exit {status}, {stderr}")
    check(silent < len(good) / 13 / 2, "most flips went unseen")
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("a.npy", npy_bytes(np.arange(3)))
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out.writestr("a.npy", npy_bytes(np.arange(4)))
    refused("two members of one name", "InvalidFormat")
    check("have the same name" in run(binary, "head", path)[2], "two members of one name: what is said")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as out:
        out.writestr("a.npy", npy_bytes(np.arange(3)))
    refused("bzip2", "Unsupported")
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("a.npy", b"\x93NUMPY\x01\x00")
    refused("a member without header", "Truncated")
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("readme.txt", "x")
    refused("no arrays", "Unsupported")
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("../../evil.npy", npy_bytes(np.arange(3)))
        out.writestr("readme.txt", "x")
    table = read(binary, path)
    check(table.column_names == ["../../evil"], "a name is a name")
    check(not (folder / "../../evil").exists(), "a name became a path")
    encrypted = bytearray(zip_of("a.npy", npy_bytes(np.arange(3))))
    for magic, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        encrypted[encrypted.index(magic) + at] |= 1
    path.write_bytes(encrypted)
    refused("an encrypted member", "Unsupported")
    # A bomb: members that share their bytes.
    member = npy_bytes(np.zeros(2**20, "u1"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a.npy", member)
    data = bytearray(path.read_bytes())
    start, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    entry = bytes(data[start:end])
    many = b"".join(entry[:46] + b"%c.npy" % (97 + i) + entry[51:] for i in range(20))
    trailer = bytearray(data[end:])
    struct.pack_into("<HHI", trailer, 8, 20, 20, len(many))
    path.write_bytes(bytes(data[:start]) + many + bytes(trailer))
    refused("members that overlap", "InvalidFormat")


def zip_of(name, data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, data)
    return out.getvalue()


# ---- safetensors

def safe_file(path, tensors, metadata=None, order=None):
    """Written by hand: dtypes that NumPy has not. `tensors`: name -> (dtype, shape, bytes)"""
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def safe_values(binary, folder):
    arrays = {f"c_{code}": values(f"<{code}" if code != "?" else code, ROWS * 3).reshape(ROWS, 3)
              for code in NUMBERS if code[0] != "c"}
    arrays["one"] = np.arange(ROWS)
    safetensors.numpy.save_file(arrays, folder / "s.safetensors", metadata={"format": "pt", "größe": "日本\n"})
    table = read(binary, folder / "s.safetensors")
    check(set(table.column_names) == set(arrays), f"columns {table.column_names}")
    for name, array in arrays.items():
        expect_column(table[name], array, NUMBERS["i8" if name == "one" else name[2:]])
    check(table.schema.metadata == {b"format": b"pt", "größe".encode(): "日本\n".encode()}, f"metadata {table.schema.metadata}")
    convert(binary, folder / "s.safetensors", folder / "s.ald", "--aligned")
    convert(binary, folder / "s.ald", folder / "s2.arrows")
    again = read_stream(folder / "s2.arrows")
    check(again.schema.equals(table.schema, check_metadata=True), "the schema, through an aligned .ald")
    for name, array in arrays.items():
        expect_column(again[name], array, NUMBERS["i8" if name == "one" else name[2:]])


def safe_small_floats(binary, folder):
    bits = np.arange(2**16, dtype="<u2")
    safe_file(folder / "b.safetensors", {"b": ("BF16", [2**16], bits.tobytes()), "f": ("F8_E4M3", [2**16], bits.astype("u1").tobytes()),
                                         "c": ("C64", [2**16], np.arange(2**17, dtype="<f4").tobytes())})
    table = read(binary, folder / "b.safetensors")
    expect_column(table["b"], (bits.astype("<u4") << 16).view("<f4"), "float")
    expect_column(table["f"], bits.astype("u1"), "uint8")
    check(table["c"][5].as_py() == [10.0, 11.0], "C64")
    check(table.schema.field("b").metadata == {b"safetensors.dtype": b"BF16"}, "the dtype that was")
    check(table.schema.field("c").metadata is None, "a dtype that is kept")
    safe_file(folder / "b.safetensors", {"b": ("F4", [4], b"\0\0"), "i": ("I8", [1], b"\1")})
    status, _, stderr = run(binary, "schema", folder / "b.safetensors")
    check(error_name(status, stderr) == "Unsupported", f"F4: {stderr}")
    check(read(binary, folder / "b.safetensors", "--tensor", "i")["i"].to_pylist() == [1], "--tensor beside an unknown dtype")


def safe_model(binary, folder):
    weights = {"layer.weight": np.arange(12, dtype="<f4").reshape(3, 4), "layer.bias": np.arange(3, dtype="<f4"), "scale": np.array(2, "<f4")}
    safetensors.numpy.save_file(weights, folder / "m.safetensors")
    status, _, stderr = run(binary, "convert", folder / "m.safetensors", folder / "m.ald", "--aligned")
    check(status == 1 and "rows" in stderr and "--one-row" in stderr, stderr)
    convert(binary, folder / "m.safetensors", folder / "m.ald", "--aligned", "--one-row")
    convert(binary, folder / "m.ald", folder / "m.arrows")
    table = read_stream(folder / "m.arrows")
    check(table.num_rows == 1, "one row")
    for name, array in weights.items():
        check(np.array_equal(np.array(table[name][0].as_py()).reshape(array.shape), array), name)


def safe_hostile(binary, folder):
    path = folder / "h.safetensors"

    def refused(what, text):
        status, _, stderr = run(binary, "convert", "--quiet", path, folder / "no.ald")
        check(error_name(status, stderr) in ("InvalidFormat", "Truncated", "LimitExceeded", "Unsupported") and text in stderr, f"{what}: {stderr}")

    def header(text, data=b"", size=None):
        raw = text.encode() if isinstance(text, str) else json.dumps(text).encode()
        path.write_bytes(struct.pack("<Q", len(raw) if size is None else size) + raw + data)

    def tensor(shape, first, last, dtype="U8"):
        return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}

    for size in (2**63, 2**64 - 1, 10**9, 3):
        header({"a": tensor([1], 0, 1)}, b"\0", size)
        refused(f"header of {size}", "")
    for what, entries, data, text in (
            ("overlap", {"a": tensor([4], 0, 4), "b": tensor([4], 2, 6)}, 6, "overlap"),
            ("same bytes twice", {"a": tensor([4], 0, 4), "b": tensor([4], 0, 4)}, 4, "overlap"),
            ("gap", {"a": tensor([4], 0, 4), "b": tensor([4], 5, 9)}, 9, "gap"),
            ("bytes at the end", {"a": tensor([4], 0, 4)}, 5, "belong to no tensor"),
            ("behind the end", {"a": tensor([4], 0, 4)}, 3, "behind the end"),
            ("shape too large", {"a": tensor([5], 0, 4)}, 4, "not as many"),
            ("product overflows", {"a": tensor([2**32, 2**32], 0, 0)}, 0, "too large"),
            ("negative", {"a": tensor([-1], 0, 4)}, 4, "no number"),
            ("backwards", {"a": tensor([4], 4, 0)}, 4, "ends before"),
            ("rows without bytes", {"a": tensor([2**40, 0], 0, 0)}, 0, "without a byte"),
            ("lists without bytes", {"a": tensor([3, 2**30, 0], 0, 0)}, 0, "too large"),
            ("more fields", {"a": {**tensor([1], 0, 1), "x": 1}}, 1, "described by"),
            ("no object", {"a": 5}, 1, ""), ("metadata", {"__metadata__": {"a": 1}}, 0, "__metadata__"), ("empty", {}, 0, "no array")):
        header(entries, bytes(data))
        refused(what, text)
    header('{"a":%s,"a":%s}' % (json.dumps(tensor([1], 0, 1)), json.dumps(tensor([1], 1, 2))), bytes(2))
    refused("one name twice", "twice")
    header("[1]")
    refused("a list", "object")
    header('{"a":')
    refused("no JSON", "not JSON")


CASES = [npy_numbers, npy_versions, npy_scalars, npy_texts, npy_times, npy_records, npy_refused, npy_large, to_parquet, npz_members,
         npz_hostile, safe_values, safe_small_floats, safe_model, safe_hostile]


def choose(binary, cases):
    probe = subprocess.run([binary, "schema", "--from", "npz", "-"], input=b"PK", capture_output=True)
    return [case for case in cases if b"libzip" not in probe.stderr or case not in (npz_members, npz_hostile, to_parquet)]


def main():
    return run_cases(CASES, choose)



if __name__ == "__main__":
    sys.exit(main())
