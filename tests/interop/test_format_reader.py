#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks docs/FORMAT.md through ald_reader.py, a reader that was written from it alone.

    test_format_reader.py [--bin PATH] [--only TEXT]

rules    each rule that a source or test cites is in FORMAT.md, whose numbers rise
golden   every file of tests/golden says and holds what its twin says; without its keys it is refused, and
         so is a plain file when a key is given; a column read alone, and a file read without its index, give the same rows
hostile  every file of tests/hostile is refused under one of the accepted names
cli      what `PATH convert` writes, of every Arrow type and with each option of the format, is what pyarrow put in

A line for each failure, `N passed, N failed` as the last. Exits 77 when a package is absent.
"""
import argparse
import decimal
import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(HERE), str(TESTS / "runners")]
try:
    import pyarrow as pa

    import ald_keys
    import ald_reader
    from ald_bytes import AldError, arrow_stream, crc32_crate, inflate
    from ald_reader import ENCRYPTED, LICENSED, SIGNED, STREAMING, Ask
    from check_files import Bad, compare, compare_with_twin, listed, wire_schema, wire_value
except ModuleNotFoundError as e:
    if e.name not in ("pyarrow", "cryptography", "blake3", "lz4", "zstandard"):
        raise
    print(f"skipped: {e}")
    sys.exit(77)

NOW = 1_750_000_000  # of files whose twin names no time


def ask_of(given, **more):
    keys = listed(given.get("private_keys") or given.get("private_key") or given.get("any_of_private_keys"))
    now = given.get("now", NOW)
    return Ask(password=given.get("password"), private_keys=tuple(map(bytes.fromhex, keys)),
               trusted=tuple(map(bytes.fromhex, listed(given.get("trusted")))), any_signer=bool(given.get("any_signer")),
               commercial=bool(given.get("commercial")), require_commit=bool(given.get("require_commit")),
               now=None if now == "unknown" else now, **more)


def expect_error(data, ask, names, what):
    try:
        ald_reader.read(data, ask)
    except AldError as e:
        if e.name not in names:
            raise Bad(f"{what}: {e}, expected {' or '.join(names)}") from None
    else:
        raise Bad(f"{what}: read, expected {' or '.join(names)}")


# ---------------------------------------------------------------------------- golden files

def hexed(value):
    """Bytes as the twins write them."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, dict):
        return {k: hexed(v) for k, v in value.items()}
    return [hexed(v) for v in value] if isinstance(value, list) else value


def compare_structure(f, want):
    """What the file says of itself."""
    names = ("major", "minor", "type", "metadata_size", "payload_size", "uncompressed_size", "compression", "flags", "schema_size",
             "num_rows")
    compare("header", {k: f.header[k] for k in names}, {k: want["header"][k] for k in names})
    sections = {k: list(v) for k, v in f.sections.items() if k != "header" and not (k == "padding" and v[0] == v[1])}
    compare("sections", sections, want["sections"])
    compare("crc32_variant", f.crc32_variant, want["crc32_variant"])
    compare("metadata_form", "array" if f.is_array else "map", want["metadata_form"])
    facts = {k: v for k, v in want["metadata"].get("ald", {}).items() if v is not None}
    compare("ald", hexed(f.facts), facts)
    compare("metadata", hexed(f.metadata), {k: v for k, v in want["metadata"].items() if k != "ald"})
    chunks = [dict({k: v for k, v in vars(c).items() if k not in ("column_frames", "filters")},
                   **({"column_frames": [list(x) for x in c.column_frames]} if c.column_frames else {}),
                   **({"filters": c.filters} if c.filters is not None else {})) for c in f.chunks]
    wanted = want.get("chunks", [])
    if f.has(ENCRYPTED):  # the twin does not look inside
        for c in chunks:
            c.pop("column_frames", None)
            c.pop("filters", None)
    compare("chunks", chunks, wanted)
    compare("arrays", f.arrays, want.get("arrays", []))
    compare("license", f.license, want.get("license"))
    compare("signature", f.signature, want.get("signature"))


