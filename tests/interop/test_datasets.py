#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Samples, splits and manifests against docs/DATASETS.md, whose Python is run as it stands there.

    test_datasets.py --bin PATH

samples    which rows `sample` takes, with and without classes
splits     which rows go to which part
manifests  sizes, rows and BLAKE3 hashes; what is signed (docs/FORMAT.md, section 32)
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
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
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


def signed_bytes(manifest):
    """F-493"""
    def number(n):
        return n.to_bytes(8, "little")

    def text(t):
        return number(len(t.encode())) + t.encode()
    out = b"ald-v1-manifest\0" + text(manifest["format"]) + number(len(manifest["files"]))
    for f in manifest["files"]:
        out += text(f["name"]) + number(f["num_rows"]) + number(f["file_size"]) + bytes.fromhex(f["blake3"])
    return out


def swap_rows(m):
    """Their sum stays."""
    m["files"][0]["num_rows"] -= 1
    m["files"][1]["num_rows"] += 1


def cut_last(m):
    m["num_rows"] -= m["files"].pop()["num_rows"]


LIES = {
    "one file less": cut_last,
    "another order": lambda m: m["files"].reverse(),
    "another name": lambda m: m["files"][0].update(name="ü-copy.ald"),
    "other rows": swap_rows,
    "another size": lambda m: m["files"][0].update(file_size=1),
    "another hash": lambda m: m["files"][0].update(blake3=32 * "ab"),
    "another signature": lambda m: m.update(signature=m["signature"][2:] + m["signature"][:2]),
    "another signer": lambda m: m.update(signer=m["signer"][2:] + m["signer"][:2]),
}


def check_signatures(bin_path, folder, rng):
    rows = rng.randint(20, 900)
    table(rng, folder, rows)
    run(bin_path, folder, "keygen", "-o", "k", "--no-passphrase", "-q")
    run(bin_path, folder, "convert", "t.csv", "ü-{shard}.ald", "--rows-per-shard", str(rows // 3), "--key", "k", "-q")
    text = (folder / "ü-manifest.json").read_text()
    (folder / "ü-copy.ald").write_bytes((folder / "ü-0.ald").read_bytes())
    manifest = json.loads(text)
    problem = None
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(manifest["signer"])).verify(
            bytes.fromhex(manifest["signature"]), signed_bytes(manifest))
    except InvalidSignature:
        problem = "the signature is not over F-493's bytes"
    yield "signature of a manifest", problem
    for what, lie in {"nothing": lambda m: None, **LIES}.items():
        lying = json.loads(text)
        lie(lying)
        (folder / "lie.json").write_text(json.dumps(lying))
        for verb in ("cat", "verify"):
            done = subprocess.run([bin_path, verb, "lie.json", "--allow-untrusted", "-q"], cwd=folder, capture_output=True, text=True)
            fine = done.returncode == 0 if what == "nothing" else done.returncode == 1 and "SignatureInvalid" in done.stderr and (
                verb == "verify" or done.stdout == "")
            yield f"{verb} of a manifest with {what}", None if fine else f"exit {done.returncode}, {done.stderr}"


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
        for check in (check_samples, check_splits, check_manifests, check_signatures, check_appends):
            for title, problem in check(args.bin, Path(name), rng):
                passed += problem is None
                failed += problem is not None
                if problem is not None:
                    print(f"FAIL {title}: {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
