# SPDX-License-Identifier: MIT
"""The tables of the comparison, made from a fixed seed: about as many bytes in memory as asked for."""
import numpy as np
import pyarrow as pa

SAMPLE_ROWS = 20000


def money(random, rows):
    return np.round(2.5 + random.exponential(8, rows), 2)


def taxi(rows):
    """Like the trips of a city's taxis: small integers, times, amounts, a flag."""
    random = np.random.default_rng(42)
    start = np.datetime64("2023-01-01", "us").astype(np.int64)
    pickup = start + np.arange(rows) * 900_000 + random.integers(0, 600, rows) * 1_000_000
    zones = 1 + (265 * random.random((2, rows)) * random.random((2, rows))).astype(np.int64)
    few = [np.where(random.random(rows) < 0.7, 1, random.integers(1, 6, rows)) for _ in range(4)]
    fixed = [np.where(random.random(rows) < 0.8, 0.5, random.integers(0, 4, rows) * 0.5) for _ in range(4)]
    flags = np.where(random.random(rows) < 0.99, "N", "Y")
    moments = [pa.array(v.astype("datetime64[us]")) for v in (pickup, pickup + random.integers(60, 3600, rows) * 1_000_000)]
    return pa.table({
        "vendor_id": few[0], "pickup": moments[0], "dropoff": moments[1], "passengers": few[1],
        "distance": money(random, rows), "ratecode": few[2], "store_flag": pa.array(flags, pa.string()),
        "pickup_zone": zones[0], "dropoff_zone": zones[1], "payment": few[3], "fare": money(random, rows),
        "extra": fixed[0], "mta_tax": fixed[1], "tip": money(random, rows), "tolls": fixed[2], "improvement": fixed[3],
        "total": money(random, rows)})


WORDS = "the data set of river model light train with values under noise green batch été größe naïve".split()


def strings(rows):
    """Titles, sentences and addresses; a fifth of the texts are not ASCII."""
    random = np.random.default_rng(43)
    choice = random.integers(0, len(WORDS), (rows, 16))
    lengths = random.integers(4, 16, rows)
    sentences = [" ".join(WORDS[w] for w in row[:n]) for row, n in zip(choice.tolist(), lengths.tolist())]
    urls = [f"https://example.org/{WORDS[row[0]]}/{row[1]:02d}/{i % 9973}" for i, row in enumerate(choice.tolist())]
    return pa.table({
        "id": np.arange(rows), "title": [s[:24].strip() for s in sentences], "text": sentences, "url": urls,
        "label": np.where(random.random(rows) < 0.3, "positive", "negative")})


def noise(rows):
    """What no compressor makes smaller."""
    random = np.random.default_rng(44)
    return pa.table({name: random.random(rows) * 10.0 ** random.integers(-9, 9, rows) for name in "abcdefgh"})


def numeric(rows):
    """Counters, codes and measurements: integers and fractions of few digits, one column of doubles in full."""
    random = np.random.default_rng(45)
    return pa.table({
        "id": np.arange(rows), "code": random.integers(0, 1000, rows), "balance": random.integers(-10**6, 10**6, rows),
        "key": random.integers(0, 2**40, rows), "x": np.round(random.normal(0, 100, rows), 3),
        "share": np.round(random.random(rows), 6), "price": np.round(random.exponential(50, rows), 2),
        "z": random.normal(0, 1, rows)})


KINDS = {"taxi": taxi, "strings": strings, "noise": noise, "numeric": numeric}


def make(kind, megabytes):
    sample = KINDS[kind](SAMPLE_ROWS)
    return KINDS[kind](max(1, round(megabytes * 1e6 / (sample.nbytes / SAMPLE_ROWS)))).combine_chunks()