def compare_other_ways(f):
    """A column alone (F-178), and the stream without its index (F-160)."""
    if f.header["compression"] > 3:
        return
    for number, chunk in enumerate(f.chunks):
        if chunk.column_frames:
            for i in range(len(f.schema)):
                got = [wire_value(x) for x in f.read_column(number, i)]
                compare(f"column {i} of chunk {number}", got, [wire_value(x) for x in f.batches[number].column(i)])
    if f.chunks and not f.has(ENCRYPTED):
        _, batches = arrow_stream(inflate(f.header["compression"], f.bytes_of("payload"), f.uncompressed_size))
        if len(batches) != len(f.batches) or not all(a.equals(b) for a, b in zip(batches, f.batches)):
            if wire_rows(batches) != wire_rows(f.batches):  # NaN is not equal to itself
                raise Bad("other rows without the index")


def wire_rows(batches):
    return json.dumps([[wire_value(x) for x in c] for b in batches for c in b.columns])


def check_refusals(data, f, given):
    if f.has(ENCRYPTED):
        without = {k: v for k, v in given.items() if "private" not in k and k != "password"}
        expect_error(data, ask_of(without), ["DecryptionFailed"], "without a key")
        wrong = dict(without, password="wrong", private_keys=["11" * 32])
        names = ["DecryptionFailed"]
        if f.data_mode() == 1 and f.header["minor"] < 3:
            names.append("InvalidFormat")  # the other length of the block may fit, and be broken (F-213)
        expect_error(data, ask_of(wrong), names, "with a wrong key")
        for key in given.get("any_of_private_keys", []):
            if ald_keys.pub_hash(bytes.fromhex(key)) in f.bytes_of("encryption"):  # enc-one-of-one names keys of its siblings
                ald_reader.read(data, ask_of(dict(without, private_keys=[key])))
    else:
        expect_error(data, ask_of(dict(given, password="x")), ["DecryptionFailed"], "plain, with a password")
    if f.has(SIGNED):
        without = {k: v for k, v in given.items() if k != "trusted"}
        expect_error(data, ask_of(without), ["UntrustedSigner"], "without a trusted key")
    else:
        expect_error(data, ask_of(dict(given, trusted=["22" * 32])), ["UntrustedSigner"], "unsigned, with a trusted key")
    lic = f.license
    if f.has(LICENSED) and lic["flags"] & 2 and lic["expires_at"]:
        expect_error(data, ask_of(dict(given, now=lic["expires_at"] + 1)), ["LicenseExpired"], "a second after expiry")
        ald_reader.read(data, ask_of(dict(given, now=lic["expires_at"])))
        expect_error(data, ask_of(dict(given, now="unknown")), ["LicenseExpired"], "without a clock")


def check_wire(path, twin):
    data = path.read_bytes()
    f = ald_reader.read(data, ask_of(twin["read_with"]))
    compare_with_twin(f.schema, f.batches, twin, "wire")
    compare("rows of batches", [b.num_rows for b in f.batches], [len(b) for b in twin["batches"]])
    compare_structure(f, twin["structure"])
    compare_other_ways(f)
    check_refusals(data, f, twin["read_with"])


def check_crate(path, twin):
    data, given = path.read_bytes(), twin["open_with"]
    if twin["expect"] != "ok":
        names = [twin["expect"]] if twin["expect"] != "error" else ["InvalidFormat", "Truncated", "ChecksumMismatch"]
        return expect_error(data, ask_of(given), names, twin["why"])
    f = ald_reader.read(data, ask_of(given))
    compare_with_twin(f.schema, f.batches, twin, "crate")
    compare("metadata", f.metadata, {k: v for k, v in twin["metadata"].items() if v is not None})
    compare("crc32_variant", f.crc32_variant, "crate")
    return None


