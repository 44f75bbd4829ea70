#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random JSON lines through the command, compared with Python's json: what is refused, and every value.

    test_json_differential.py --bin PATH [--seed N] [--files N] [--bad N]

- Files of random records (made by Python and re-spelled: white space, escapes, number forms) are converted to JSON lines
  and must hold the same values; with `--mixed json` a place of several kinds holds each value as JSON text.
- The same files as one array must give the same output.
- Single records damaged by a few bytes must be refused exactly when Python refuses them; Python is told the rules that
  its json leaves open (no NaN, no lone surrogate, no key twice, an object at the top).
The last line of output is `N passed, N failed`.
"""
import argparse
import json
import random
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

WORDS = ["", "a", "\u00e9", "\u20ac uro", "\U0001f600", "tab\t", "quote\"", "back\\slash", "nul\0", "line\nend", "x" * 70,
         "[1,2", "{\"a\":", "]},", "2024-01-31", "007", "true"]
KEYS = ["a", "b", "c", "id", "name", "a longer key than sixteen", "\u00fc", "k,", "]"]


class Refused(Exception):
    """A rule that Python's json does not have."""


def pairs(items):
    keys = [k for k, _ in items]
    if len(set(keys)) != len(keys):
        raise Refused("key twice")
    if any(lone(k) for k in keys):
        raise Refused("lone surrogate")
    return dict(items)


def lone(text):
    return any(0xD800 <= ord(c) < 0xE000 for c in text)


def check(value, depth=1):
    if isinstance(value, str) and lone(value):
        raise Refused("lone surrogate")
    if isinstance(value, (dict, list)):
        if depth > 63:
            raise Refused("too deep")
        for inner in value.values() if isinstance(value, dict) else value:
            check(inner, depth + 1)
    return value


def constant(name):
    raise Refused(name)


def load(text):
    return check(json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_int=Decimal, parse_float=Decimal))


def number(rng):
    kind = rng.randrange(8)
    if kind < 3:
        return str(rng.randrange(-100, 100))
    if kind == 3:
        return str(rng.randrange(-2**63, 2**64))
    if kind == 4:
        return repr(rng.uniform(-1e6, 1e6))
    if kind == 5:
        return f"{rng.randrange(10**6)}.{rng.randrange(10**6):06d}"
    if kind == 6:
        return f"{rng.randrange(1, 10)}.5{rng.choice('eE')}{rng.choice(['', '+', '-'])}{rng.randrange(30)}"
    return str(rng.randrange(10**30))


def string(rng):
    text = json.dumps(rng.choice(WORDS), ensure_ascii=rng.random() < .5)
    return text.replace("/", "\\/") if rng.random() < .2 else text


def space(rng):
    return rng.choice(["", "", "", " ", "\t", "  "])


def value(rng, depth):
    kind = rng.randrange(10)
    if kind < 3:
        return number(rng)
    if kind < 5:
        return string(rng)
    if kind == 5:
        return rng.choice(["true", "false"])
    if kind == 6 or depth > 3:
        return "null"
    if kind == 7:
        return "[" + ",".join(space(rng) + value(rng, depth + 1) for _ in range(rng.randrange(4))) + "]"
    return record(rng, depth + 1)


def record(rng, depth=0):
    keys = rng.sample(KEYS, rng.randrange(5))
    return "{" + ",".join(f"{space(rng)}{json.dumps(k)}{space(rng)}:{space(rng)}{value(rng, depth)}{space(rng)}" for k in keys) + "}"


def text_of(item):
    """A value as JSON text, with numbers spelled by value."""
    return json.dumps(item, default=str)


def same(got, want):
    """Whether the command's value is Python's; text may stand for a value of a place with several kinds."""
    if isinstance(got, str) and not (isinstance(want, str) and got == want):
        if isinstance(want, Decimal):
            return Decimal(got) == want
        try:
            return same_json(json.loads(got, parse_int=Decimal, parse_float=Decimal), want)
        except ValueError:
            return False
    if want is None:
        return got is None
    if isinstance(want, dict):
        return isinstance(got, dict) and all(same(got.get(k), want.get(k)) for k in set(got) | set(want))
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    if isinstance(want, Decimal):
        return isinstance(got, Decimal) and (got == want or float(got) == float(want))
    return got == want


