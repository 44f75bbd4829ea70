#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Marks made and read in WebAssembly against the command's: the same bits, the same findings (tests/js/watermark.mjs)."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import js_env

CASES = {"usual": [], "named": ["--dataset-id", "weather 2026"],
         "strong": ["--strength", "0.002", "--hidden", "--columns", "price,temp"]}
ROWS = 6000
SELLER = ("--seller-key", "seller.key", "--key-passphrase-file", "passphrase")


class Command:
    def __init__(self, binary, folder):
        self.binary, self.folder = os.path.abspath(binary), folder
        self.env = dict(os.environ, HOME=str(folder), ALIMENTAR_HOME=str(folder / "home"), NO_COLOR="1")

    def run(self, *args, answers=(0,)):
        result = subprocess.run([self.binary, *map(str, args)], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=120)
        if result.returncode not in answers:
            sys.exit(f"{args}: {result.stderr}")
        return result.stdout


def write_rows(path):
    chance = random.Random(7)
    with open(path, "w", encoding="utf-8") as out:
        out.write("id,temp,price,word,seen\n")
        for i in range(ROWS):
            price = "" if i % 97 == 0 else f"{chance.lognormvariate(3, 1):.2f}"
            temp, seen = chance.gauss(15, 8), f"2024-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}T12:00:00"
            out.write(f"{i},{temp!r},{price},w{i % 7},{seen}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    binary = parser.parse_args().bin
    node, package = js_env.find_node(), js_env.make_package()
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        command = Command(binary, folder)
        write_rows(folder / "rows.csv")
        (folder / "passphrase").write_text("wem gehört es")
        command.run("keygen", "-o", "seller.key", "--key-passphrase-file", "passphrase")
        (folder / "card.json").write_text('{"title": "Weather"}')
        command.run("convert", "-q", "rows.csv", "plain.ald", "--metadata", "card.json")
        for name, options in CASES.items():
            said = command.run("watermark", "plain.ald", f"{name}.ald", "--buyer", "ACME Inc.", *SELLER,
                               "--registry", "buyers.jsonl", "--json", *options)
            (folder / f"{name}.json").write_text(said)
            found = command.run("piracy", "extract", f"{name}.ald", *SELLER, "--buyers", "buyers.jsonl",
                                "--json", *options[:2 if name == "named" else 0], answers=(1,))
            (folder / f"{name}-found.json").write_text(found)
        for name in ("plain", "usual"):
            command.run("piracy", "entropy", f"{name}.ald", "--output", f"{name}-entropy.json")
        result = subprocess.run([node, "--no-warnings", str(js_env.ROOT / "tests/js/watermark.mjs"), str(package), tmp],
                                stdout=subprocess.PIPE, text=True, timeout=600)
        lines = result.stdout.splitlines() or ["0 passed, 1 failed"]
        print("\n".join(lines[:-1]))
        passed, failed = (int(word) for word in lines[-1].replace(",", "").split()[::2])
        for name, options in CASES.items():  # the reverse: marked there, read here
            path = folder / f"{name}-js.ald"
            found = json.loads(command.run("piracy", "extract", path, *SELLER, "--json",
                                           *options[:2 if name == "named" else 0], answers=(1,))) if path.exists() else {}
            is_right = found.get("buyer_hash") == json.loads((folder / f"{name}.json").read_text())["buyer_hash"]
            passed, failed = passed + is_right, failed + (not is_right)
            if not is_right:
                print(f"FAIL {name}: a mark made in JavaScript, read by the command: {found}")
    js_env.finish(passed, failed + (result.returncode != 0 and not failed))


if __name__ == "__main__":
    main()
