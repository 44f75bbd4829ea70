#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One conversion between text and Parquet (zstd-3) by another library, in a process of its own.

    text_peers.py pyarrow|polars|duckdb csv|jsonl|to-csv IN OUT THREADS     (0 threads: one per processor)

Prints {"wall": seconds, "cpu": seconds} from the call to the end of an fsync of OUT, as our command ends with one. The start
of Python and the imports are not counted; nothing else is in the process, neither rows nor what an earlier conversion left.
"""
import importlib
import json
import os
import sys
import time

LEVEL = 3


def pyarrow_task(task, source, target, threads):
    arrow, parquet, csv, reader = (importlib.import_module(f"pyarrow{m}") for m in ("", ".parquet", ".csv", ".json"))
    if threads > 0:
        arrow.set_cpu_count(threads)
    if task == "to-csv":
        return lambda: csv.write_csv(parquet.read_table(source), target)
    read = csv.read_csv if task == "csv" else reader.read_json
    return lambda: parquet.write_table(read(source), target, compression="zstd", compression_level=LEVEL)


def polars_task(task, source, target, threads):
    if threads > 0:
        os.environ["POLARS_MAX_THREADS"] = str(threads)
    polars = importlib.import_module("polars")
    if task == "to-csv":
        return lambda: polars.read_parquet(source).write_csv(target)
    read = (lambda: polars.read_csv(source, try_parse_dates=True)) if task == "csv" else (lambda: polars.read_ndjson(source))
    return lambda: read().write_parquet(target, compression="zstd", compression_level=LEVEL)


def duckdb_task(task, source, target, threads):
    connection = importlib.import_module("duckdb").connect()
    if threads > 0:
        connection.execute(f"set threads = {threads}")
    if task == "to-csv":
        return lambda: connection.execute(f"copy (from read_parquet('{source}')) to '{target}' (header)")
    read = "read_csv" if task == "csv" else "read_json"
    return lambda: connection.execute(f"copy (from {read}('{source}')) to '{target}' "
                                      f"(format parquet, compression zstd, compression_level {LEVEL})")


PEERS = {"pyarrow": pyarrow_task, "polars": polars_task, "duckdb": duckdb_task}


def main():
    peer, task, source, target, threads = sys.argv[1:]
    run = PEERS[peer](task, source, target, int(threads))
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    output = os.open(target, os.O_RDONLY)
    os.fsync(output)
    os.close(output)
    print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}))


if __name__ == "__main__":
    main()
