#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parquet files of others: the collections parquet-testing and arrow-testing, below ALD_PEERS.

    test_parquet_testing.py --bin PATH

Every file that pyarrow reads must give the same table, directly, and through a .ald and Parquet again; one that it does not
read must be refused in so many words. Inputs that once broke Arrow C++ give a table or a clear error within 10 seconds and
512 MB. Exit status 77: there is no such collection, or no Parquet module. The last line is `N passed, N failed`.
"""
import argparse
import os
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from parquet_tools import SECONDS, Failed, compare, convert, error_name, has_module, read_stream, run

MEMORY_BYTES = 512 << 20


def pyarrow_table(path):
    """None: pyarrow does not read it."""
    try:
        return pq.ParquetFile(path, page_checksum_verification=True).read()
    except (pa.ArrowException, OSError):
        return None


def check_refused(binary, path, folder):
    output = folder / "refused.ald"
    status, _, stderr = run(binary, "convert", "--from", "parquet", path, output)
    if error_name(status, stderr) is None:
        raise Failed(f"pyarrow does not read it; convert exits {status}: {stderr.strip()}")
    if output.exists():
        raise Failed("an output was left behind")


def check_file(binary, path, folder):
    want = pyarrow_table(path)
    if want is None:
        check_refused(binary, path, folder)
        return
    direct, ald, again, back = (folder / name for name in ("a.arrows", "b.ald", "c.parquet", "d.arrows"))
    convert(binary, path, direct, "--from", "parquet")
    compare(read_stream(direct), want)
    convert(binary, path, ald, "--from", "parquet")
    convert(binary, ald, again)
    compare(pq.read_table(again), want)
    convert(binary, again, back)
    compare(read_stream(back), want)


def check_broken(binary, path, folder):
    output = folder / "broken.arrows"
    output.unlink(missing_ok=True)
    status, _, stderr = run(binary, "convert", "--force", "--quiet", "--from", "parquet", path, output,
                            memory_bytes=MEMORY_BYTES, seconds=SECONDS)
    if status == 0:
        read_stream(output)
    elif error_name(status, stderr) is None:
        raise Failed(f"exit {status}: {stderr[:300]!r}")
    elif output.exists():
        raise Failed("an output was left behind")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    binary = str(Path(parser.parse_args().bin).resolve())
    root = Path(__file__).resolve().parents[2]
    peers = Path(os.environ.get("ALD_PEERS") or root.parent / "shared/peers")
    if not (peers / "parquet-testing").is_dir():
        print(f"skipped: no {peers / 'parquet-testing'}")
        return 77
    if not has_module(binary):
        print("skipped: no Parquet module")
        return 77
    jobs = [(path, check_file) for folder in ("data", "bad_data")
            for path in sorted((peers / "parquet-testing" / folder).rglob("*.parquet*"))]
    jobs += [(path, check_broken) for path in sorted((peers / "arrow-testing/data/parquet/fuzzing").glob("*"))]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="alimentar-parquet-") as folder:
        for path, check in jobs:
            try:
                check(binary, path, Path(folder))
            except (Failed, pa.ArrowException) as problem:
                failed += 1
                print(f"FAILED {path.relative_to(peers)}: {problem}")
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
