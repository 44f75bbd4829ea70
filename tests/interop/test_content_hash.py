#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`alimentar hash` against a second implementation, and what must not change a hash.

    test_content_hash.py --bin PATH

agree      tables of every type, whole, sliced, in lists and structs: the command and content_hash.py say the same
vectors    the test vectors of docs/FORMAT.md
golden     .ald files of other writers
storage    compression, chunks, alignment, encryption, Arrow files, Parquet: one hash
encoding   dictionaries, runs, wide and view types, bytes behind nulls, batches: one hash
difference what must change a hash

A line for each failure, `N passed, N failed` as the last. Exits 77 when a package is absent.
"""
import os
import re
import struct
import sys
from pathlib import Path

try:
    import blake3  # noqa: F401 - content_hash needs it
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute
    from test_ipc import ROWS, Failed, all_columns, batch_of, cases, read, run, run_checks, write
except ModuleNotFoundError as e:
    print(f"skipped: {e}")
    sys.exit(77)

from content_hash import content_hash
from parquet_tools import has_module

ROOT = Path(__file__).resolve().parents[2]
NO_PARQUET = ("interval", "runs", "sparse", "dense", "nested dictionary", "decimal128(38, -2)")


def hash_of(bin_path, path, *options):
    line = run(bin_path, "hash", path, "--quiet", *options)
    if not re.fullmatch(r"[0-9a-f]{64}  .*\n", line):
        raise Failed(f"hash printed {line!r}")
    return line[:64]


def hash_of_table(bin_path, folder, table, kind=".arrows"):
    path = folder / f"table{kind}"
    write(path, table.schema, table.to_batches())
    return hash_of(bin_path, path)


def expect(name, got, want):
    return None if got == want else f"{name}: {got}, wanted {want}"


def check_agree(bin_path, folder, rng):
    for name, batches in cases(rng):
        schema = batches[0].schema if batches else batch_of(all_columns(rng)[0]).schema
        want = content_hash(pa.Table.from_batches(batches, schema))
        for kind in (".arrow", ".arrows"):
            path = folder / f"agree{kind}"
            write(path, schema, batches)
            for threads in ("1", "4"):
                yield expect(f"agree: {name} {kind}", hash_of(bin_path, path, "--threads", threads), want)
    yield from check_odd_types(bin_path, folder)


def check_odd_types(bin_path, folder):
    """Encodings of encodings, and types without anything in them."""
    words = pa.array(["a", None, "b"])
    inner = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 1, 1], pa.int8()), words)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([3, 4, 9, 12], pa.int32()), inner.slice(0, 4))
    lists = pa.array([["x", None], None, []], pa.list_(pa.string()))
    of_lists = pa.DictionaryArray.from_arrays(pa.array([0, 0, 1, 2, None, 0, 2, 2, 1, 0, 0, 1], pa.int64()), lists)
    fixed = pa.array([[1, None], None, [3, 4]], pa.list_(pa.int16(), 2))
    run_fixed = pa.RunEndEncodedArray.from_arrays(pa.array([5, 6, 12], pa.int16()), fixed)
    struct_runs = pa.RunEndEncodedArray.from_arrays(
        pa.array([7, 11, 12], pa.int64()), pa.array([{"u": True, "v": b"q"}, None, {"u": None, "v": b""}],
                                                    pa.struct([("u", pa.bool_()), ("v", pa.binary())])))
    columns = {"runs": runs, "lists": of_lists, "fixed": run_fixed, "structs": struct_runs,
               "empty struct": pa.array([{}, None] * 6, pa.struct([])), "none": pa.array([None] * 12, pa.list_(pa.int8(), 0)),
               "zero": pa.array([b"", None] * 6, pa.binary(0))}
    batch = pa.RecordBatch.from_arrays(list(columns.values()), list(columns))
    for some in ([batch], [batch.slice(1, 7), batch.slice(8)], [batch.slice(i, 1) for i in range(12)]):
        table = pa.Table.from_batches(some, batch.schema)
        yield expect("agree: odd types", hash_of_table(bin_path, folder, table), content_hash(table))


def vector_tables():
    """The tables of F-459, by the names that it gives them."""
    yield "empty", pa.table({})
    yield "no rows", pa.table({"a": pa.array([], pa.int64())})
    yield "integers", pa.table({"a": pa.array([1, 2, 3], pa.int64())})
    yield "nulls", pa.table({"a": pa.array([None, 2, None, None], pa.int32()), "b": pa.nulls(4)})
    yield "text", pa.table({"t": pa.array(["", "ä", None, "abc"]), "b": pa.array([b"", None, b"\0", b"\xff"])})
    yield "nested", pa.table({"l": pa.array([[{"x": 1.5, "y": True}, None], None, []],
                                            pa.list_(pa.struct([("x", pa.float64()), ("y", pa.bool_())])))})
    yield "parameters", pa.table({
        "d": pa.array([12345], pa.int64()).cast(pa.decimal128(20, 0)).cast(pa.decimal128(20, 2)),
        "t": pa.array([-1], pa.timestamp("us", "UTC")), "w": pa.array([b"ab"], pa.binary(2)),
        "m": pa.array([[("k", 7)]], pa.map_(pa.string(), pa.int8())),
        "u": pa.UnionArray.from_sparse(pa.array([5], pa.int8()), [pa.array([9], pa.int8()), pa.array(["z"])],
                                       ["i", "s"], [3, 5]),
        "e": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(range(16))], pa.binary(16)))})


def check_vectors(bin_path, folder, _rng):
    text = (ROOT / "docs/FORMAT.md").read_text()
    said = dict(re.findall(r"^\| ([a-z ]+) \|.*\| `([0-9a-f]{64})` \|$", text, re.M))
    for name, table in vector_tables():
        yield expect(f"vectors: {name}, by the document", content_hash(table), said.get(name))
        yield expect(f"vectors: {name}, by the command", hash_of_table(bin_path, folder, table), said.get(name))


def check_golden(bin_path, folder, _rng):
    for path in sorted((ROOT / "tests/golden/crate-0.2").glob("*.ald")):
        if path.stem.split("-")[0] in ("all", "password", "recipient", "query") or "password" in path.stem:
            continue
        options = ["--allow-untrusted", "--ignore-expiry"]
        out = folder / "golden.arrows"
        try:
            run(bin_path, "convert", path, out, "--force", "--quiet", *options)
        except Failed:
            continue  # encrypted, or refused: other tests say why
        yield expect(f"golden: {path.name}", hash_of(bin_path, path, *options), content_hash(read(out)))


def check_storage(bin_path, folder, rng):
    source = folder / "storage.arrow"
    columns, _ = all_columns(rng)
    batch = batch_of(columns)
    write(source, batch.schema, [batch.slice(0, 123), batch.slice(123)])
    want = hash_of(bin_path, source)
    for options in (["--compression", "none"], ["--compression", "zstd-l3"], ["--compression", "zstd-l19"],
                    ["--compression", "lz4"], ["--compression", "packed", "--chunk-rows", "100"],
                    ["--compression", "packed-lz4", "--chunk-rows", "77"], ["--streaming"], ["--chunk-rows", "1"],
                    ["--aligned", "--streaming"], ["--aligned", "--chunk-rows", "64"], ["--sha256"]):
        out = folder / "storage.ald"
        run(bin_path, "convert", source, out, "--force", "--quiet", *options)
        yield expect(f"storage: {options}", hash_of(bin_path, out), want)
        secret = folder / "secret.ald"
        if "--aligned" not in options:
            os.environ["ALIMENTAR_PASSPHRASE"] = "sesame"
            run(bin_path, "encrypt", out, secret, "--force", "--quiet", "--password")
            yield expect(f"storage: encrypted {options}", hash_of(bin_path, secret, "--password"), want)
            del os.environ["ALIMENTAR_PASSPHRASE"]
    for kind in (".arrow", ".arrows"):
        for compression in ("none", "zstd", "lz4"):
            out = folder / f"again{kind}"
            run(bin_path, "convert", source, out, "--force", "--quiet", "--buffer-compression", compression)
            yield expect(f"storage: {kind} {compression}", hash_of(bin_path, out), want)
    if has_module(bin_path):
        some = batch_of({name: column for name, column in columns.items() if name not in NO_PARQUET})
        write(source, some.schema, [some])
        run(bin_path, "convert", source, folder / "some.parquet", "--force", "--quiet")
        yield expect("storage: parquet", hash_of(bin_path, folder / "some.parquet"), hash_of(bin_path, source))
    yield from check_text(bin_path, folder)


def check_text(bin_path, folder):
    """Text has few types: what they hold survives it."""
    table = pa.table({"i": pa.array([1, None, -3]), "f": pa.array([0.1, -0.0, None]), "s": pa.array(["a", "b,", None]),
                      "d": pa.array([1, 2, None], pa.date32()), "b": pa.array([True, None, False])})
    want = hash_of_table(bin_path, folder, table)
    for kind in (".csv", ".jsonl", ".json", ".csv.gz"):
        out = folder / f"text{kind.removesuffix('.gz')}"
        run(bin_path, "convert", folder / "table.arrows", out, "--force", "--quiet")
        if kind.endswith(".gz"):
            import gzip
            (folder / f"text{kind}").write_bytes(gzip.compress(out.read_bytes()))
        yield expect(f"text: {kind}", hash_of(bin_path, folder / f"text{kind}", "--types", "d:date32[day]"), want)


def dirty(array):
    """The same values, with other bytes behind its nulls."""
    bits, values = array.buffers()
    raw = bytearray(values.to_pybytes())
    width = array.type.bit_width // 8
    for i in range(len(array)):
        if not array[i].is_valid:
            raw[i * width:(i + 1) * width] = b"\xa5" * width
    return pa.Array.from_buffers(array.type, len(array), [bits, pa.py_buffer(bytes(raw))])


def check_encoding(bin_path, folder, rng):
    n = 3000
    mask = rng.random(n) < 0.2
    words = pa.array([None if m else f"w{k}" * int(k % 5) for m, k in zip(mask, rng.integers(0, 40, n))])
    words = pa.array([w for w in words.to_pylist()], pa.string())
    ints = pa.array(rng.integers(0, 5, n) * 1000, pa.int64(), mask=mask)
    sorted_ints = ints.sort()
    lists = pa.array([None if m else list(range(int(k))) for m, k in zip(mask, rng.integers(0, 5, n))], pa.list_(pa.int64()))
    full = pa.array(np.arange(n))
    plain = {"words": words, "ints": ints, "sorted": sorted_ints, "lists": lists, "full": full}
    want = hash_of_table(bin_path, folder, pa.table(plain))
    yield expect("encoding: agree", content_hash(pa.table(plain)), want)
    shuffled = pa.array(sorted(set(words.drop_null().to_pylist()), reverse=True) + ["unused", None])
    index = {w: i for i, w in enumerate(shuffled.to_pylist())}
    nulls_inside = pa.DictionaryArray.from_arrays(pa.array([index[w] for w in words.to_pylist()], pa.uint8()), shuffled)
    set_bits = pa.py_buffer(b"\xff" * ((n + 7) // 8))
    others = {
        "dictionary": {"words": words.dictionary_encode(), "ints": ints.dictionary_encode(), "sorted": sorted_ints.dictionary_encode()},
        "nulls in the dictionary": {"words": nulls_inside},
        "runs": {"sorted": pa.compute.run_end_encode(sorted_ints), "ints": pa.compute.run_end_encode(ints, pa.int16()),
                 "words": pa.compute.run_end_encode(words)},
        "large": {"words": words.cast(pa.large_string()), "lists": lists.cast(pa.large_list(pa.int64()))},
        "views": {"words": words.cast(pa.string_view()), "lists": pa.array(lists.to_pylist(), pa.list_view(pa.int64()))},
        "dirty": {"ints": dirty(ints), "sorted": dirty(sorted_ints)},
        "validity": {"full": pa.Array.from_buffers(pa.int64(), n, [set_bits, full.buffers()[1]])},
        "item names": {"lists": lists.cast(pa.list_(pa.field("element", pa.int64())))},
    }
    for name, changed in others.items():
        table = pa.table({**plain, **changed})
        yield expect(f"encoding: {name}", hash_of_table(bin_path, folder, table), want)
        cut = pa.Table.from_batches([b for k in range(0, n, 701) for b in table.slice(k, 701).to_batches()])
        yield expect(f"encoding: {name}, cut", hash_of_table(bin_path, folder, cut), want)
    named = pa.schema([pa.field(f.name, f.type, metadata={"ald.description": "a", "z": "b"}) for f in pa.table(plain).schema],
                      metadata={"b": "1", "a": "2"})
    yield expect("encoding: metadata", hash_of_table(bin_path, folder, pa.table(plain).cast(named)), want)
    strict = pa.schema([pa.field(f.name, f.type, nullable=f.name != "full") for f in pa.table(plain).schema])
    yield expect("encoding: nullability", hash_of_table(bin_path, folder, pa.table(plain).cast(strict)), want)


def check_difference(bin_path, folder, _rng):
    nan = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]
    base = {"a": pa.array([1, 2, None]), "f": pa.array([0.0, 1.0, float("nan")]), "s": pa.array(["ab", "c", ""])}
    tables = {
        "base": pa.table(base), "a value": pa.table({**base, "a": pa.array([1, 3, None])}),
        "a null": pa.table({**base, "a": pa.array([1, 2, 0])}), "moved null": pa.table({**base, "a": pa.array([1, None, 2])}),
        "a zero": pa.table({**base, "f": pa.array([-0.0, 1.0, float("nan")])}),
        "a NaN": pa.table({**base, "f": pa.array([0.0, 1.0, nan])}),
        "where text ends": pa.table({**base, "s": pa.array(["a", "bc", ""])}),
        "a null text": pa.table({**base, "s": pa.array(["ab", "c", None])}),
        "a name": pa.table({"b": base["a"], "f": base["f"], "s": base["s"]}),
        "order": pa.table({"f": base["f"], "a": base["a"], "s": base["s"]}),
        "a type": pa.table({**base, "a": base["a"].cast(pa.int32())}),
        "text as binary": pa.table({**base, "s": base["s"].cast(pa.binary())}),
        "fewer rows": pa.table(base).slice(0, 2), "fewer columns": pa.table({"a": base["a"], "f": base["f"]}),
        "a zone": pa.table({"t": pa.array([1], pa.timestamp("s", "UTC"))}),
        "another zone": pa.table({"t": pa.array([1], pa.timestamp("s", "Europe/Berlin"))}),
        "another unit": pa.table({"t": pa.array([1], pa.timestamp("ms", "UTC"))}),
        "scale": pa.table({"d": pa.array([1], pa.decimal128(10, 1))}), "other scale": pa.table({"d": pa.array([1], pa.decimal128(10, 2))}),
        "null struct": pa.table({"s": pa.array([None], pa.struct([("x", pa.int8())]))}),
        "struct of null": pa.table({"s": pa.array([{"x": None}], pa.struct([("x", pa.int8())]))}),
        "empty list": pa.table({"l": pa.array([[]], pa.list_(pa.int8()))}), "null list": pa.table({"l": pa.array([None], pa.list_(pa.int8()))}),
        "an extension": pa.table({"u": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16)))}),
        "its storage": pa.table({"u": pa.array([b"0" * 16], pa.binary(16))}),
    }
    hashes = {}
    for name, table in tables.items():
        got = hash_of_table(bin_path, folder, table)
        yield expect(f"difference: {name}", got, content_hash(table))
        yield f"difference: {name} and {hashes[got]} have the same hash" if got in hashes else None
        hashes[got] = name


def main():
    return run_checks((check_agree, check_vectors, check_golden, check_storage, check_encoding, check_difference), ROWS)


if __name__ == "__main__":
    sys.exit(main())
