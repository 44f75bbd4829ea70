#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Arrow IPC files of other implementations: the collection arrow-testing, below ALD_PEERS.

    test_arrow_testing.py --bin PATH

Every X.stream and X.arrow_file is converted to a stream, to a file and through a .ald, and must have the values that
X.json.gz lists. Big-endian ones are refused in so many words. Inputs that once broke Arrow C++ give a table or a clear error
within 10 seconds and 512 MB. Exit status 77: the collection is not there. The last line is `N passed, N failed`.
"""
import argparse
import gzip
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

import integration_json as plain

MEMORY_BYTES = 512 << 20
SECONDS = 10
KNOWN_ERRORS = ("InvalidFormat", "Truncated", "Unsupported", "LimitExceeded", "ChecksumMismatch", "UnsupportedVersion")


class Failed(Exception):
    """What went wrong."""


def run(command, limited=False):
    """-> (exit status, stdout, stderr); `limited` sets the time and memory that bad input may take"""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS if limited else 120,
                                preexec_fn=limit if limited else None)
    except subprocess.TimeoutExpired as slow:
        raise Failed(f"{' '.join(command[1:3])} took more than {slow.timeout:.0f} s") from slow
    return result.returncode, result.stdout, result.stderr.decode("utf-8", "replace")


def convert(binary, source, kind, folder):
    """paths of the same table as a stream, as a file, and as a stream that went through a .ald"""
    paths = [folder / "out.arrows", folder / "out.arrow", folder / "through.arrows"]
    steps = [[source, paths[0], "--from", kind], [source, paths[1], "--from", kind, "--buffer-compression", "zstd"],
             [source, folder / "out.ald", "--from", kind], [folder / "out.ald", paths[2]]]
    for step in steps:
        status, _, stderr = run([binary, "convert", "--force", "--quiet", *map(str, step)])
        if status != 0:
            raise Failed(f"convert to {step[1].suffix}: exit {status}, {stderr.strip()}")
    return paths


def read(path):
    if path.suffix == ".arrow":
        file = pa.ipc.open_file(path)
        return file.schema, [file.get_batch(i) for i in range(file.num_record_batches)]
    stream = pa.ipc.open_stream(path)
    return stream.schema, list(stream)


def interval_columns(document):
    """Numbers of the columns that pyarrow has no arrays for: intervals of months, or of days and milliseconds."""
    return {i for i, field in enumerate(document["schema"]["fields"])
            if field["type"]["name"] == "interval" and field["type"]["unit"] in ("YEAR_MONTH", "DAY_TIME")}


def interval_value(text):
    """P5M -> 5; P1DT2.5S -> (1, 2500)"""
    if text is None:
        return None
    months = re.fullmatch(r"P(-?\d+)M", text)
    if months:
        return int(months[1])
    parts = re.fullmatch(r"P(?:(-?\d+)D)?(?:T(-?)(\d+)(?:\.(\d{1,3}))?S)?", text)
    if parts is None:
        raise Failed(f"an interval is written as {text!r}")
    milliseconds = int(parts[3] or 0) * 1000 + int((parts[4] or "").ljust(3, "0"))
    return int(parts[1] or 0), -milliseconds if parts[2] else milliseconds


def printed_column(binary, path, name):
    status, stdout, stderr = run([binary, "cat", "--json", str(path)])
    if status != 0:
        raise Failed(f"cat: exit {status}, {stderr.strip()}")
    return [interval_value(json.loads(line)[name]) for line in stdout.decode().splitlines()]


def compare(binary, path, document, wanted_schema):
    names, columns = plain.json_table(document)
    schema, batches = read(path)
    if schema.names != names:
        raise Failed(f"columns are {schema.names}, wanted {names}")
    if wanted_schema is not None and not schema.equals(wanted_schema, check_metadata=True):
        raise Failed(f"the schema is\n{schema}\nwanted\n{wanted_schema}")
    printed = interval_columns(document)
    for i, want in enumerate(columns):
        if i in printed:
            got = printed_column(binary, path, names[i])
        else:
            got = [row for batch in batches for row in plain.arrow_rows(batch.column(i))]
        difference = plain.first_difference(got, want)
        if difference:
            raise Failed(f"{path.name}, column {names[i]!r}: {difference}")


def pyarrow_schema(path, kind):
    return (pa.ipc.open_file if kind == "arrow" else pa.ipc.open_stream)(path).schema


def check_integration(binary, source, folder):
    kind = "arrow" if source.suffix == ".arrow_file" else "arrows"
    with gzip.open(source.with_suffix(".json.gz")) as file:
        document = json.load(file)
    if "bigendian" in source.parent.name:
        status, _, stderr = run([binary, "convert", "--from", kind, str(source), str(folder / "big.arrows")])
        if status == 1 and "Unsupported" in stderr and "big-endian" in stderr:
            return
        raise Failed(f"exit {status}: {stderr.strip()}")
    wanted = pyarrow_schema(source, kind)
    for path in convert(binary, source, kind, folder):
        compare(binary, path, document, wanted)


def check_broken(binary, source, kind, folder):
    """A table that all of our commands and pyarrow agree is one, or one of the errors for bad input."""
    limited = b"__asan_init" not in Path(binary).read_bytes()  # AddressSanitizer reserves terabytes
    output = folder / "out.arrows"
    output.unlink(missing_ok=True)
    commands = [["convert", "--force", "--quiet", "--from", kind, str(source), str(output)],
                ["cat", "--from", kind, str(source)], ["schema", "--from", kind, str(source)]]
    for command in commands:
        status, _, stderr = run([binary, *command], limited)
        if status == 0:
            continue
        found = re.match(r"alimentar: error: (\w+): ", stderr)
        if "Sanitizer" in stderr or "runtime error" in stderr or status != 1 or found is None or found[1] not in KNOWN_ERRORS:
            raise Failed(f"{command[0]}: exit {status}, {stderr[:300]!r}")
        if command[0] == "convert" and output.exists():
            raise Failed("an output was left behind")
    if output.exists():
        for batch in read(output)[1]:
            batch.validate(full=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    binary = str(Path(parser.parse_args().bin).resolve())
    root = Path(__file__).resolve().parents[2]
    data = Path(os.environ.get("ALD_PEERS") or root.parent / "shared/peers") / "arrow-testing/data"
    if not data.is_dir():
        print(f"skipped: no {data}")
        return 77
    jobs = [(path, lambda p, f: check_integration(binary, p, f))
            for suffix in ("stream", "arrow_file")
            for path in sorted(data.glob(f"arrow-ipc-stream/integration/*/*.{suffix}"))]
    for pattern, kind in (("arrow-ipc-stream/*fuzz*", "arrows"), ("arrow-ipc-file/*fuzz*", "arrow"), ("csv/fuzzing/*", "csv")):
        jobs += [(path, lambda p, f, kind=kind: check_broken(binary, p, kind, f)) for path in sorted(data.glob(pattern))]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="alimentar-peers-") as folder:
        for path, check in jobs:
            try:
                check(path, Path(folder))
            except (Failed, pa.ArrowException) as problem:
                failed += 1
                print(f"FAILED {path.relative_to(data)}: {problem}")
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
