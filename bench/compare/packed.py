#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packed files against Parquet (zstd-3) and against plain zstd-l3 .ald files, on one core: those of the writer's default, which has
faster ways than level 3 where they do as well, and those of level 3 as it is.

    packed.py --bench build/…/bench_packed [--megabytes 20] [--rounds 5] [--tables taxi,logs] [--tuned] [--dir FOLDER] [--json FILE]

Sizes of both, and (--tuned) of Parquet with each column's best encoding and dictionary setting, found by trial; CPU time to
save and load ours in memory, everything validated, by bench_packed, and to load the Parquet file with pyarrow, Polars and
DuckDB on one thread; median of the rounds. At the end the sums, and what the worst tables are.
"""
import argparse
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"      # before Polars is imported

import pyarrow as pa                        # noqa: E402
import pyarrow.parquet as pq                # noqa: E402

import packed_tables                        # noqa: E402

ENCODINGS = ("PLAIN", "BYTE_STREAM_SPLIT", "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY")
PARQUET = {"compression": "zstd", "compression_level": 3}
SMALL = 2_000_000       # bytes of Arrow data: below them a file's own parts, and a clock's grain, count too much


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def parquet_bytes(table, **options):
    out = io.BytesIO()
    pq.write_table(table, out, **PARQUET, **options)
    return out.tell()


def column_chunk_bytes(table, **options):
    """Of the columns alone, without the file's head and footer."""
    out = io.BytesIO()
    pq.write_table(table, out, **PARQUET, **options)
    footer = pq.read_metadata(out)
    return sum(footer.row_group(g).column(c).total_compressed_size
               for g in range(footer.num_row_groups) for c in range(footer.row_group(g).num_columns))


def tuned_bytes(table):
    """Each column's smallest, and one footer."""
    sizes, footer = 0, parquet_bytes(table) - column_chunk_bytes(table)
    for index in range(table.num_columns):
        column = table.select([index])
        tried = [column_chunk_bytes(column), column_chunk_bytes(column, use_dictionary=False)]
        out = io.BytesIO()
        pq.write_table(column.slice(0, 10), out)
        head = pq.read_metadata(out).row_group(0)
        leaves = [head.column(i).path_in_schema for i in range(head.num_columns)]
        for encoding in ENCODINGS:
            try:
                tried.append(column_chunk_bytes(column, use_dictionary=False, column_encoding=dict.fromkeys(leaves, encoding)))
            except (pa.ArrowException, OSError):    # not for this type
                pass
        sizes += min(tried)
    return sizes + footer


class Readers:
    """Parquet readers on one thread: name -> CPU seconds of reading a file."""

    def __init__(self):
        pa.set_cpu_count(1)
        pa.set_io_thread_count(1)
        self.polars, self.duckdb = optional("polars"), optional("duckdb")
        self.connection = None
        if self.duckdb is not None:
            self.connection = self.duckdb.connect()
            self.connection.execute("set threads to 1")

    def functions(self, path):
        yield "pyarrow", lambda: pq.read_table(path, use_threads=False)
        if self.polars is not None:
            yield "Polars", lambda: self.polars.read_parquet(path)
        if self.duckdb is not None:
            yield "DuckDB", lambda: self.connection.sql(f"select * from '{path}'").to_arrow_table()


def cpu_time(function):
    start = time.process_time()
    result = function()
    spent = time.process_time() - start
    del result
    return spent


def measure(name, table, args, readers, folder):
    arrow, parquet = str(folder / "table.arrow"), str(folder / "table.parquet")
    with pa.ipc.new_file(arrow, table.schema) as writer:
        writer.write_table(table.combine_chunks(), max_chunksize=65536)
    pq.write_table(table, parquet, **PARQUET)
    out = subprocess.run([args.bench, "0", str(args.rounds), arrow], check=True, stdout=subprocess.PIPE, text=True).stdout
    ours = next(iter(json.loads(out).values()))
    packed, plain, level_3 = ours["packed"], ours["zstd-l3"], ours["zstd-l3 as it is"]
    peers = {peer: statistics.median(cpu_time(read) for _ in range(args.rounds)) for peer, read in readers.functions(parquet)}
    return {"table": name, "arrow_bytes": ours["arrow_bytes"], "parquet_bytes": os.path.getsize(parquet),
            "tuned_bytes": tuned_bytes(table) if args.tuned else 0, "plain_bytes": plain["bytes"], "packed_bytes": packed["bytes"],
            "plain_save_s": plain["save_s"], "packed_save_s": packed["save_s"],
            "plain_load_s": plain["load_s"], "packed_load_s": packed["load_s"],
            "level_3_bytes": level_3["bytes"], "level_3_save_s": level_3["save_s"], "level_3_load_s": level_3["load_s"],
            "save_ratio_level_3": packed["save_ratio_level_3"], "load_ratio_level_3": packed["load_ratio_level_3"],
            "save_ratio": packed["save_ratio"], "load_ratio": packed["load_ratio"], "parquet_load_s": peers}


