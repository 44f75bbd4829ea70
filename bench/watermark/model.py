#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether marked data are as good to learn from: the changes of every column, and scikit-learn models trained on both copies.

    bench/watermark/model.py --bin PATH [--strengths 0.0001,0.0005,0.001] [--seeds N] [--json FILE]

Needs numpy, pyarrow and scikit-learn. Data sets: breast_cancer (which tumours are malignant) and diabetes (how far the illness
goes), as scikit-learn has them, and 5,000 rows made by its friedman1, which have doubles in full. A model is trained on the
same half of the rows of both copies and tested on the other half, unmarked: as many times as there are seeds, each with another
half. The verdict compares the mean difference with what chance makes of it: the differences that another choice of the half
makes between two models of the unmarked data.

Fails when a mean or a deviation moves by more than 0.01 %, when a value changes by more than the strength (decimals: or one unit
of the last digit, at most 1/1024), or when a model is worse by more than chance.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, make_friedman1
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parent))
from survival import Tool, read_arrow, write_arrow  # noqa: E402

DECIMAL_MOST = 2.0 ** -10


def boosted(kind):
    model = GradientBoostingClassifier if kind == "classes" else GradientBoostingRegressor
    return model(n_estimators=60, max_depth=3, random_state=0)


def linear(kind):
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000) if kind == "classes" else Ridge())


def data_sets():
    for name, (x, y), kind in (("breast_cancer", load_breast_cancer(return_X_y=True), "classes"),
                               ("diabetes", load_diabetes(return_X_y=True), "numbers"),
                               ("friedman1", make_friedman1(5000, random_state=1), "numbers")):
        yield name, np.asarray(x, float), y, kind


def marked_copy(tool, x, strength):
    """-> the copy, and what the command reports of each column"""
    clean, marked = tool.folder / "clean.arrow", tool.folder / "marked.arrow"
    write_arrow(clean, {f"c{i}": x[:, i] for i in range(x.shape[1])})
    report = json.loads(tool.run("watermark", clean, marked, "--buyer", "ACME", "--seller-key", tool.folder / "seller", "--strength",
                                 strength, "--no-registry", "--json", "--force", "-q"))
    table = read_arrow(marked)
    return np.stack([table[f"c{i}"] for i in range(x.shape[1])], axis=1), report["columns"]


def check_columns(x, y, report, strength):
    """-> the largest shift of mean and deviation, the largest change over its bound, marked columns"""
    worst_mean = worst_std = worst_value = 0
    count = 0
    for i, column in enumerate(report):
        a, b = x[:, i], y[:, i]
        std = a.std()
        if np.array_equal(a, b):
            continue
        count += 1
        bound = strength if column["mode"] in ("doubles", "floats") else max(strength, DECIMAL_MOST)
        nonzero = a != 0
        worst_mean = max(worst_mean, abs(b.mean() - a.mean()) / max(abs(a.mean()), std))
        worst_std = max(worst_std, abs(b.std() - std) / std)
        worst_value = max(worst_value, float(np.abs(b[nonzero] / a[nonzero] - 1).max()) / bound)
    return worst_mean, worst_std, worst_value, count


def scores(x, copy, y, kind, make, seeds):
    """Of the model of the data and of that of the copy, for every half."""
    plain, of_copy = [], []
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = order[: len(y) // 2], order[len(y) // 2:]
        plain.append(make(kind).fit(x[train], y[train]).score(x[test], y[test]))
        of_copy.append(make(kind).fit(copy[train], y[train]).score(x[test], y[test]))
    return np.array(plain), np.array(of_copy)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--strengths", default="0.0001,0.0005,0.001")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--json")
    args = parser.parse_args()
    results, broken = {}, []
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(args.bin, Path(folder))
        tool.run("keygen", "-q", "-o", tool.folder / "seller", "--no-passphrase")
        for name, x, y, kind in data_sets():
            for strength in args.strengths.split(","):
                copy, report = marked_copy(tool, x, strength)
                mean, std, value, count = check_columns(x, copy, report, float(strength))
                what = f"{name} {strength}"
                print(f"{what}: {count} of {x.shape[1]} columns marked; mean moves by {mean:.1e} at most, deviation by {std:.1e}, "
                      f"a value by {value:.2f} of the bound")
                if mean > 1e-4 or std > 1e-4 or value > 1.000001 or count == 0:
                    broken.append(f"{what}: changes")
                results[what] = {"mean": mean, "deviation": std, "value": value, "columns": count}
                for label, make in (("boosted trees", boosted), ("linear model", linear)):
                    a, b = scores(x, copy, y, kind, make, args.seeds)
                    noise = a.std(ddof=1)
                    print(f"    {label}: score {a.mean():.5f}, of the copy {b.mean():.5f}: {b.mean() - a.mean():+.5f}, "
                          f"where another half of the rows makes {noise:.5f}", flush=True)
                    results[what][label] = [float(a.mean()), float(b.mean()), float(noise)]
                    if a.mean() - b.mean() > 2 * noise / np.sqrt(args.seeds):
                        broken.append(f"{what}: {label}")
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=2) + "\n")
    print("\n".join(broken) or "all within bounds, models as good as before")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
