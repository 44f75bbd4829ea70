# SPDX-License-Identifier: MIT
"""What tests of inputs share: running cases and the command, and comparing tables."""
import argparse
import re
import resource
import subprocess
import tempfile
from pathlib import Path

import pyarrow as pa

SECONDS = 10
KNOWN_ERRORS = ("InvalidFormat", "Truncated", "Unsupported", "LimitExceeded", "ChecksumMismatch", "OutOfMemory")


class Failed(Exception):
    """What went wrong."""


def check(condition, what):
    if not condition:
        raise Failed(what)


def run_cases(cases, choose=None):
    """Each case(binary, folder) raises Failed, in a folder of its own. NAMES of the command line, where there are some, choose;
    choose(binary, cases) gives those that can be tried here, or a text why none can. -> exit status"""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    binary = str(Path(args.bin).resolve())
    failed = 0
    cases = [case for case in cases if not args.names or case.__name__ in args.names]
    cases = choose(binary, cases) if choose is not None else cases
    if isinstance(cases, str):
        print(f"skipped: {cases}")
        return 77
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            try:
                case(binary, Path(folder))
            except Failed as why:
                print(f"{case.__name__}: {why}")
                failed += 1
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


def has_module(binary):
    """Whether the command can read Parquet here at all."""
    result = subprocess.run([binary, "schema", "--from", "parquet", "-"], input=b"", capture_output=True)
    return b"which is not installed" not in result.stderr


def run(binary, *arguments, memory_bytes=None, seconds=120):
    """-> (exit status, stdout, stderr)"""
    limited = memory_bytes is not None and b"__asan_init" not in Path(binary).read_bytes()

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    try:
        result = subprocess.run([binary, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                                timeout=seconds, preexec_fn=limit if limited else None)
    except subprocess.TimeoutExpired as slow:
        raise Failed(f"{arguments[0]} took more than {slow.timeout:.0f} s") from slow
    return result.returncode, result.stdout, result.stderr.decode("utf-8", "replace")


def convert(binary, source, target, *options):
    status, _, stderr = run(binary, "convert", "--force", "--quiet", source, target, *options)
    if status != 0:
        raise Failed(f"{source.name} to {target.name}: exit {status}, {stderr.strip()}")


def read_stream(path):
    """The table of an Arrow stream, every batch validated."""
    with pa.ipc.open_stream(path) as stream:
        table = stream.read_all()
    table.validate(full=True)
    return table


def error_name(status, stderr):
    """The error of a command that failed as it should; None: some other way."""
    found = re.match(r"alimentar: error: (\w+): ", stderr)
    if status != 1 or found is None or "Sanitizer" in stderr or "runtime error" in stderr:
        return None
    return found[1] if found[1] in KNOWN_ERRORS else None


def compare(got, want, metadata=False):
    """Types and values; NaN is equal to NaN."""
    if not got.schema.equals(want.schema, check_metadata=metadata):
        raise Failed(f"the schema is\n{got.schema}\nwanted\n{want.schema}")
    if got.num_rows != want.num_rows:
        raise Failed(f"{got.num_rows} rows, wanted {want.num_rows}")
    for i, name in enumerate(want.schema.names):
        a, b = got.column(i).combine_chunks(), want.column(i).combine_chunks()
        if not a.equals(b) and a.to_string(window=10**6, container_window=10**6) != b.to_string(
                window=10**6, container_window=10**6):
            raise Failed(f"column {name!r} differs")