def check_envelopes():
    for case in json.loads((TESTS / "golden/wire-1.3/query-envelopes.json").read_text()):
        raw = {k: bytes.fromhex(case[k]) for k in ("owner_private", "user_private", "user_public")}
        request, answer = (bytes.fromhex(case[k]["envelope"]) for k in ("request", "answer"))
        got = ald_keys.open_envelope(raw["owner_private"], request, b"ald-v1-query")
        compare("request", got.hex(), case["user_public"] + case["request"]["plaintext"])
        got = ald_keys.open_envelope(raw["user_private"], answer, b"ald-v1-answer", ald_keys.sha256(request).digest())
        compare("answer", got.hex(), case["answer"]["plaintext"])


def check_vectors():  # F-299
    for text, want in ((b"123456789", 0xCBF43926), (b"!", 0x9E69FFD3), (bytes(range(256)), 0x3EA48892)):
        compare(f"crate's checksum of {text[:9]!r}", crc32_crate(text), want)


def check_rules():
    text = (TESTS.parent / "docs/FORMAT.md").read_text()
    rules = re.findall(r"^\*\*F-(\d{3})\*\* ", text, re.M)
    if len(rules) < 100 or rules != sorted(set(rules)):
        raise Bad("numbers that do not rise, or few")
    files = [TESTS.parent / "docs/FORMAT.md", *(p for folder in ("src", "include", "tests") for p in (TESTS.parent / folder).rglob("*")
                                                if p.suffix in (".c", ".h", ".py"))]
    for path in files:
        unknown = set(re.findall(r"\bF-(\d{3})\b", path.read_text())) - set(rules)
        if unknown:
            raise Bad(f"{path.name} cites F-{min(unknown)}, which there is not")


def golden_jobs():
    for folder, check in (("wire-1.3", check_wire), ("crate-0.2", check_crate)):
        for path in sorted((TESTS / "golden" / folder).glob("*.ald")):
            twin = path.with_name(path.name + ".json") if folder == "wire-1.3" else path.with_suffix(".json")
            yield f"golden/{path.name}", lambda c=check, p=path, t=twin: c(p, json.loads(t.read_text()))
    yield "golden/query-envelopes", check_envelopes
    yield "crate's checksum", check_vectors


def hostile_jobs():
    for name, entry in json.loads((TESTS / "hostile/expected.json").read_text()).items():
        def check(path=TESTS / "hostile" / name, e=entry):
            if "ok" not in e["errors"]:
                expect_error(path.read_bytes(), ask_of(e.get("read_with", {})), e["errors"], e["why"])
        yield f"hostile/{name}", check


# ---------------------------------------------------------------------------- what the command writes

def utc(*args):
    return datetime(*args, tzinfo=timezone.utc)


def of(kind, *values):
    return pa.array([*values, None], kind)


def simple_columns():
    yield from ((str(t), of(t, 0, 1, lo, hi)) for t, lo, hi in (
        (pa.int8(), -128, 127), (pa.int16(), -2**15, 2**15 - 1), (pa.int32(), -2**31, 2**31 - 1),
        (pa.int64(), -2**63, 2**63 - 1), (pa.uint8(), 5, 255), (pa.uint16(), 5, 2**16 - 1), (pa.uint32(), 5, 2**32 - 1),
        (pa.uint64(), 5, 2**64 - 1)))
    inf = float("inf")
    yield from ((str(t), of(t, -0.0, float("nan"), inf, -inf)) for t in (pa.float32(), pa.float64()))
    yield "bool", of(pa.bool_(), True, False, True, False)
    words = ("", "a\0b", "größer 🔑", "x" * 40)
    for t in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        yield str(t), of(t, *(words if "string" in str(t) else (w.encode() for w in words)))
    yield "date", of(pa.date32(), *(datetime(y, 2, 3).date() for y in (1, 1969, 2024, 9999)))
    yield "day", pa.array([0, 1, -1, 20000, None], pa.int32()).cast(pa.date32())
    yield from ((str(t), pa.array([0, -1, 2**40, 1234567, None], pa.int64()).cast(t)) for t in (
        pa.timestamp("s"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "Europe/Berlin"), pa.duration("ms")))
    yield "dec", of(pa.decimal128(20, 3), *map(decimal.Decimal, ("0.000", "-1.125", "12345678901234567.890", "1.000")))


