#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Samples, splits and manifests against docs/DATASETS.md, whose Python is run as it stands there.

    test_datasets.py --bin PATH

samples    which rows `sample` takes, with and without classes
splits     which rows go to which part
manifests  sizes, rows and BLAKE3 hashes
appends    .ald files of another writer, to which their own rows are appended

A line for each failure, `N passed, N failed` as the last. Exits 77 when a package is absent.
"""
import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from math import floor
from pathlib import Path

try:
    import blake3
except ModuleNotFoundError as e:
    print(f"skipped: {e}")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/DATASETS.md").read_text()
code = {}
exec(re.search(r"```python\n(.*?)```", DOCUMENT, re.S)[1], code)
deal = code["deal"]


def run(bin_path, folder, *words):
    done = subprocess.run([bin_path, *words], cwd=folder, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"{words}: {done.stderr}")
    return done.stdout


def share_out(classes, counts):
    """{class: [rows for each part]}, as the document says."""
    rest = {}
    for c in classes:
        rest[c] = rest.get(c, 0) + 1
    due, total = {c: [] for c in rest}, len(classes)
    for n in counts:
        seen = given = 0
        for c in rest:
            seen += rest[c]
            until = floor(Fraction(seen * n, total) + Fraction(1, 2)) if total else 0
            due[c].append(until - given)
            given = until
        for c in rest:
            rest[c] -= due[c][-1]
        total -= n
    return due


def largest_remainders(total, shares):
    exact = [total * s for s in shares]
    counts = [floor(e) for e in exact]
    order = sorted(range(len(shares)), key=lambda i: -(exact[i] - counts[i]))
    for i in order[:total - sum(counts)]:
        counts[i] += 1
    return counts


def table(rng, folder, rows):
    labels = [rng.choice(["a", "b", "", "long tail"]) if rng.random() < 0.95 else f"rare {i}" for i in range(rows)]
    (folder / "t.csv").write_text("id,label\n" + "".join(f"{i},{x}\n" for i, x in enumerate(labels)))
    return labels


def ids(text):
    return [json.loads(line)["id"] for line in text.splitlines()]


def check_samples(bin_path, folder, rng):
    for _ in range(25):
        rows, seed = rng.choice([0, 1, 2, 17, 300, 1000]), rng.choice([0, 1, 7, 2**64 - 1, rng.getrandbits(60)])
        labels = table(rng, folder, rows)
        stratify = rows > 0 and rng.random() < 0.6
        classes = labels if stratify else [0] * rows
        words = ["--seed", str(seed)] + (["--stratify", "label"] if stratify else [])
        if rng.random() < 0.5:
            n = rng.randint(0, rows)
            words += ["-n", str(n)]
        else:
            f = f"0.{rng.randint(0, 999999999):09}"
            n = floor(rows * Fraction(f) + Fraction(1, 2))
            words += ["--fraction", f]
        parts = deal(seed, classes, share_out(classes, [n, rows - n]))
        want = [i for i, p in enumerate(parts) if p == 0]
        got = ids(run(bin_path, folder, "sample", "t.csv", "--json", "--types", "id:int64,label:string", "-q", *words))
        yield f"sample of {rows}, {words}", None if got == want and len(got) == n else f"{got}, wanted {want}"


def check_splits(bin_path, folder, rng):
    for _ in range(20):
        rows, seed = rng.choice([0, 1, 5, 64, 777]), rng.getrandbits(64)
        labels = table(rng, folder, rows)
        shares = rng.choice([["0.8", "0.2"], ["0.333333333", "0.333333333", "0.333333334"], ["5", "3", "1"], ["0.05", "0.9", "0.05"], ["1", "1"]])
        whole = sum(map(Fraction, shares))
        counts = largest_remainders(rows, [Fraction(s) / whole for s in shares])
        stratify = rows > 0 and rng.random() < 0.6
        classes = labels if stratify else [0] * rows
        due = share_out(classes, counts)
        parts = deal(seed, classes, due)
        words = ["--seed", str(seed)] + (["--stratify", "label"] if stratify else [])
        source = rng.choice(["t.csv", "t.ald", "s.ald", "t.arrow"])
        if source != "t.csv":
            run(bin_path, folder, "convert", "t.csv", source, "-f", "-q", "--types", "id:int64,label:string",
                *(["--streaming", "--chunk-rows", "50"] if source == "s.ald" else []))
        else:
            words += ["--types", "id:int64,label:string"]
        run(bin_path, folder, "split", source, *(f"p{i}={s}" for i, s in enumerate(shares)), "-o", "o-{split}.ald", "-f", "-q", *words)
        problem = None
        for j in range(len(shares)):
            got = ids(run(bin_path, folder, "cat", f"o-p{j}.ald", "--json"))
            want = [i for i, p in enumerate(parts) if p == j]
            if got != want or len(got) != counts[j]:
                problem = f"part {j}: {got}, wanted {want}"
        if stratify:
            for c, d in due.items():
                off = max(abs(d[j] - Fraction(counts[j] * sum(d), rows)) for j in range(len(d)))
                if off >= (1 if len(shares) == 2 else 2):
                    problem = f"class {c!r}: {d} of {sum(d)}"
        yield f"split of {rows}, {shares}, {words}, {source}", problem


def check_manifests(bin_path, folder, rng):
    for kind in ("ald", "csv", "jsonl", "arrow", "arrows"):
        rows, each = rng.randint(1, 900), rng.randint(1, 300)
        table(rng, folder, rows)
        run(bin_path, folder, "convert", "t.csv", f"{kind}-{{shard:03}}.{kind}", "--rows-per-shard", str(each))
        manifest = json.loads((folder / f"{kind}-manifest.json").read_text())
        want = {"alimentar_manifest": 1, "format": kind, "num_rows": rows, "files": []}
        for k in range((rows + each - 1) // each):
            data = (folder / f"{kind}-{k:03}.{kind}").read_bytes()
            want["files"].append({"name": f"{kind}-{k:03}.{kind}", "num_rows": min(each, rows - k * each),
                                  "file_size": len(data), "blake3": blake3.blake3(data).hexdigest()})
        yield f"manifest of {kind}", None if manifest == want else f"{manifest}, wanted {want}"


def check_appends(bin_path, folder, rng):
    """Files of other writers, of every layout, with their own rows once more."""
    paths = sorted((ROOT / "tests/golden").rglob("*.ald"))
    for path in [p for p in paths if "trueno" in p.name] + rng.sample(paths, 60):
        done = subprocess.run([bin_path, "cat", "--json", "--allow-untrusted", "--ignore-expiry", str(path)],
                              capture_output=True, timeout=60)
        if done.returncode != 0:
            continue   # it needs a secret
        target = folder / "append.ald"
        target.write_bytes(path.read_bytes())
        run(bin_path, folder, "append", "append.ald", str(path), "--allow-untrusted", "--ignore-expiry", "--drop-signature", "-q")
        run(bin_path, folder, "verify", "append.ald", "--ignore-expiry")
        got = run(bin_path, folder, "cat", "--json", "append.ald", "--ignore-expiry")
        yield f"append to {path.name}", None if got.encode() == 2 * done.stdout else "other rows"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=lambda p: str(Path(p).resolve()))
    args = parser.parse_args()
    rng = random.Random(20)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        for check in (check_samples, check_splits, check_manifests, check_appends):
            for title, problem in check(args.bin, Path(name), rng):
                passed += problem is None
                failed += problem is not None
                if problem is not None:
                    print(f"FAIL {title}: {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
