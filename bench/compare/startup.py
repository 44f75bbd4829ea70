#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long `alimentar info` takes from start to end, on a small file and on one of 10,000 columns.

    startup.py --bin build/…/alimentar [--runs 50] [--json FILE]

Medians of wall and CPU (user + system) time. `true` is the same for a program that does nothing: what the system takes.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

LIMITS_MS = {"info, small file": 5, "info, 10,000 columns": 30}


def run_once(command, devnull):
    started = time.perf_counter()
    actions = [(os.POSIX_SPAWN_DUP2, devnull, 1)]
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(command)}: exit {os.waitstatus_to_exitcode(status)}")
    return wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--json")
    args = parser.parse_args()
    devnull = os.open(os.devnull, os.O_WRONLY)
    with tempfile.TemporaryDirectory(prefix="alimentar-startup-") as folder:
        small, wide = Path(folder) / "small", Path(folder) / "wide"
        small.with_suffix(".csv").write_text("a,b\n1,x\n2,y\n")
        wide.with_suffix(".csv").write_text(",".join(f"column_{i}" for i in range(10000)) + "\n" + ",".join(["1"] * 10000) + "\n")
        for file in (small, wide):
            run_once([args.bin, "convert", "--quiet", str(file.with_suffix(".csv")), str(file.with_suffix(".ald"))], devnull)
        commands = {"true": ["true"], "info, small file": [args.bin, "info", str(small.with_suffix(".ald"))],
                    "info, 10,000 columns": [args.bin, "info", str(wide.with_suffix(".ald"))]}
        times = {name: [] for name in commands}
        for number in range(args.runs + 1):
            for name, command in commands.items():
                pair = run_once(command, devnull)
                if number > 0:
                    times[name].append(pair)
    results = {name: {"wall_ms": statistics.median(t[0] for t in pairs), "cpu_ms": statistics.median(t[1] for t in pairs),
                      "limit_ms": LIMITS_MS.get(name)} for name, pairs in times.items()}
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1))
    print("| what | wall ms | CPU ms | wanted below |\n|---|---|---|---|")
    for name, r in results.items():
        print(f"| {name} | {r['wall_ms']:.2f} | {r['cpu_ms']:.2f} | {r['limit_ms'] or ''} |")


if __name__ == "__main__":
    sys.exit(main())