def other_columns():
    yield "null", pa.nulls(5)
    yield "half", pa.array([0, 0x8000, 0x7C00, 0x3C01, None], pa.uint16()).view(pa.float16())
    yield from ((f"view{t}", of(t, *vals)) for t, vals in (
        (pa.string_view(), ("", "short", "a longer text than twelve", "é" * 9)), (pa.binary_view(), (b"", b"\xff", b"0" * 13, b"1" * 12))))
    yield "fixed", of(pa.binary(3), b"abc", b"\0\0\0", b"xyz", b"123")
    yield "date64", of(pa.date64(), *(datetime(y, 1, 1) for y in (1970, 1, 2024, 1969)))
    yield "time32", pa.array([0, 1, 86399, 5, None], pa.int32()).cast(pa.time32("s"))
    yield "time64", pa.array([0, 1, 86399 * 10**9, 5, None], pa.int64()).cast(pa.time64("ns"))
    yield "mdn", pa.array([(1, 2, 3), (0, 0, 0), (-1, -2, -3), (12, 31, 10**15), None], pa.month_day_nano_interval())
    yield from ((str(t), of(t, *map(decimal.Decimal, ("0.00", "-1.25", "123.45", "9.99")))) for t in (
        pa.decimal32(7, 2), pa.decimal64(15, 2), pa.decimal256(60, 2)))
    ints = [[1, None], [], [3, 4, 5], [6]]
    yield from ((str(t), of(t, *ints)) for t in (
        pa.list_(pa.int32()), pa.large_list(pa.int16()), pa.list_view(pa.int64()), pa.large_list_view(pa.int8())))
    yield "fsl", of(pa.list_(pa.float32(), 2), [1, 2], [None, 4], [5, 6], [7, 8])
    yield "struct", of(pa.struct([pa.field("a", pa.int64()), pa.field("b", pa.list_(pa.string()))]), *(
        {"a": 1, "b": ["x", None]}, {"a": None, "b": []}, {"a": 3, "b": None}, {"a": 4, "b": ["y"]}))
    yield "map", of(pa.map_(pa.string(), pa.int32()), [("k", 1)], [], [("a", None), ("b", 2)], [("z", 9)])
    yield "dictionary", of(pa.string(), "x", "y", "x", "z").dictionary_encode()
    yield "runs", pa.RunEndEncodedArray.from_arrays(pa.array([2, 4, 5], pa.int32()), pa.array(["a", None, "b"]))
    ids, kids = pa.array([0, 1, 0, 1, 1], pa.int8()), [pa.array([1, 2, 3, 4, None], pa.int64()), pa.array(list("abcde"))]
    yield "sparse", pa.UnionArray.from_sparse(ids, kids, ["i", "s"], [0, 1])
    yield "dense", pa.UnionArray.from_dense(ids, pa.array([0, 0, 1, 1, 2], pa.int32()), kids, ["i", "s"], [0, 1])


def table_of(columns, **metadata):
    columns = list(columns)
    fields = [pa.field(name, c.type, metadata={"of": name} if metadata else None) for name, c in columns]
    return pa.Table.from_batches([pa.record_batch([c for _, c in columns], pa.schema(fields, metadata or None))])


def required_table():
    """Fields that are not nullable, with names that are empty, equal and strange."""
    item = pa.field("element", pa.int32(), nullable=False)
    fields = [pa.field("", pa.int64(), False), pa.field("x", pa.list_(item), False), pa.field("x", pa.string(), False),
              pa.field("列\n", pa.struct([pa.field("s", pa.bool_(), False)]))]
    columns = [pa.array(range(3)), pa.array([[1], [], [2, 3]], pa.list_(item)), pa.array(["a", "", "c"]),
               pa.array([{"s": True}, None, {"s": False}], fields[3].type)]
    return pa.Table.from_batches([pa.record_batch(columns, pa.schema(fields))])


