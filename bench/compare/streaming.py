#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows, columns and vectors: bench_streaming against its neighbours on the same tables, in turns.

    streaming.py --bench build/…/bench_streaming [--megabytes 100] [--rounds 3] [--dir FOLDER] [--json FILE]

bench_streaming writes the tables, as zstd-l3 with the default and the best effort ("_best") and packed, and times our C API;
this script writes them as Parquet (zstd-3), Feather (zstd), Lance, safetensors and a Hugging Face dataset, and times those,
each round after one of ours. Medians of wall time with a warm page cache, ratios against the fastest peer; everybody has two threads where a task can use them. Of the wide table each of the 50
columns is read alone; the sums are told for each kind of column and for all. What libzstd alone takes for our frames with
two threads is printed last: a bound that no reader can beat. Peers that are not installed are left out, by name.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

TAKEN = 1000
# The kinds of bench_streaming's wide table, and the letters with which their columns' names begin.
KINDS = {"int": "ij", "location": "lk", "time": "tu", "money": "mn", "constant": "c", "random": "r"}


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        return None


class Peers:
    """The tables in the peers' formats, and what each is asked to do: name -> {task: function}."""

    def __init__(self, folder):
        self.folder, self.tasks, self.missing = folder, {}, []
        table = pa.ipc.open_file(self.path("table.arrow")).read_all()
        wide = pa.ipc.open_file(self.path("wide.arrow")).read_all()
        self.rows = np.random.default_rng(1).integers(0, table.num_rows, TAKEN)
        pq.write_table(table, self.path("table.parquet"), compression="zstd", compression_level=3)
        pq.write_table(wide, self.path("wide.parquet"), compression="zstd", compression_level=3)
        pa.feather.write_feather(table, self.path("table.zstd.feather"), compression="zstd")
        self.pyarrow()
        for name, add in (("polars", self.polars), ("duckdb", self.duckdb), ("lance", self.lance),
                          ("safetensors", self.safetensors), ("datasets", self.datasets)):
            module = optional(name)
            if module is None:
                self.missing.append(name)
            else:
                add(module, table)

    def path(self, name):
        return os.path.join(self.folder, name)

    def add(self, peer, task, function):
        self.tasks.setdefault(task, {})[peer] = function

    def add_columns(self, peer, read):
        """Each column alone, those of a kind one after the other; `read` keeps nothing."""
        def read_all(names):
            for name in names:
                read(name)

        for kind, letters in KINDS.items():
            names = [f"{letter}{i}" for i in range(5) for letter in letters]
            self.add(peer, f"columns_{kind}_s", lambda names=names: read_all(names))

    def pyarrow(self):
        mapped = pa.ipc.open_file(pa.memory_map(self.path("table.arrow"))).read_all()
        one = int(self.rows[0])

        def first_vector():
            batch = pa.ipc.open_file(pa.memory_map(self.path("table.arrow"))).get_batch(0)
            return batch.column(4).to_numpy(zero_copy_only=True)[0]

        self.add("pyarrow feather (mapped)", "open_first_vector_s", first_vector)
        self.add("pyarrow feather (mapped)", "one_row_s", lambda: mapped.slice(one, 1).to_pylist())
        self.add("pyarrow feather (mapped)", "take_1000_aligned_s", lambda: mapped.take(self.rows))
        self.add("pyarrow parquet", "take_1000_streaming_s", lambda: pq.read_table(self.path("table.parquet")).take(self.rows))
        self.add_columns("pyarrow parquet", lambda name: pq.read_table(self.path("wide.parquet"), columns=[name]))
        self.add("pyarrow parquet", "scan_2_threads_s", lambda: pq.read_table(self.path("table.parquet")))
        self.add("pyarrow feather (zstd)", "scan_2_threads_s", lambda: pa.feather.read_table(self.path("table.zstd.feather"), memory_map=False))

    def polars(self, polars, _table):
        self.add_columns("polars parquet", lambda name: polars.read_parquet(self.path("wide.parquet"), columns=[name]))
        self.add("polars parquet", "scan_2_threads_s", lambda: polars.read_parquet(self.path("table.parquet")))
        self.add("polars parquet", "take_1000_streaming_s", lambda: polars.read_parquet(self.path("table.parquet"))[self.rows.tolist()])

    def duckdb(self, duckdb, _table):
        connection = duckdb.connect()
        connection.execute("set threads to 2")
        rows = ",".join(map(str, self.rows))
        wide, table = self.path("wide.parquet"), self.path("table.parquet")
        self.add_columns("duckdb parquet", lambda name: connection.sql(f"select {name} from '{wide}'").to_arrow_table())
        self.add("duckdb parquet", "scan_2_threads_s", lambda: connection.sql(f"select * from '{table}'").to_arrow_table())
        taking = f"select * exclude file_row_number from read_parquet('{table}', file_row_number=true) where file_row_number in ({rows})"
        self.add("duckdb parquet", "take_1000_streaming_s", lambda: connection.sql(taking).to_arrow_table())
        self.add("duckdb parquet", "take_1000_aligned_s", lambda: connection.sql(taking).to_arrow_table())

    def lance(self, lance, table):
        lance.write_dataset(table, self.path("table.lance"), mode="overwrite")
        dataset = lance.dataset(self.path("table.lance"))
        one = [int(self.rows[0])]
        self.add("lance", "one_row_s", lambda: dataset.take(one))
        self.add("lance", "take_1000_aligned_s", lambda: dataset.take(self.rows.tolist()))
        self.add("lance", "take_1000_streaming_s", lambda: dataset.take(self.rows.tolist()))

    def safetensors(self, safetensors, table):
        from safetensors.numpy import save_file
        columns = {n: table[n].combine_chunks().to_numpy() for n in table.column_names if pa.types.is_floating(table[n].type)}
        save_file(columns, self.path("table.safetensors"))
        name = next(iter(columns))

        def first():
            with safetensors.safe_open(self.path("table.safetensors"), framework="np") as f:
                return f.get_slice(name)[0:1]

        self.add("safetensors", "open_first_vector_s", first)

    def datasets(self, datasets, table):
        folder = self.path("hf")
        datasets.Dataset(table).save_to_disk(folder)
        dataset = datasets.load_from_disk(folder).with_format("arrow")
        one = [int(self.rows[0])]
        self.add("datasets", "one_row_s", lambda: dataset[one])
        self.add("datasets", "take_1000_aligned_s", lambda: dataset[self.rows])


