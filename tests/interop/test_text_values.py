#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Values as text against pyarrow and Python's csv: every Arrow type, random values, whole and sliced.

    test_text_values.py --bin PATH

json   `cat --json` of an Arrow stream gives pyarrow's values, exactly
csv    `convert` to CSV gives text that Python's csv module splits into the same strings

A line for each failure, `N passed, N failed` as the last. Exits 77 when a package is absent.
"""
import argparse
import base64
import csv
import datetime
import io
import json
import math
import random
import subprocess
import sys
import tempfile
from decimal import Context, Decimal
from pathlib import Path

try:
    import numpy as np
    import pyarrow as pa
except ModuleNotFoundError as e:
    print(f"skipped: {e}")
    sys.exit(77)

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
R = random.Random(7)


# ----------------------------------------------------------------------------- what the text must be

def decimals(part, unit):
    """Nanoseconds always have nine decimals, microseconds none, three or six, milliseconds none or three."""
    if unit == "ns":
        return f".{part:09}"
    if part == 0:
        return ""
    digits = f"{part:06}" if unit == "us" else f"{part:03}"
    return "." + (digits[:3] if unit == "us" and digits.endswith("000") else digits)


def moment(scalar):
    """A date, time, timestamp or duration from its stored integer, without pyarrow's own conversion."""
    t = scalar.type
    if pa.types.is_date(t):
        return scalar.as_py().isoformat()
    if pa.types.is_duration(t):
        return scalar.value
    seconds, part = divmod(scalar.value, UNITS[t.unit])
    if pa.types.is_time(t):
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{decimals(part, t.unit)}"
    zone = ""
    if t.tz:
        zone = "Z"
        if t.tz[0] in "+-":
            seconds += int(t.tz[0] + "60") * (int(t.tz[1:3]) * 60 + int(t.tz[4:6]))
            zone = t.tz
    day = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return day.isoformat() + decimals(part, t.unit) + zone


def expected(v, t):
    """A Python value of this type as the parsed JSON must have it."""
    if v is None:
        return None
    if pa.types.is_dictionary(t) or pa.types.is_run_end_encoded(t):
        return expected(v, t.value_type)
    if pa.types.is_struct(t):
        return {f.name: expected(v[f.name], f.type) for f in t}
    if pa.types.is_map(t):
        items = [[expected(k, t.key_type), expected(x, t.item_type)] for k, x in v]
        return dict(items) if pa.types.is_string(t.key_type) else items
    if isinstance(v, list):
        return [expected(x, t.value_type) for x in v]
    if isinstance(v, bytes):
        return base64.b64encode(v).decode()
    if pa.types.is_floating(t):
        v = float(v)
        return v if math.isfinite(v) else "NaN" if v != v else "Infinity" if v > 0 else "-Infinity"
    return v


def expected_column(column):
    if pa.types.is_temporal(column.type):
        return [moment(x) if x.is_valid else None for x in column]
    return [expected(x.as_py(), column.type) for x in column]


# ----------------------------------------------------------------------------- columns

def maybe(make, count=200):
    return [None if R.random() < 0.2 else make() for _ in range(count)]


def text():
    parts = ["a", "b", '"', "\\", "\n", "\t", "\x01", "\u2028", "é", "漢", "🎉", ",", ";", "17", " "]
    return "".join(R.choice(parts) for _ in range(R.choice([0, 1, 2, 3, 5, 8, 13, 16, 17, 30, 50])))


def stored(make, storage, t):
    return pa.array(maybe(make), storage).cast(t)


def numbers():
    for t in pa.int8(), pa.int16(), pa.int32(), pa.int64():
        half = 2 ** (t.bit_width - 1)
        yield pa.array(maybe(lambda half=half, t=t: R.randrange(-half, half) >> R.randrange(t.bit_width)), t)
    for t in pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64():
        yield pa.array(maybe(lambda t=t: R.randrange(2**t.bit_width) >> R.randrange(t.bit_width)), t)
    yield pa.array(maybe(lambda: R.random() < 0.5))
    yield pa.array(maybe(lambda: R.choice([R.random(), R.gauss(0, 1e20), math.nan, math.inf, -math.inf, -0.0, 1e300,
                                           5e-324, 2.0**-1017, round(R.random() * 1000, 2)])))
    yield pa.array([np.float16(R.gauss(0, 100)) for _ in range(100)])
    for t in pa.decimal32(9, 3), pa.decimal64(18, 0), pa.decimal128(38, 10), pa.decimal256(76, 30):
        def value(t=t):
            n = R.randrange(-10**t.precision + 1, 10**t.precision) // 10 ** R.randrange(t.precision)
            return Decimal(n).scaleb(-t.scale, context=Context(prec=100))
        yield pa.array(maybe(value), t)
    yield pa.array([Decimal(i * 100) for i in range(-20, 20)], pa.decimal128(5, -2))


