#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""alimentar against Feather, Parquet, Polars and DuckDB on the same tables, in turns.

    formats.py --bin build/…/alimentar --bench-file build/…/bench_file [--megabytes 100] [--rounds 3] [--threads N]
               [--tables taxi,strings,noise] [--dir FOLDER] [--json FILE]

save and load are timed inside a process, from and to rows in memory (ours in bench_file, theirs here). The text tasks go from
file to file, each in a process of its own and with an fsync of the output; ours is the whole command, theirs (text_peers.py)
is without the start of Python. What of ours is compression and writing, which no reader of text makes faster, is measured by
saving the same rows from memory; the ratio that a text side of no cost would have is printed beside. Wall and CPU seconds with
a warm page cache, medians; a ratio is the median over the rounds of theirs / ours: above 1, ours is faster (or, for size,
smaller). What we write is read back and compared once. Peers that are not installed are left out, by name.
"""
import argparse
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

import tables


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        return None


class Place:
    """A folder with the inputs, and where each competitor puts its outputs."""

    def __init__(self, folder, table):
        self.folder, self.table = folder, table
        with pa.ipc.new_file(self.path("in.arrow"), table.schema) as writer:
            writer.write_table(table, max_chunksize=65536)
        pa.csv.write_csv(table, self.path("in.csv"))

    def path(self, name):
        return str(self.folder / name)


# ---- ours

class Ours:
    def __init__(self, binary, bench_file, place, threads):
        self.binary, self.bench_file, self.place, self.threads = binary, bench_file, place, threads

    def tool(self, *arguments):
        command = [self.binary, arguments[0], "--force", "--quiet", "--threads", str(self.threads),
                   *(self.place.path(a) if "." in a else a for a in arguments[1:])]
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: exit {process.returncode}")
        return wall, usage.ru_utime + usage.ru_stime

    def timed_inside(self, *arguments):
        command = [self.bench_file, arguments[0], *(self.place.path(a) if "." in a else a for a in arguments[1:]),
                   str(self.threads)]
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if result["rows"] != self.place.table.num_rows:
            raise SystemExit(f"{' '.join(command)}: {result['rows']} rows")
        return result["wall"], result["cpu"]

    def tasks(self):
        for name in ("zstd-l3", "packed", "lz4", "none"):
            file = f"ours-{name}.ald"
            yield "save", f".ald {name}", file, lambda f=file, c=name: self.timed_inside("save", "in.arrow", f, c)
            yield "load", f".ald {name}", file, lambda f=file: self.timed_inside("load", f)
        yield ("save of jsonl's rows", ".ald zstd-l3", "ours-jsonl.ald", lambda:
               self.timed_inside("save", "jsonl.arrow", "ours-jsonl.ald", "zstd-l3"))
        yield "csv to file", ".ald zstd-l3", "csv.ald", lambda: self.tool("convert", "in.csv", "csv.ald")
        yield "jsonl to file", ".ald zstd-l3", "jsonl.ald", lambda: self.tool("convert", "in.jsonl", "jsonl.ald")
        yield "file to csv", ".ald zstd-l3", "out-ours.csv", lambda: self.tool("convert", "ours-zstd-l3.ald", "out-ours.csv")

    def prepare(self):
        self.tool("convert", "in.arrow", "in.jsonl")
        self.tool("convert", "in.jsonl", "jsonl.arrow")

    def check(self):
        """What was written is what came in."""
        want = self.place.table
        for name in ("zstd-l3", "packed", "lz4", "none"):
            self.tool("convert", f"ours-{name}.ald", "back.arrow")
            if not pa.ipc.open_file(self.place.path("back.arrow")).read_all().equals(want):
                raise SystemExit(f"ours-{name}.ald does not hold the table")
        for name in ("csv.ald", "jsonl.ald", "out-ours.csv"):
            self.tool("convert", name, "back.arrow")
            got = pa.ipc.open_file(self.place.path("back.arrow")).read_all()
            if got.num_rows != want.num_rows or not got.cast(want.schema).equals(want):
                raise SystemExit(f"{name} does not hold the table")


# ---- theirs: what is timed here is a function whose result is dropped after the clock stopped

class Theirs:
    def __init__(self, place, threads):
        self.place, self.threads, self.missing = place, threads, []
        self.polars, self.duckdb = optional("polars"), optional("duckdb")
        if threads > 0:
            pa.set_cpu_count(threads)
        self.connection = None
        if self.duckdb is not None:
            self.connection = self.duckdb.connect()
            if threads > 0:
                self.connection.execute(f"set threads = {threads}")
            self.connection.register("source", place.table)
        self.missing = [name for name in ("polars", "duckdb") if getattr(self, name) is None]

    def tasks(self):
        for tasks in (self.pyarrow_tasks, self.polars_tasks, self.duckdb_tasks):
            for task, name, file, function in tasks():
                yield task, name, file, lambda f=function: timed_here(f)
        for peer, name in (("pyarrow", "pyarrow"), ("polars", "Polars"), ("duckdb", "DuckDB")):
            if peer not in self.missing:
                yield from self.text_tasks(peer, name)

    def text_tasks(self, peer, name):
        for task, what, source, target in (
                ("csv to file", "csv", "in.csv", f"csv-{peer}.parquet"), ("jsonl to file", "jsonl", "in.jsonl", f"jsonl-{peer}.parquet"),
                ("file to csv", "to-csv", f"{peer}.parquet", f"out-{peer}.csv")):
            label = f"{name} from Parquet" if what == "to-csv" else f"{name} to Parquet zstd-3"
            yield task, label, target, lambda w=what, s=source, t=target: self.in_process(peer, w, s, t)

    def in_process(self, peer, task, source, target):
        command = [sys.executable, str(Path(__file__).with_name("text_peers.py")), peer, task, self.place.path(source),
                   self.place.path(target), str(self.threads)]
        result = json.loads(subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout)
        return result["wall"], result["cpu"]

    def pyarrow_tasks(self):
        path, table = self.place.path, self.place.table
        for codec in ("zstd", "lz4", "uncompressed"):
            file = f"pyarrow-{codec}.feather"
            yield ("save", f"Feather {codec}", file, lambda f=file, c=codec:
                   pa.feather.write_feather(table, path(f), compression=c, chunksize=65536))
            yield "load", f"Feather {codec}", file, lambda f=file: pa.feather.read_table(path(f), memory_map=False)
        yield ("save", "Parquet zstd-3 (pyarrow)", "pyarrow.parquet", lambda:
               pa.parquet.write_table(table, path("pyarrow.parquet"), compression="zstd", compression_level=3))
        yield "load", "Parquet zstd-3 (pyarrow)", "pyarrow.parquet", lambda: pa.parquet.read_table(path("pyarrow.parquet"))

    def polars_tasks(self):
        if self.polars is None:
            return
        polars, path = self.polars, self.place.path
        frame = polars.from_arrow(self.place.table)
        yield ("save", "Polars IPC zstd", "polars.arrow", lambda: frame.write_ipc(path("polars.arrow"), compression="zstd"))
        yield "load", "Polars IPC zstd", "polars.arrow", lambda: polars.read_ipc(path("polars.arrow"))
        yield ("save", "Parquet zstd-3 (Polars)", "polars.parquet", lambda:
               frame.write_parquet(path("polars.parquet"), compression="zstd", compression_level=3))
        yield "load", "Parquet zstd-3 (Polars)", "polars.parquet", lambda: polars.read_parquet(path("polars.parquet"))

    def duckdb_tasks(self):
        if self.duckdb is None:
            return
        run, path = self.connection.execute, self.place.path
        options = "(format parquet, compression zstd, compression_level 3)"
        yield ("save", "Parquet zstd-3 (DuckDB)", "duckdb.parquet", lambda:
               run(f"copy source to '{path('duckdb.parquet')}' {options}"))
        yield ("load", "Parquet zstd-3 (DuckDB)", "duckdb.parquet", lambda:
               self.connection.sql(f"from read_parquet('{path('duckdb.parquet')}')").to_arrow_table())


def timed_here(function):
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    times = time.perf_counter() - wall, time.process_time() - cpu
    del result
    return times


def reference(task, name):
    """Which of ours a peer is compared with: the same kind of compression."""
    if task in ("save", "load"):
        return ".ald none" if "uncompressed" in name else ".ald lz4" if "lz4" in name else ".ald zstd-l3"
    return ".ald zstd-l3"


def medians(rows, sizes):
    """rows: {(task, name): [(wall, cpu), ...]} -> list of results with ratios against ours"""
    out = []
    for (task, name), times in rows.items():
        ours = rows[task, reference(task, name)]
        result = {"task": task, "name": name, "wall_s": statistics.median(t[0] for t in times),
                  "cpu_s": statistics.median(t[1] for t in times), "file_bytes": sizes[task, name]}
        if not name.startswith(".ald"):
            for k, key in enumerate(("wall", "cpu")):
                result[f"{key}_ratio"] = statistics.median(a[k] / max(b[k], 1e-9) for a, b in zip(times, ours))
            result["size_ratio"] = sizes[task, name] / sizes[task, reference(task, name)]
        out.append(result)
    return out


def text_bounds(results):
    """Of each text task: our CPU time, what of it is saving, the fastest peer, the ratio, and the ratio were text free."""
    out = []
    for task, saved in (("csv to file", "save"), ("jsonl to file", "save of jsonl's rows")):
        saving = next(r["cpu_s"] for r in results if r["task"] == saved and r["name"] == ".ald zstd-l3")
        ours = next(r for r in results if r["task"] == task and r["name"].startswith(".ald"))
        peers = [r for r in results if r["task"] == task and not r["name"].startswith(".ald")]
        if not peers:
            continue
        best = min(peers, key=lambda r: r["cpu_s"])
        out.append({"task": task, "cpu_s": ours["cpu_s"], "saving_share": saving / ours["cpu_s"], "peer": best["name"],
                    "cpu_ratio": best["cpu_s"] / ours["cpu_s"], "bound": best["cpu_s"] / saving})
    return out


def bench_table(kind, args, folder):
    place = Place(folder, tables.make(kind, args.megabytes))
    ours, theirs = Ours(args.bin, args.bench_file, place, args.threads), Theirs(place, args.threads)
    ours.prepare()
    jobs = [(task, name, file, run) for task, name, file, run in ours.tasks()]
    jobs += list(theirs.tasks())
    order = ("save", "save of jsonl's rows", "load", "csv to file", "jsonl to file", "file to csv")
    jobs.sort(key=lambda job: order.index(job[0]))
    rows, sizes = {}, {}
    for number in range(args.rounds + 1):       # the first round warms up
        for task, name, file, run in jobs:
            times = run()
            sizes[task, name] = os.path.getsize(place.path(file))
            if number > 0:
                rows.setdefault((task, name), []).append(times)
    ours.check()
    return {"rows": place.table.num_rows, "bytes": place.table.nbytes, "missing": theirs.missing,
            "results": (results := medians(rows, sizes)), "text": text_bounds(results)}


def markdown(results):
    lines = []
    for kind, table in results.items():
        lines += [f"### {kind}: {table['rows']:,} rows, {table['bytes'] / 1e6:.0f} MB", "",
                  "| task | what | file MB | wall s | CPU s | size ×| wall × | CPU × |", "|---|---|---|---|---|---|---|---|"]
        for r in table["results"]:
            ratios = [f"{r[key]:.2f}" if key in r else "" for key in ("size_ratio", "wall_ratio", "cpu_ratio")]
            lines.append(f"| {r['task']} | {r['name']} | {r['file_bytes'] / 1e6:.1f} | {r['wall_s']:.3f} | "
                         f"{r['cpu_s']:.3f} | {' | '.join(ratios)} |")
        lines += ["", "| text | CPU s | of it saving | fastest peer | CPU × | CPU × if text were free |", "|---|---|---|---|---|---|"]
        lines += [f"| {t['task']} | {t['cpu_s']:.3f} | {t['saving_share']:.0%} | {t['peer']} | {t['cpu_ratio']:.2f} | {t['bound']:.2f} |"
                  for t in table["text"]]
        lines += [""] + [f"{name} is not installed: left out." for name in table["missing"]]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--bench-file", required=True)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0, help="of everybody; 0: one per processor")
    parser.add_argument("--tables", default=",".join(tables.KINDS))
    parser.add_argument("--dir", help="where the files go; default: a temporary folder")
    parser.add_argument("--json")
    args = parser.parse_args()
    if args.threads > 0:
        os.environ["POLARS_MAX_THREADS"] = str(args.threads)
    results = {}
    for kind in args.tables.split(","):
        folder = Path(tempfile.mkdtemp(prefix="alimentar-bench-", dir=args.dir))
        try:
            results[kind] = bench_table(kind, args, folder)
        finally:
            shutil.rmtree(folder)
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1))
    print(markdown(results))


if __name__ == "__main__":
    sys.exit(main())