def tables():
    simple, everything = table_of(simple_columns()), table_of([*simple_columns(), *other_columns()], who="me", empty="")
    yield "simple", simple
    yield "everything", everything
    yield "required", required_table()
    yield "batches", pa.Table.from_batches([b for n in (1, 3, 5) for b in everything.slice(0, n).to_batches()])
    yield "slice", everything.slice(2, 2)
    yield "no-rows", everything.slice(0, 0)
    yield "no-columns", pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array([{}] * 7, pa.struct([])))])
    yield "large", pa.table({"n": pa.array(range(200_000)), "t": pa.array([f"row {i % 977}" for i in range(200_000)])})


class Command:
    def __init__(self, binary, folder):
        self.binary, self.folder = os.path.abspath(binary), Path(folder)

    def convert(self, table, *options):
        source, out = self.folder / "in.arrows", self.folder / "out.ald"
        with pa.ipc.new_stream(source, table.schema) as writer:
            for batch in table.to_batches() or [pa.record_batch([c.combine_chunks() for c in table.columns], table.schema)]:
                writer.write_batch(batch)
        out.unlink(missing_ok=True)
        p = subprocess.run([self.binary, "convert", source, out, *map(str, options)], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=120, check=False)
        if p.returncode:
            raise Bad(f"convert: exit status {p.returncode}: {p.stderr.strip()[:300]}")
        return ald_reader.read(out.read_bytes())

    def json_file(self, value):
        path = self.folder / "given.json"
        path.write_text(json.dumps(value))
        return path


def compare_table(f, table):
    compare("schema", wire_schema(f.schema), wire_schema(table.schema))
    got, want = pa.Table.from_batches(f.batches, f.schema), table
    compare("rows", got.num_rows, want.num_rows)
    compare("num_rows", f.header["num_rows"], want.num_rows)
    if got.num_rows > 1000:
        if not got.equals(want):
            raise Bad("other values")
        return
    for i, name in enumerate(table.column_names):
        compare(f"column {name!r}", [wire_value(x) for x in got.column(i)], [wire_value(x) for x in want.column(i)])


def check_plain(command, table, compression):
    names = ("none", "zstd-l3", "zstd-l19", "lz4")
    f = command.convert(table, "--compression", names[compression])
    compare_table(f, table)
    compare("header", [f.header[k] for k in ("major", "minor", "type", "compression", "flags")], [1, 2, 1, compression, 0])
    compare("metadata", f.metadata, {})
    compare("ald", f.facts, {})
    compare("crc32_variant", f.crc32_variant, "ieee")


def check_packed(command, table, *options):
    f = command.convert(table, "--sha256", "--chunk-rows", "1000", *options)
    compare_table(f, table)
    compare("header", [f.header[k] for k in ("minor", "flags")], [3, STREAMING])
    compare("filters", [len(c.filters) for c in f.chunks], [len(c.column_frames) - 1 for c in f.chunks])


def check_efforts(command, table, effort):
    f = command.convert(table, "--chunk-rows", "50000", "--effort", effort)
    compare_table(f, table)
    compare("header", [f.header[k] for k in ("minor", "compression", "flags")], [3, 1, STREAMING])
    compare_other_ways(f)


def check_compat(command, table, compression):
    f = command.convert(table, "--compat", "alimentar-0.2", "--compression", compression)
    compare_table(f, table)
    compare("minor and flags", [f.header["minor"], f.header["flags"]], [2, 0])
    compare("form", [f.is_array, f.crc32_variant], [True, "crate"])
    if f.data[32:40] != bytes.fromhex("97c0c0c090c0c0c0"):
        raise Bad(f"metadata {f.bytes_of('metadata').hex()}")
    if not f.batches:
        raise Bad("no record batch")


