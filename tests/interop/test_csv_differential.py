#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random arrangements of quotes, delimiters and line ends through the command, compared with Python's csv.

    test_csv_differential.py --bin PATH [--seed N] [--files N]

Every file is read with all columns as text and must give the fields that csv.reader(strict=True) gives; it must be refused
exactly when Python refuses it or when its records have different numbers of fields (which Python leaves to its user).
The last line of output is `N passed, N failed`.
"""
import argparse
import csv
import io
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

DIALECTS = [(",", '"'), (";", '"'), ("\t", '"'), ("|", "'"), (",", "'"), (":", "`")]


def make_text(rng, delimiter, quote):
    parts = [delimiter, delimiter, "\n", "\n", "\r\n", "\r", quote, quote, quote + quote, "a", "bc", " ", "1.5", "\u00e9", "\u2028",
             "x" * rng.randrange(1, 70)]
    if rng.randrange(3) == 0:       # any order: most of these are refused
        return "".join(rng.choice(parts) for _ in range(rng.randrange(1, 40)))
    width, lines = rng.randrange(1, 5), []
    for _ in range(rng.randrange(1, 12)):
        fields = []
        for _ in range(width):
            field = "".join(rng.choice(parts) for _ in range(rng.randrange(4)))
            if rng.randrange(60) and (rng.randrange(3) == 0 or any(c in field for c in (delimiter, quote, "\r", "\n"))):
                field = quote + field.replace(quote, 2 * quote) + quote
            fields.append(field)
        lines.append(delimiter.join(fields) + rng.choice(["\n", "\n", "\r\n", "\r"]))
    text = "".join(lines)
    return text.rstrip("\r\n") if rng.randrange(4) == 0 else text


def wanted(text, delimiter, quote):
    """The rows, or None where the file is to be refused; and the number of columns, where Python got that far."""
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote, strict=True):
            if row or (rows and len(rows[0]) == 1):     # a blank line is a null in a file of one column
                rows.append(row or [""])
    except csv.Error:
        return None, len(rows[0]) if rows else 1
    width = len(rows[0]) if rows else 1
    if not rows or any(len(row) != width for row in rows):
        return None, width
    return rows, width


def got(binary, path, width, delimiter, quote):
    """The rows, or None and the message."""
    schema = ",".join(f"f{i}:string" for i in range(width))
    run = subprocess.run([binary, "convert", str(path), "-", "--to", "jsonl", "--no-header", "--quiet", "--schema", schema,
                          "--delimiter", delimiter, "--quote", quote], stdin=subprocess.DEVNULL, capture_output=True)
    if run.returncode not in (0, 1):
        raise SystemExit(f"exit {run.returncode}: {run.stderr.decode()}")
    if run.returncode == 1:
        return None, run.stderr.decode()
    lines = run.stdout.decode().split("\n")[:-1]
    return [[value or "" for value in json.loads(line).values()] for line in lines], ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--files", type=int, default=500)
    args = parser.parse_args()
    print(f"seed {args.seed}")
    passed = failed = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.csv"
        for number in range(args.files):
            rng = random.Random(args.seed * 1000003 + number)
            delimiter, quote = rng.choice(DIALECTS)
            text = make_text(rng, delimiter, quote)
            if not text:
                continue
            path.write_bytes(text.encode())
            rows, width = wanted(text, delimiter, quote)
            ours, message = got(args.bin, path, width, delimiter, quote)
            refused += rows is None
            if ours == rows:
                passed += 1
                continue
            failed += 1
            print(f"file {number} {delimiter!r} {quote!r}: {text!r}\n  Python: {rows}\n  ours:   {ours} {message}")
    if args.files >= 200 and not 0.1 < refused / args.files < 0.9:
        failed += 1
        print(f"{refused} of {args.files} are to be refused: the files are too much alike")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
