#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Large text to a file, where types come from samples and all may be written again, against the same text to a pipe, where
types are known first: the same bytes, notes and errors.

    test_one_pass.py --bin PATH

The last line of output is `N passed, N failed`.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BYTES = 9 << 20     # more than what is read twice without ado


def csv_rows(row, count, last=()):
    return "\n".join(["a,b,c", *[row.format(i=i) for i in range(count)], *last]) + "\n"


def inputs():
    """format, text, options; output's format, if it is not arrow"""
    plain, count = "{i},{i}.25,2024-01-31 12:30:00", BYTES // 36
    yield "csv", csv_rows(plain, count), []
    yield "csv", csv_rows(plain, count, ["1.5,2,2024-01-31 12:30:00"]), []
    yield "csv", csv_rows(plain, count, ["N/A,2,2024-01-31 12:30:00.123456789"]), []
    yield "csv", csv_rows(plain, count, ["18446744073709551615,0.1234567890123456789,2024-01-31"]), []
    yield "csv", csv_rows(plain, count, ["1,2"]), []                                        # ragged: an error
    yield "csv", csv_rows(plain, count, ["1,2"]), ["--ragged", "pad"]
    yield "csv", csv_rows(plain, count, ["1,x,2024-01-31"]), ["--types", "b:float64"]       # an error in a declared column
    yield "csv", csv_rows(plain, count, ["NA,2,"]), ["--null", "NA", "--null", ""]
    quoted = csv_rows('"{i}","x","{i}.5"', BYTES // 30).replace("a,b,c", '"a","b","c"', 1)
    yield "csv", quoted, []
    yield "csv", quoted + '"1","x",2\n', []
    # Text either way, but a quoted NA is null only where all is quoted: one bare field in the last line makes it text.
    yield "csv", '"a","b"\n' + '"x","NA"\n"x","z"\n' * (BYTES // 17) + '"x",y\n', ["--null", "NA"]
    yield "csv", '"a","b"\n' + '"x","NA"\n"x","z"\n' * (BYTES // 17) + '"x","y"\n', ["--null", "NA"]
    yield "csv", '"a","b"\n' + '"x","NA"\n"x","z"\n' * (BYTES // 17) + 'x,"NA"', ["--null", "NA"]
    line = '{{"a":{i},"b":"x","c":[{i}.5,null]}}'
    lines = "".join(line.format(i=i) + "\n" for i in range(BYTES // 38))
    yield "jsonl", lines, []
    yield "jsonl", lines + '{"a":1.5}\n', []
    yield "jsonl", lines + '{"d":{"e":true}}\n', []
    yield "jsonl", lines + '{"a":"x"}\n', []                                                # of two kinds: an error
    yield "jsonl", lines + '{"a":"x"}\n', ["--mixed", "string"]
    yield "jsonl", lines + '{"a":1,"a":2}\n', []
    yield "jsonl", lines + '{"a":1,\n', []
    # What the output or an option refuses is the file's, not the samples'.
    yield "jsonl", "{}\n" * (BYTES // 3) + '{"a":1}\n', [], "csv"
    yield "jsonl", "{}\n" * (BYTES // 3), [], "csv"
    yield "jsonl", lines + '{"late":1}\n', ["--column-docs", "DOCS"], "ald"
    yield "jsonl", '{"a":"\\u0000"}\n' * (BYTES // 15) + '{"b":0.1234567890123456789}\n', [], "csv"


def in_the_middle(text):
    """The last line where none of the samples is taken: they are 40 from the beginning on, and the end."""
    lines = text.splitlines(keepends=True)
    lines.insert(len(lines) * 52 // 100, lines.pop().rstrip("\n") + "\n")
    return "".join(lines)


def cases():
    for kind, text, *more in inputs():
        yield kind, text, *more
        yield kind, in_the_middle(text), *more


def run(binary, *arguments, stdout=subprocess.PIPE):
    done = subprocess.run([binary, "convert", *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr.decode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        docs = Path(other) / "docs.json"
        docs.write_text('{"late":{"description":"comes last"}}')
        for number, (kind, text, options, *to) in enumerate(cases()):
            to = to[0] if to else "arrow"
            options = [str(docs) if o == "DOCS" else o for o in options]
            source, target = Path(folder) / f"in.{kind}", Path(folder) / f"out.{to}"
            source.write_text(text)
            threads = ["--threads", str(1 + number // 2 % 2)]
            code, data, notes = run(args.bin, str(source), "-", "--to", to, *threads, *options)
            code_file, _, notes_file = run(args.bin, str(source), str(target), *threads, *options)
            written = target.read_bytes() if target.exists() else b""
            # A pipe may have been given rows before the error; a file is there when all is well, or not at all.
            notes, notes_file = notes.replace("standard output", "OUT"), notes_file.replace(str(target), "OUT")
            if code == code_file and notes == notes_file and written == (data if code == 0 else b""):
                passed += 1
            else:
                failed += 1
                print(f"input {number}: exit {code}, {code_file}; {len(data)}, {len(written)} bytes\n{notes}---\n{notes_file}")
            target.unlink(missing_ok=True)
            if sorted(os.listdir(folder)) != [source.name]:
                failed += 1
                print(f"input {number}: left behind {os.listdir(folder)}")
            source.unlink()
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