# What libzstd alone takes for the frames of a task.
BOUNDS = {f"{task}{effort}_s": f"libzstd_alone_{task}{effort}_s" for effort in ("", "_best")
          for task in ("scan_2_threads", *(f"columns_{kind}" for kind in (*KINDS, "all")))}


def add_sums(seconds):
    """The peers' columns of all kinds, as bench_streaming sums up its own."""
    for peer in {p for t, p in seconds if t == "columns_int_s"}:
        rounds = zip(*(seconds[(f"columns_{kind}_s", peer)] for kind in KINDS))
        seconds[("columns_all_s", peer)] = [sum(r) for r in rounds]


def peers_task(task):
    """What a file of another compression is asked is what the peers' files are; small chunks change nothing about the task."""
    return task.replace("_small_chunks", "_streaming").replace("_packed_s", "_s").replace("_best_s", "_s")


def ours(options, folder, *keep):
    command = [options.bench, folder, str(options.megabytes), "3", *keep]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return json.loads(out)


def bound_line(task, alone, best):
    """Whether any reader of our frames could be as fast as the fastest peer."""
    return (f"{task}: libzstd alone takes {alone:.3g} s for the same frames, into warm memory; the fastest peer takes {best:.3g} s: "
            f"at most {best / alone:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", required=True)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dir", help="where the tables go; default: a temporary folder")
    parser.add_argument("--json", help="write all figures here")
    options = parser.parse_args()
    os.environ.setdefault("POLARS_MAX_THREADS", "2")
    os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
    pa.set_cpu_count(2)
    folder = options.dir or tempfile.mkdtemp(prefix="ald-bench-")
    os.makedirs(folder, exist_ok=True)
    try:
        mine = [ours(options, folder)]
        peers = Peers(folder)
        seconds = {}
        for _ in range(options.rounds):
            mine.append(ours(options, folder, "keep"))
            for task, by_peer in peers.tasks.items():
                for peer, function in by_peer.items():
                    function()
                    seconds.setdefault((task, peer), []).append(min(timed(function) for _ in range(3)))
    finally:
        if not options.dir:
            shutil.rmtree(folder, ignore_errors=True)
    add_sums(seconds)
    result = {"megabytes": options.megabytes, "tasks": {}}
    print("| task | alimentar | fastest peer | peer's time | ratio | others |\n|---|---|---|---|---|---|")
    bounds = []
    for task in mine[0]:
        if not task.endswith("_s"):
            result["tasks"][task] = {"alimentar": mine[0][task], "peers": {}}
            continue
        own = statistics.median(m[task] for m in mine)
        by_peer = {p: statistics.median(v) for (t, p), v in seconds.items() if t == peers_task(task)}
        result["tasks"][task] = {"alimentar": own, "peers": by_peer}
        best = min(by_peer, key=by_peer.get) if by_peer else None
        if best and task in BOUNDS:
            bounds.append(bound_line(task, statistics.median(m[BOUNDS[task]] for m in mine), by_peer[best]))
        others = ", ".join(f"{p} {t:.3g}" for p, t in sorted(by_peer.items(), key=lambda item: item[1]) if p != best)
        print(f"| {task} | {own:.3g} | {best or '-'} | {by_peer[best]:.3g} | {by_peer[best] / own:.2f} | {others or '-'} |" if best
              else f"| {task} | {own:.3g} | - | - | - | - |")
    print("\n" + "\n".join(bounds))
    if peers.missing:
        print(f"\nnot installed: {', '.join(peers.missing)}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
