#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Parquet to .ald and back, beside pyarrow's Parquet to Feather (zstd) and back, with the same threads.

    build/venv/bin/python bench/compare/parquet.py --bin build/alimentar [--megabytes N] [--threads 1,2] [--rounds N] [FILE.parquet ...]

Without files: tables of tables.py. CPU seconds (user and system) and seconds by the clock, the least of some rounds, in turns,
and sizes. Each conversion has a process of its own, so that none finds memory that another one has touched. Ours are those of
the whole process, with an fsync; pyarrow's those of the calls alone: it has loaded everything before.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.feather as feather
import pyarrow.parquet as pq

import tables


# Converts argv[2] to argv[3] on argv[4] threads and prints what it took.
THEIRS = """
import sys, time
import pyarrow as pa, pyarrow.feather as feather, pyarrow.parquet as pq
way, source, target, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
pa.set_cpu_count(threads)
cpu, clock = time.process_time(), time.perf_counter()
if way == "feather":
    feather.write_feather(pq.read_table(source, use_threads=threads > 1), target, compression="zstd")
else:
    pq.write_table(feather.read_table(source, use_threads=threads > 1), target, compression="zstd")
print(time.process_time() - cpu, time.perf_counter() - clock)
"""


def ours(binary, threads, source, target, *options):
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    cpu, clock = used(), time.perf_counter()
    subprocess.run([binary, "convert", "--quiet", "--force", "--threads", str(threads), str(source), str(target), *options],
                   check=True)
    return used() - cpu, time.perf_counter() - clock


def theirs(way, threads, source, target):
    result = subprocess.run([sys.executable, "-c", THEIRS, way, str(source), str(target), str(threads)],
                            check=True, capture_output=True, text=True)
    cpu, clock = map(float, result.stdout.split())
    return cpu, clock


def compare(binary, source, folder, threads, rounds):
    plain, packed, back = folder / "plain.ald", folder / "packed.ald", folder / "back.parquet"
    arrow, again = folder / "their.feather", folder / "their.parquet"
    ways = {
        "parquet > ald": lambda: ours(binary, threads, source, plain),
        "parquet > packed ald": lambda: ours(binary, threads, source, packed, "--compression", "packed"),
        "parquet > feather": lambda: theirs("feather", threads, source, arrow),
        "ald > parquet": lambda: ours(binary, threads, plain, back),
        "packed ald > parquet": lambda: ours(binary, threads, packed, back),
        "feather > parquet": lambda: theirs("parquet", threads, arrow, again),
    }
    took = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            took[name].append(way())
    print(f"{source.name}, {threads} thread(s), CPU and clock: " + "; ".join(
        f"{name} {min(cpu for cpu, _ in of):.2f} {min(clock for _, clock in of):.2f} s" for name, of in took.items()))
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
