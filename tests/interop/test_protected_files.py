#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Protected files as we write them, read by ald_reader.py with their keys, and refused without.

    test_protected_files.py [--bin PATH] [--only TEXT]

The programs tests/test_protect_save and tests/test_rewrite beside PATH write the files (`--dump FOLDER`) and a manifest. For each:
the rows are those that the programs put in; every recipient can read it; without keys, with a byte changed in any section that
a signature, tag or checksum covers, and with the CRC32 made right again, it is refused.

A line for each failure, `N passed, N failed` as the last. Exits 77 when a package or program is absent.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]
try:
    import ald_reader
    from ald_bytes import AldError, crc32, crc32_crate
    from ald_reader import ENCRYPTED, LICENSED, SIGNED, STREAMING, Ask
except ModuleNotFoundError as e:
    if e.name not in ("pyarrow", "cryptography", "blake3", "lz4", "zstandard", "numpy"):
        raise
    print(f"skipped: {e}")
    sys.exit(77)

PROGRAMS = ("test_protect_save", "test_rewrite")
NOW = 1_750_000_000
MASK = 2**64 - 1


def number_at(row, column):  # tests/unit/number_table.h
    z = (row * 0x9E3779B97F4A7C15 + column) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    return (z ^ (z >> 27)) & 0xFFFFFFFF


def want(ok, what):
    if not ok:
        raise AssertionError(what)


def refused(data, ask, names, what):
    try:
        ald_reader.read(data, ask)
    except AldError as e:
        want(e.name in names, f"{what}: {e}, expected {' or '.join(names)}")
    else:
        raise AssertionError(f"{what}: read, expected {' or '.join(names)}")


def asks(entry, **changes):
    """One for each key that should do."""
    keys = [bytes.fromhex(k) for k in entry.get("any_of_private_keys", [])]
    trusted = (bytes.fromhex(entry["trusted"]),) if "trusted" in entry else ()
    for some in [(k,) for k in keys] or [()]:
        given = dict(password=entry.get("password"), private_keys=some, trusted=trusted, commercial=entry["commercial"],
                     require_commit=bool(keys or entry.get("password")) and not entry["compat"], now=NOW)
        yield Ask(**{**given, **changes})


def check_rows(f, entry):
    rows, columns = entry["rows"], entry["columns"]
    want(f.header["num_rows"] == rows, "rows")
    for c in range(columns):
        got = [x for b in f.batches for x in b.column(c).to_pylist()]
        want(got == [number_at(r, c) for r in range(rows)], f"column {c}")


def check_form(f, entry):
    facts = f.facts
    want(f.is_array == entry["compat"], "form of the metadata")
    want(f.crc32_variant == "ieee" or entry["compat"], "checksum")
    if entry["compat"]:
        want(not facts and f.header["minor"] == 2, "a compat file with facts")
        return
    streaming, signed = f.has(STREAMING), f.has(SIGNED)
    want(("seal" in facts) == (streaming and signed), "seal")
    want(("license_sha256" in facts) == (f.has(LICENSED) and signed), "license_sha256")
    want(("frame_crc32" in facts) == (streaming and f.header["compression"] == 0), "frame_crc32")
    want(("prefix_crc32" in facts) == bool(f.header["flags"] & 0x14), "prefix_crc32")
    old = entry.get("kept_minor_2", False)
    want(("key_commit" in facts) == (f.has(ENCRYPTED) and not old), "key_commit")
    want(f.header["minor"] == (3 if facts else 2), "minor version")
    want("sha256" not in f.metadata or not f.has(ENCRYPTED), "sha256 of an encrypted file")
    for key, value in entry.get("metadata", {}).items():
        want(f.metadata.get(key) == value, f"metadata key {key}")


def repaired(data, f):
    """With a right CRC32, so that what comes behind it speaks."""
    crc = crc32_crate if f.crc32_variant == "crate" else crc32
    return data[:-4] + crc(data[:-4]).to_bytes(4, "little")


def check_changes(data, f, ask):
    """A bit in the middle of each section that is covered."""
    covered = []
    if f.has(SIGNED):
        covered = ["metadata", "schema", "chunk_index", "array_index", "encryption", "payload", "signature"]
        covered += ["license"] if "license_sha256" in f.facts else []
    elif f.has(ENCRYPTED) and f.facts:
        covered = ["encryption", "payload"]
    for name in covered:
        begin, end = f.sections.get(name, (0, 0))
        if begin == end:
            continue
        at = (begin + end) // 2
        changed = repaired(data[:at] + bytes([data[at] ^ 4]) + data[at + 1:], f)
        try:
            ald_reader.read(changed, ask)
        except AldError:
            continue
        raise AssertionError(f"byte {at} of section {name} changed, and read")


def check_refusals(data, f, entry):
    first = next(asks(entry))
    if f.has(ENCRYPTED):
        refused(data, next(asks(entry, password=None, private_keys=())), ["DecryptionFailed"], "without a key")
        names = ["DecryptionFailed"] + (["InvalidFormat"] if entry["compat"] else [])
        refused(data, next(asks(entry, password="wrong", private_keys=(b"\x11" * 32,))), names, "with a wrong key")
    if f.has(SIGNED):
        refused(data, next(asks(entry, trusted=())), ["UntrustedSigner"], "without a trusted key")
    if f.has(LICENSED):
        refused(data, next(asks(entry, now=4102444801)), ["LicenseExpired"], "after expiry")
    check_changes(data, f, first)


def check_file(path, entry):
    data = path.read_bytes()
    for ask in asks(entry):
        f = ald_reader.read(data, ask)
        check_rows(f, entry)
    check_form(f, entry)
    check_refusals(data, f, entry)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=str(HERE.parents[1] / "build" / "alimentar"))
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    passed = failed = 0
    for name in PROGRAMS:
        program = Path(args.bin).resolve().parent / "tests" / name
        if not program.exists():
            print(f"skipped: no {program}")
            sys.exit(77)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([program, "--dump", folder], check=True, timeout=300)
            for line in (Path(folder) / "manifest.jsonl").read_text().splitlines():
                entry = json.loads(line)
                if args.only not in entry["file"]:
                    continue
                try:
                    check_file(Path(folder) / entry["file"], entry)
                    passed += 1
                except (AssertionError, AldError) as e:
                    failed += 1
                    print(f"{name}: {entry['file']}: {e}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