CARD = {"name": "n", "version": "1.2.3", "license": "MIT", "description": "# x\n🔑", "citation": "@misc{x}", "tags": ["a", ""],
        "created_at": "2025-01-02T03:04:05Z", "intended_uses": ["u"], "limitations": [], "sources": [{"name": "s"}, {}],
        "compliance": {"gdpr_consent": True, "pii_status": "none", "own": [1, -5, 2**63, 1.5, None]}, "own": {"deep": [[{}]]}}


def check_metadata(command, table):
    f = command.convert(table, "--metadata", command.json_file(CARD), "--sha256", "--dataset-type", "TIME_SERIES")
    compare_table(f, table)
    compare("sha256", f.metadata.pop("sha256", None), ald_keys.sha256(f.payload).hexdigest())
    compare("metadata", f.metadata, CARD)
    compare("type", f.header["type"], 2)


def check_compat_metadata(command, table):
    card = {k: CARD[k] for k in ("name", "version", "license", "tags", "description", "citation", "created_at")}
    f = command.convert(table, "--metadata", command.json_file(card), "--compat", "alimentar-0.2", "--sha256")
    compare("sha256", f.metadata.pop("sha256", None), ald_keys.sha256(f.payload).hexdigest())
    compare("metadata", f.metadata, card)
    compare("form", [f.is_array, f.crc32_variant], [True, "crate"])


def check_docs(command, table):
    docs = {"n": {"description": "a number", "dtype": "count", "values": "0 to 3", "missing": "never"}, "t": {"description": "é"}}
    f = command.convert(table, "--column-docs", command.json_file(docs))
    for name, doc in docs.items():
        got = {k.decode(): v.decode() for k, v in f.schema.field(name).metadata.items()}
        compare(f"documentation of {name}", got, {f"ald.{k}": v for k, v in doc.items()})
    compare("rows", sum(b.num_rows for b in f.batches), table.num_rows)


def cli_jobs(command):
    made = dict(tables())
    for name, table in made.items():
        for compression in range(4):
            yield f"cli/{name}-{compression}", lambda t=table, c=compression: check_plain(command, t, c)
        for options in (("packed",), ("packed-lz4",), ("packed", "--effort", "best"), ("packed", "--effort", "fast")):
            yield f"cli/{name}-{options[0]}", lambda t=table, o=options: check_packed(command, t, "--compression", *o)
        for effort in ("fast", "best"):
            yield f"cli/{name}-effort-{effort}", lambda t=table, e=effort: check_efforts(command, t, e)
    for name in ("simple", "required", "no-rows", "batches", "large"):
        for compression in ("none", "zstd-l3", "lz4"):
            table = made[name] if name in ("required", "large") else made["simple"].slice(0, 0 if name == "no-rows" else None)
            yield f"cli/compat-{name}-{compression}", lambda t=table, c=compression: check_compat(command, t, c)
    small = pa.table({"n": pa.array([1, 2, None]), "t": pa.array(["x", None, "z"])})
    yield "cli/metadata", lambda: check_metadata(command, small)
    yield "cli/compat-metadata", lambda: check_compat_metadata(command, small)
    yield "cli/column-docs", lambda: check_docs(command, small)


# ---------------------------------------------------------------------------- main

def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", help="the command; without it nothing that it writes is read")
    parser.add_argument("--only", default="", help="only checks whose name contains this")
    options = parser.parse_args()
    counts = {True: 0, False: 0}
    with tempfile.TemporaryDirectory() as folder:
        jobs = [("rules", check_rules), *golden_jobs(), *hostile_jobs()]
        if options.bin:
            jobs += cli_jobs(Command(options.bin, folder))
        for name, check in jobs:
            if options.only in name:
                try:
                    check()
                    counts[True] += 1
                except (Bad, AldError) as e:
                    counts[False] += 1
                    print(f"FAIL {name}: {e}")
    if not sum(counts.values()):
        print("FAIL no such check")
        counts[False] = 1
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