def times():
    yield stored(lambda: R.randrange(-700000, 2900000), pa.int32(), pa.date32())
    yield stored(lambda: R.randrange(-700000, 2900000) * 86400000, pa.int64(), pa.date64())
    for unit, per in UNITS.items():
        for zone in None, "UTC", "+05:30", "-08:00", "Europe/Berlin":
            yield stored(lambda per=per: R.choice([R.randrange(-2 * 10**9 * per, 4 * 10**9 * per), R.randrange(4 * 10**9) * per]),
                         pa.int64(), pa.timestamp(unit, zone))
        yield stored(lambda: R.randrange(-10**15, 10**15), pa.int64(), pa.duration(unit))
        small = unit in ("s", "ms")
        yield stored(lambda per=per: R.randrange(86400 * per), pa.int32() if small else pa.int64(),
                     pa.time32(unit) if small else pa.time64(unit))


def bytes_and_nested():
    for t in pa.string(), pa.large_string(), pa.string_view():
        yield pa.array(maybe(text), t)
    for t in pa.binary(), pa.large_binary(), pa.binary_view():
        yield pa.array(maybe(lambda: R.randbytes(R.randrange(30))), t)
    yield pa.array(maybe(lambda: R.randbytes(5)), pa.binary(5))
    yield pa.array(maybe(lambda: R.choice("abc"))).dictionary_encode()
    yield pa.array(maybe(lambda: [R.choice([None, R.randrange(9)]) for _ in range(R.randrange(4))]))
    yield pa.array(maybe(lambda: [[text()] for _ in range(R.randrange(4))]), pa.large_list(pa.list_(pa.string())))
    for t in pa.list_(pa.int8(), 3), pa.list_view(pa.int8()), pa.large_list_view(pa.int8()):
        yield pa.array(maybe(lambda: [1, None, 3]), t)
    yield pa.array(maybe(lambda: {"a": R.choice([None, 1]), "b\n": [text()]}))
    yield pa.array(maybe(lambda: [(text() + str(i), i) for i in range(3)]), pa.map_(pa.string(), pa.int32()))
    yield pa.array(maybe(lambda: [(i, text()) for i in range(3)]), pa.map_(pa.int64(), pa.string()))
    yield pa.RunEndEncodedArray.from_arrays(pa.array([3, 5, 9, 20], pa.int32()), pa.array(["a", None, "b", "c"]))
    codes = pa.array([0, 1, 0, 1, 1, 0, 1, 0], pa.int8())
    yield pa.UnionArray.from_sparse(codes, [pa.array(range(8)), pa.array(list("abcdefgh"))])
    yield pa.UnionArray.from_dense(codes.slice(0, 6), pa.array([0, 0, 1, 1, 2, 2], pa.int32()),
                                   [pa.array(range(3)), pa.array(["a", None, "h"])])
    yield pa.nulls(10)


# ----------------------------------------------------------------------------- checks

def run(*args):
    done = subprocess.run(list(map(str, args)), capture_output=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"exit {done.returncode}: {done.stderr.decode().strip()}")
    return done.stdout


def write(path, column):
    batch = pa.record_batch([column], names=["c"])
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)


def check_json(bin_path, folder, column):
    path = folder / "in.arrows"
    exact = Decimal if pa.types.is_decimal(column.type) else None
    write(path, column)
    lines = run(bin_path, "cat", "--json", path).decode().split("\n")
    assert lines.pop() == "", "the last line has no end"
    got = [json.loads(line, parse_float=exact, parse_int=exact)["c"] for line in lines]
    want = expected_column(column)
    for g, w in zip(got, want):
        same = g == w and (not isinstance(w, float) or math.copysign(1, g) == math.copysign(1, w))
        assert same, f"{str(g)[:100]!r}, expected {str(w)[:100]!r}"
    assert len(got) == len(want), f"{len(got)} rows, expected {len(want)}"


def check_csv(bin_path, folder, column):
    """Only strings: all else is a matter of notation."""
    path, out = folder / "in.arrows", folder / "out.csv"
    write(path, column)
    run(bin_path, "convert", path, out, "--force", "--quiet")
    rows = list(csv.reader(io.StringIO(out.read_bytes().decode(), newline="")))
    got = [row[0] if row else "" for row in rows]
    assert got == ["c"] + [v or "" for v in column.to_pylist()], "other strings"


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    ap.add_argument("--bin", required=True)
    bin_path = ap.parse_args().bin
    passed = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        jobs = [(check_json, part) for make in (numbers, times, bytes_and_nested) for column in make()
                for part in (column, column.slice(3), column.slice(1, 5))]
        jobs += [(check_csv, pa.array(maybe(text, 400), t)) for t in (pa.string(), pa.large_string(), pa.string_view())]
        for check, column in jobs:
            try:
                check(bin_path, Path(tmp), column)
                passed += 1
            except (AssertionError, ValueError, KeyError, subprocess.TimeoutExpired) as e:
                failed += 1
                print(f"FAIL {check.__name__} {column.type}, {len(column)} rows: {e}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