def print_row(r):
    fastest = min(r["parquet_load_s"], key=r["parquet_load_s"].get)
    tuned = f"{r['packed_bytes'] / r['tuned_bytes']:.3f}" if r["tuned_bytes"] else ""
    print(f"| {r['table']} | {r['arrow_bytes'] / 1e6:.1f} | {r['parquet_bytes'] / 1e6:.2f} | {r['packed_bytes'] / 1e6:.2f} | "
          f"{r['packed_bytes'] / r['parquet_bytes']:.3f} | {tuned} | {r['packed_bytes'] / r['plain_bytes']:.3f} | "
          f"{r['save_ratio']:.2f} | {r['load_ratio']:.2f} | {r['save_ratio_level_3']:.2f} | {r['load_ratio_level_3']:.2f} | "
          f"{r['packed_load_s'] * 1e3:.1f} | "
          f"{r['parquet_load_s'][fastest] * 1e3:.1f} {fastest} |", flush=True)


def totals(rows):
    """The sums' ratios, and the worst tables."""
    total = {key: sum(r[key] for r in rows) for key in rows[0] if key.endswith(("_bytes", "_s")) and key != "parquet_load_s"}
    large = [r for r in rows if r["arrow_bytes"] >= SMALL] or rows
    peers = {peer: sum(r["parquet_load_s"][peer] for r in rows) for peer in rows[0]["parquet_load_s"]}
    result = {"of_parquet": total["packed_bytes"] / total["parquet_bytes"],
              "of_plain": total["packed_bytes"] / total["plain_bytes"],
              "of_level_3": total["packed_bytes"] / total["level_3_bytes"],
              "save_against_default": total["plain_save_s"] / total["packed_save_s"],
              "load_against_default": total["plain_load_s"] / total["packed_load_s"],
              "save_against_level_3": total["level_3_save_s"] / total["packed_save_s"],
              "load_against_level_3": total["level_3_load_s"] / total["packed_load_s"],
              "load_of_parquet": {peer: seconds / total["packed_load_s"] for peer, seconds in peers.items()}}
    if total["tuned_bytes"]:
        result["of_tuned"] = total["packed_bytes"] / total["tuned_bytes"]
    for key, value, worst in (("of_parquet", lambda r: r["packed_bytes"] / r["parquet_bytes"], max),
                              ("save", lambda r: r["save_ratio"], min), ("load", lambda r: r["load_ratio"], min)):
        row = worst(large if key == "save" else rows, key=value)
        result[f"worst_{key}"] = {"table": row["table"], "value": value(row)}
    result["slower_than_a_reader"] = [r["table"] for r in rows if min(r["parquet_load_s"].values()) < r["packed_load_s"]]
    return result


def main():
    parser = argparse.ArgumentParser(description="Packed files against Parquet.")
    parser.add_argument("--bench", required=True, help="the program bench_packed")
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tables", help="only these")
    parser.add_argument("--tuned", action="store_true", help="tries every encoding of Parquet, too; slow")
    parser.add_argument("--dir", help="where the files go; default: a temporary folder")
    parser.add_argument("--json")
    args = parser.parse_args()
    readers, rows = Readers(), []
    folder = Path(tempfile.mkdtemp(prefix="alimentar-packed-", dir=args.dir))
    print("| table | MB | Parquet MB | packed MB | of Parquet | of tuned | of zstd-l3 | save × default | load × default | "
          "save × level 3 | load × level 3 | load ms | fastest Parquet reader, ms |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    try:
        for name, table in packed_tables.all_tables(args.megabytes):
            if args.tables is None or name in args.tables.split(","):
                rows.append(measure(name, table, args, readers, folder))
                print_row(rows[-1])
    finally:
        shutil.rmtree(folder)
    if not rows:
        raise SystemExit("no such table")
    sums = totals(rows)
    print("\n" + "\n".join(f"{key}: {json.dumps(value)}" for key, value in sums.items()))
    if args.json:
        Path(args.json).write_text(json.dumps({"tables": rows, "all": sums}, indent=1))


if __name__ == "__main__":
    sys.exit(main())
