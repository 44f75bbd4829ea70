#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parquet to .ald and back, beside pyarrow's Parquet to Feather (zstd) and back, with the same threads.

    build/venv/bin/python bench/compare/parquet.py --bin build/alimentar [--megabytes N] [--threads 1,2] [--rounds N] [FILE.parquet ...]

Without files: tables of tables.py. CPU seconds (user and system, the least of some rounds, in turns) and sizes. Ours are those
of a whole process, pyarrow's those of the calls alone, in a process that has loaded everything.
"""
import argparse
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

import tables


def ours(binary, threads, source, target, *options):
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    subprocess.run([binary, "convert", "--quiet", "--force", "--threads", str(threads), str(source), str(target), *options],
                   check=True)
    return used() - before


def theirs(read, write):
    before = time.process_time()
    write(read())
    return time.process_time() - before


def compare(binary, source, folder, threads, rounds):
    pa.set_cpu_count(threads)
    plain, packed, back = folder / "plain.ald", folder / "packed.ald", folder / "back.parquet"
    arrow, again = folder / "their.feather", folder / "their.parquet"
    parallel = threads > 1
    ways = {
        "parquet > ald": lambda: ours(binary, threads, source, plain),
        "parquet > packed ald": lambda: ours(binary, threads, source, packed, "--compression", "packed"),
        "parquet > feather": lambda: theirs(lambda: pq.read_table(source, use_threads=parallel),
                                            lambda t: feather.write_feather(t, arrow, compression="zstd")),
        "ald > parquet": lambda: ours(binary, threads, plain, back),
        "packed ald > parquet": lambda: ours(binary, threads, packed, back),
        "feather > parquet": lambda: theirs(lambda: feather.read_table(arrow, use_threads=parallel),
                                            lambda t: pq.write_table(t, again, compression="zstd")),
    }
    best = {name: min(way() for _ in range(1)) for name, way in ways.items()}
    for _ in range(rounds - 1):
        best = {name: min(best[name], way()) for name, way in ways.items()}
    print(f"{source.name}, {threads} thread(s): " + "; ".join(f"{name} {seconds:.2f} s" for name, seconds in best.items()))
    if not feather.read_table(arrow).equals(pq.read_table(back)):
        raise SystemExit(f"{source.name}: what came back is another table")
    print("  MB: " + ", ".join(f"{path.name} {os.path.getsize(path) / 1e6:.1f}" for path in (plain, packed, arrow, back, again)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    binary = str(Path(args.bin).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder, files = Path(name), args.files
        for kind in ("taxi", "strings") if not files else ():
            files = [*files, folder / f"{kind}.parquet"]
            pq.write_table(tables.make(kind, args.megabytes), files[-1], compression="zstd")
        for source in files:
            for threads in args.threads.split(","):
                compare(binary, source, folder, int(threads), args.rounds)


if __name__ == "__main__":
    main()
