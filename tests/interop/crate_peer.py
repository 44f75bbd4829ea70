#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `--compat alimentar-0.2` writes, loaded by the Rust crate alimentar 0.2. Run by hand; README.md says how.

    crate_peer.py --bin PATH --crate-check PATH

crate-check is a small program on the crate: `crate-check read FILE` prints one JSON object with `header`, `metadata`, `schema`,
`schema_metadata`, `num_rows` and `columns`; `--password`, `--private-key` and `--trusted` give it keys. Each golden file of the crate that is plain is converted by us with each
compression, and must then read in the crate as the golden file itself does. Protected files come from tests/test_protect_save beside PATH, if it is
there. The last line is `N passed, N failed`.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

GOLDEN = Path(__file__).resolve().parents[1] / "golden/crate-0.2"
COMPRESSIONS = {"none": 0, "zstd-l3": 1, "zstd-l19": 2, "lz4": 3}
NOT_PLAIN = ("foreign", "password", "recipient", "signed", "licensed", "all-", "wrong")
CARD = {"name": "río", "version": "1.2.3", "license": "CC-BY-4.0", "tags": ["a", "b c"], "description": "# Title\n\ntext",
        "citation": "@misc{x}", "created_at": "2024-02-29T12:00:00Z"}


class Failed(Exception):
    """What differs."""


def run(command, status=0):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if result.returncode != status:
        raise Failed(f"{' '.join(map(str, command[1:]))}: exit {result.returncode}, {result.stdout[:300]}{result.stderr[:300]}")
    return result


class Peer:
    def __init__(self, args, folder):
        self.binary, self.crate_check, self.folder = args.bin, args.crate_check, folder
        self.loaded = 0

    def convert(self, source, compression, *more):
        out = self.folder / "out.ald"
        run([self.binary, "convert", "--force", "--quiet", str(source), str(out), "--compat", "alimentar-0.2",
             "--compression", compression, *more])
        return out

    def read(self, path, *keys):
        document = json.loads(run([self.crate_check, "read", str(path), *keys]).stdout)
        self.loaded += 1
        return document


def check_same(got, want, keys):
    for key in keys:
        if got[key] != want[key]:
            raise Failed(f"{key} is {str(got[key])[:500]}, wanted {str(want[key])[:500]}")


def without_hash(metadata):
    """`sha256` is written when it is asked for"""
    return {key: value for key, value in metadata.items() if key != "sha256"}


def check_golden(peer, path, compression, sha256):
    want = peer.read(path)
    out = peer.convert(path, compression, *(["--sha256"] if sha256 else []))
    got = peer.read(out)
    check_same(got, want, ("schema", "schema_metadata", "num_rows", "columns"))
    if without_hash(got["metadata"]) != without_hash(want["metadata"]):
        raise Failed(f"metadata is {got['metadata']}, wanted {want['metadata']}")
    if bool(got["metadata"].get("sha256")) != sha256:
        raise Failed(f"sha256 is {got['metadata'].get('sha256')}")
    if got["header"]["compression"] != COMPRESSIONS[compression]:
        raise Failed(f"compression is {got['header']['compression']}")
    check_same(got["header"], want["header"], ("dataset_type", "num_rows", "flags"))


def check_card(peer, compression):
    (peer.folder / "card.json").write_text(json.dumps(CARD))
    got = peer.read(peer.convert(GOLDEN / "mixed-none.ald", compression, "--metadata", str(peer.folder / "card.json")))
    for key, value in CARD.items():
        if got["metadata"][key] != value:
            raise Failed(f"{key} is {got['metadata'][key]!r}, wanted {value!r}")


def check_no_batches(peer, compression):
    """a stream without batches: the crate needs one to know the schema"""
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
    with pa.ipc.new_stream(str(peer.folder / "none.arrows"), schema):
        pass
    got = peer.read(peer.convert(peer.folder / "none.arrows", compression))
    if [field["name"] for field in got["schema"]] != ["a", "b"] or got["num_rows"] != 0:
        raise Failed(f"schema {got['schema']}, {got['num_rows']} rows")


def check_large(peer, compression):
    """several batches of a megabyte each, with a dictionary that changes between them"""
    batches = [pa.record_batch({"i": pa.array(range(k * 100000, (k + 1) * 100000)),
                                "d": pa.array([f"{k}-{i % 7}" for i in range(100000)]).dictionary_encode()}) for k in range(3)]
    with pa.ipc.new_stream(str(peer.folder / "large.arrows"), batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    got = peer.read(peer.convert(peer.folder / "large.arrows", compression))
    want = [list(range(300000)), [f"{i // 100000}-{i % 100000 % 7}" for i in range(300000)]]
    if got["columns"] != want:
        raise Failed("other values")


def check_refused(peer, key, value):
    """what the crate cannot hold is an error that names it"""
    (peer.folder / "card.json").write_text(json.dumps({key: value}))
    result = run([peer.binary, "convert", "--force", str(GOLDEN / "mixed-none.ald"), str(peer.folder / "refused.ald"),
                  "--compat", "alimentar-0.2", "--metadata", str(peer.folder / "card.json")], status=1)
    if "Unsupported" not in result.stderr or key not in result.stderr:
        raise Failed(result.stderr)


def check_protected(peer, entry):
    """encrypted, signed, licensed: the rows of tests/unit/number_table.h"""
    keys = [("--password", entry[k]) for k in ("password",) if k in entry]
    keys += [("--private-key", k) for k in entry.get("any_of_private_keys", [])]
    keys += [("--trusted", entry[k]) for k in ("trusted",) if k in entry]
    got = peer.read(peer.folder / entry["file"], *(x for pair in keys for x in pair))
    want = [[number_at(row, c) for row in range(entry["rows"])] for c in range(entry["columns"])]
    if got["columns"] != want:
        raise Failed(f"other values: {str(got['columns'])[:300]}")


def number_at(row, column):
    mask = 2**64 - 1
    z = (row * 0x9E3779B97F4A7C15 + column) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    return (z ^ (z >> 27)) & 0xFFFFFFFF


def protected_jobs(peer):
    program = Path(peer.binary).resolve().parent / "tests/test_protect_save"
    if not program.exists():
        print(f"no {program}: protected files are left out")
        return
    run([program, "--dump", str(peer.folder)])
    for line in (peer.folder / "manifest.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["compat"]:
            yield entry["file"], lambda p, e=entry: check_protected(p, e)


def jobs():
    for path in sorted(GOLDEN.glob("*.ald")):
        if any(word in path.name for word in NOT_PLAIN):
            continue
        for number, compression in enumerate(COMPRESSIONS):
            yield f"{path.name} as {compression}", lambda p, f=path, c=compression, s=number % 2 == 1: check_golden(p, f, c, s)
    for compression in COMPRESSIONS:
        yield f"card, {compression}", lambda p, c=compression: check_card(p, c)
        yield f"no batches, {compression}", lambda p, c=compression: check_no_batches(p, c)
        yield f"large, {compression}", lambda p, c=compression: check_large(p, c)
    for key, value in (("compliance", {"gdpr_consent": True}), ("sources", [{"name": "x"}]), ("x-own", 1)):
        yield f"{key} is refused", lambda p, k=key, v=value: check_refused(p, k, v)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--crate-check", required=True)
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="alimentar-crate-") as folder:
        peer = Peer(args, Path(folder))
        for name, check in (*jobs(), *protected_jobs(peer)):
            try:
                check(peer)
                passed += 1
            except Failed as problem:
                failed += 1
                print(f"FAILED {name}: {problem}")
        print(f"the crate loaded {peer.loaded} files")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