def same_json(got, want):
    """Text of a mixed place keeps everything, missing keys too."""
    if isinstance(want, dict):
        return isinstance(got, dict) and got.keys() == want.keys() and all(same_json(got[k], want[k]) for k in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same_json, got, want))
    return type(got) is type(want) and got == want


def run(tool, folder, name, *options):
    out = folder / "out.jsonl"
    out.unlink(missing_ok=True)
    done = subprocess.run([tool, "convert", str(folder / name), str(out), *options], capture_output=True, timeout=120)
    if done.returncode < 0 or done.returncode > 63 or b"Sanitizer" in done.stderr or b"runtime error" in done.stderr:
        raise AssertionError(f"the tool broke: {done.returncode} {done.stderr.decode(errors='replace')[-2000:]}")
    return done, out.read_bytes() if done.returncode == 0 else None


def check_file(tool, folder, rng):
    lines = [record(rng) for _ in range(rng.randrange(1, 40))]
    (folder / "in.jsonl").write_bytes(rng.choice(["\n", "\r\n", "\n\n"]).join(lines).encode())
    (folder / "in.json").write_bytes(("[" + rng.choice([",", ",\n", " , "]).join(lines) + "]").encode())
    done, out = run(tool, folder, "in.jsonl", "--mixed", "json")
    if out is None:
        raise AssertionError(f"refused: {done.stderr.decode()}")
    got = [json.loads(line, parse_int=Decimal, parse_float=Decimal) for line in out.decode().split("\n")[:-1]]
    want = [load(line) for line in lines]
    if len(got) != len(want):
        raise AssertionError(f"{len(got)} rows, wanted {len(want)}")
    for line, (g, w) in enumerate(zip(got, want), 1):
        if not same(g, w):
            raise AssertionError(f"record {line}: {text_of(g)} is not {text_of(w)}")
    _, array = run(tool, folder, "in.json", "--from", "jsonl", "--mixed", "json")
    if array != out:
        raise AssertionError("the array gives other rows than the lines")


def damage(rng, text):
    data = bytearray(text.encode())
    for _ in range(rng.randrange(1, 3)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0 and data:
            del data[at:at + rng.randrange(1, 3)]
        elif kind == 1:
            data[at:at] = rng.choice([b",", b"{", b"}", b"[", b"]", b"\"", b"\\", b"0", b"-", b".", b"e", b"\\ud800", b"\xff", b"\x01", b"null",
                                      b"NaN", b":1", b"\\u00e9", b" ", b"\xc3"])
        elif kind == 2 and at < len(data):
            data[at] = rng.randrange(256)
        elif data:
            data[at:at] = data[max(0, at - rng.randrange(1, 8)):at]
    return bytes(data).replace(b"\n", b"").replace(b"\r", b"")


def python_takes(data):
    try:
        text = data.decode()
        return isinstance(load(text), dict)
    except (ValueError, Refused, RecursionError):
        return False


def check_bad(tool, folder, rng):
    data = damage(rng, record(rng))
    if data.strip(b" \t") == b"" or data.lstrip(b" \t").startswith(b"[") or data.startswith(b"\xef\xbb\xbf"):
        return
    (folder / "in.jsonl").write_bytes(b"{}\n" + data + b"\n")
    done, out = run(tool, folder, "in.jsonl", "--mixed", "json")
    wanted = python_takes(data)
    if b"U+0000" in done.stderr:
        return  # a key that cannot name a column
    if (out is not None) != wanted:
        raise AssertionError(f"{data!r}: Python {'takes' if wanted else 'refuses'} it; {done.stderr.decode(errors='replace')}")
    if out is None and b"line 2" not in done.stderr:
        raise AssertionError(f"{data!r}: no line 2 in {done.stderr!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seed", type=int, default=20240131)
    parser.add_argument("--files", type=int, default=120)
    parser.add_argument("--bad", type=int, default=400)
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        for number_, count, step in ((0, args.files, check_file), (1, args.bad, check_bad)):
            for i in range(count):
                rng = random.Random(f"{args.seed}-{number_}-{i}")
                try:
                    step(args.bin, Path(name), rng)
                    passed += 1
                except AssertionError as error:
                    failed += 1
                    print(f"{step.__name__} {i}: {error}"[:3000])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
