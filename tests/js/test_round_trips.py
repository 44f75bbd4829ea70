#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files saved by the command and loaded in WebAssembly, and the reverse: every combination of compression, layout, encryption,
license and signature that the format allows, in Node.js, Chromium and workerd. What one side refuses to write, the other must
refuse, too.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

import engines
import js_env

PASSWORD = "correct horse"
BASES = [(c, layout, False) for c in ("none", "zstd-l3", "zstd-l19", "lz4", "packed", "packed-lz4")
         for layout in ("whole", "streaming")]
BASES += [("none", layout, True) for layout in ("whole", "streaming")]
ENCRYPTIONS = ("", "password", "one", "several")
LICENSEE = "Anna Muster"
BUYER = "ACME Inc."


def make_table():
    n = 3000
    words = [None if i % 11 == 0 else f"word {i % 97} é" for i in range(n)]
    return pa.table({
        "id": pa.array(range(n), pa.int64()),
        "x": pa.array([None if i % 7 == 0 else i / 3 for i in range(n)], pa.float64()),
        "flag": pa.array([None if i % 13 == 0 else i % 2 == 0 for i in range(n)]),
        "word": pa.array(words),
        "kind": pa.array([f"k{i % 5}" for i in range(n)]).dictionary_encode(),
        "when": pa.array([i * 1_000_003 for i in range(n)], pa.timestamp("us", "UTC")),
        "list": pa.array([None if i % 17 == 0 else list(range(i % 4)) for i in range(n)], pa.list_(pa.int32())),
        "pair": pa.array([{"a": i % 100, "b": str(i)} for i in range(n)]),
    })


class Trip:
    """One combination, and how each side says it."""

    def __init__(self, folder, base, encryption, is_licensed, is_signed):
        self.folder, self.base = folder, base
        self.encryption, self.is_licensed, self.is_signed = encryption, is_licensed, is_signed
        compression, layout, aligned = base
        parts = [compression, layout, "aligned" if aligned else "", encryption, "licensed" if is_licensed else "",
                 "signed" if is_signed else ""]
        self.name = "-".join(p for p in parts if p)

    def key(self, name):
        return str(self.folder / name)

    def recipients(self):
        return ["anna.pub"] if self.encryption == "one" else ["anna.pub", "bert.pub"]

    # ---- the command

    def steps(self):
        """Subcommands after convert, with their options."""
        if self.is_licensed:
            yield ["license"], ["--licensee", LICENSEE, "--expires", "2099-01-01"]
        if self.encryption == "password":
            yield ["encrypt"], ["--passphrase-file", self.key("password")]
        elif self.encryption:
            yield ["encrypt"], [x for r in self.recipients() for x in ("--recipient", self.key(r))]
        if self.is_signed:
            yield ["sign"], ["--key", self.key("signer.key")]

    def reading(self):
        out = []
        if self.is_signed:
            out += ["--trusted-keys", self.key("signer.pub")]
        if self.encryption == "password":
            out += ["--passphrase-file", self.key("password")]
        elif self.encryption:
            out += ["--private-key", self.key("anna.key")]
        return out

    # ---- the package

    def encrypt_options(self):
        if self.encryption == "password":
            return {"password": PASSWORD}
        keys = [Path(self.key(r)).read_text() for r in self.recipients()]
        return {"recipients": keys[0] if self.encryption == "one" else keys}

    def protection(self):
        out = {}
        if self.is_licensed:
            out["license"] = {"licensee": LICENSEE, "expiresAt": 4_070_908_800, "expirationEnforced": True}
        if self.encryption:
            out["encrypt"] = self.encrypt_options()
        if self.is_signed:
            out["sign"] = Path(self.key("signer.key")).read_text()
        return out

    def save_options(self):
        compression, layout, aligned = self.base
        out = {"compression": compression, "layout": layout, "aligned": aligned, **self.protection()}
        return {**out, "chunkRows": 1000} if layout == "streaming" else out

    def load_options(self):
        out = {}
        if self.is_signed:
            out["trustedKeys"] = Path(self.key("signer.pub")).read_text()
        if self.encryption == "password":
            out["password"] = PASSWORD
        elif self.encryption:
            out["privateKeys"] = Path(self.key("anna.key")).read_text()
        return out


class Runner:
    def __init__(self, binary, folder):
        self.binary = os.path.abspath(binary)
        home = folder / "home"
        home.mkdir()
        self.env = dict(os.environ, HOME=str(home), ALIMENTAR_HOME=str(home), NO_COLOR="1")

    def run(self, *args):
        """-> (exit status, what was printed)"""
        result = subprocess.run([self.binary, *map(str, args)], env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=120)
        return result.returncode, result.stdout if result.returncode in (0, 1) and result.stdout else result.stderr.strip()

    def native(self, *args):
        """-> the failure's text, or empty"""
        code, text = self.run(*args)
        return "" if code == 0 else text or f"exit status {code}"


def native_files(runner, trips, source):
    """Writes each combination with the command, sharing what they have in common."""
    made = {}
    for trip in trips:
        compression, layout, aligned = trip.base
        options = ["--compression", compression]
        options += ["--streaming", "--chunk-rows", "1000"] if layout == "streaming" else ["--no-streaming"]
        options = ["--aligned", *options[2:]] if aligned else options
        path, failure = source, ""
        for command, args in [(["convert"], options), *trip.steps()]:
            key = (str(path), *command, *args)
            if key not in made:
                target = trip.folder / f"native-{len(made)}.ald"
                made[key] = target, runner.native(*command, "-q", path, "-o", target, *args)
            path, failure = made[key]
            if failure:
                break
        trip.native_path, trip.native_failure = path, failure


def marked_files(runner, trips):
    """Marks the files that are licensed and signed, and keeps the rest of what protects them."""
    for trip in trips:
        if trip.native_failure or not (trip.is_licensed and trip.is_signed):
            continue
        trip.marked_path = trip.folder / f"marked-{trip.name}.ald"
        args = ["--buyer", BUYER, "--seller-key", trip.key("signer.key"), "--no-registry", "--key", trip.key("signer.key")]
        if trip.encryption == "password":
            args += ["--password"]
        elif trip.encryption:
            args += [x for r in trip.recipients() for x in ("--recipient", trip.key(r))]
        args += ["--compression", trip.base[0]] if not trip.base[2] else ["--aligned"]
        args += ["--streaming", "--chunk-rows", "1000"] if trip.base[1] == "streaming" else ["--no-streaming"]
        code, text = runner.run("watermark", trip.native_path, trip.marked_path, "--json", *args, *trip.reading())
        trip.marked_failure = "" if code == 0 else text
        trip.buyer_hash = json.loads(text)["buyer_hash"] if code == 0 else None


def same_table(path, want):
    with pa.ipc.open_stream(path) as reader:
        table = reader.read_all()
    table.validate(full=True)
    return table.schema.equals(want.schema) and table.combine_chunks().equals(want.combine_chunks())


class Check:
    """One engine against the command."""

    def __init__(self, name, engine, runner, trips, want, source):
        self.name, self.engine, self.runner = name, engine, runner
        self.trips, self.want, self.source = trips, want, source
        self.problems, self.passed = [], 0

    def judge(self, trip, what, failure, path):
        if failure:
            self.problems.append(f"{self.name}: {trip.name}: {what}: {failure}")
        elif not same_table(path, self.want):
            self.problems.append(f"{self.name}: {trip.name}: {what}: other values")
        else:
            self.passed += 1

    def path(self, trip, kind):
        return trip.folder / f"{self.name}-{trip.name}{kind}"

    def save(self):
        """-> the combinations that both sides write"""
        tasks = [{"action": "save", "input": str(self.source), "out": str(self.path(trip, ".ald")), "options": trip.save_options()}
                 for trip in self.trips]
        both = []
        for trip, failure in zip(self.trips, self.engine(tasks)):
            if bool(failure) != bool(trip.native_failure):
                self.problems.append(f"{self.name}: {trip.name}: saving: the package says '{failure}', the command "
                                     f"'{trip.native_failure}'")
            elif not failure:
                both.append(trip)
        return both

    def load(self, trips, opening):
        tasks = [{"action": "load", "input": str(trip.native_path), "out": str(self.path(trip, f".{opening}")),
                  "options": trip.load_options(), "opening": opening} for trip in trips]
        for trip, failure in zip(trips, self.engine(tasks)):
            self.judge(trip, f"command to package ({opening})", failure, self.path(trip, f".{opening}"))

    def read_back(self, trips, kind, what):
        for trip in trips:
            out = self.path(trip, f"{kind}.arrows")
            failure = self.runner.native("convert", "-q", self.path(trip, f"{kind}.ald"), out, *trip.reading())
            self.judge(trip, what, failure, out)

    def steps(self, trips):
        """license, encrypt, sign, one after the other, on a file of the command's."""
        stepped = [trip for trip in trips if trip.protection() and trip.base[0] in ("zstd-l3", "none")]
        tasks = []
        for trip in stepped:
            plain = next(t for t in trips if t.base == trip.base and not t.protection())
            tasks.append({"action": "steps", "input": str(plain.native_path), "out": str(self.path(trip, "-steps.ald")),
                          **trip.protection()})
        done = []
        for trip, failure in zip(stepped, self.engine(tasks)):
            if failure:
                self.problems.append(f"{self.name}: {trip.name}: changing step by step: {failure}")
            else:
                done.append(trip)
        self.read_back(done, "-steps", "changed step by step in the package, read by the command")

    def web_crypto(self, trips):
        """The platform's AES-GCM: the same results, and it was called for each piece that is large enough."""
        chosen = [trip for trip in trips if trip.encryption and trip.base[0] == "none" and not trip.base[2]]
        tasks = [{"action": "webCrypto", "input": str(trip.native_path), "options": trip.load_options(),
                  "pieces": 3 if trip.base[1] == "streaming" else 1} for trip in chosen]
        for trip, failure in zip(chosen, self.engine(tasks)):
            if failure:
                self.problems.append(f"{self.name}: {trip.name}: WebCrypto: {failure}")
            else:
                self.passed += 1

    def locked_key(self, locked):
        """A key of the command's under a passphrase opens what is for it."""
        path, options = locked
        out = path.with_suffix(f".{self.name}.arrows")
        [failure] = self.engine([{"action": "load", "opening": "load", "input": str(path), "out": str(out), "options": options}])
        if failure or not same_table(out, self.want):
            self.problems.append(f"{self.name}: a key under a passphrase: {failure or 'other values'}")
        else:
            self.passed += 1

    def marked(self, trips):
        """Copies for a buyer, marked on one side and looked at on the other."""
        tasks = []
        for trip in trips:
            seller = Path(trip.key("signer.key")).read_text()
            tasks.append({"action": "extract", "input": str(trip.marked_path), "options": trip.load_options(), "seller": seller,
                          "buyer": BUYER})
            tasks.append({"action": "watermark", "input": str(trip.native_path), "inputOptions": trip.load_options(),
                          "out": str(self.path(trip, "-marked.ald")),
                          "options": {**trip.save_options(), "sellerKey": seller, "buyer": BUYER}})
        results = self.engine(tasks)
        for i, trip in enumerate(trips):
            failures = [each for each in (trip.marked_failure, *results[2 * i:2 * i + 2]) if each]
            if not failures:  # the reverse; 1: a mark was found
                code, out = self.runner.run("piracy", "extract", self.path(trip, "-marked.ald"), "--json", "--seller-key",
                                            trip.key("signer.key"), *trip.reading())
                failures = [] if code == 1 and json.loads(out)["buyer_hash"] == trip.buyer_hash else [out]
            if failures:
                self.problems.append(f"{self.name}: {trip.name}: watermarked: {failures}")
            else:
                self.passed += 1

    def run(self, locked):
        self.locked_key(locked)
        both = self.save()
        self.web_crypto(both)
        self.marked([trip for trip in both if trip.is_licensed and trip.is_signed])
        self.load(both, "load")
        if self.name == "node":
            self.load(both, "open")
            self.steps(both)
        self.read_back(both, "", "package to command")
        print(f"note: {self.name}: {len(self.trips) - len(both)} combinations are refused by both sides")
        return self


def locked_file(runner, folder, source):
    """-> (a file for a key that the command made under a passphrase, the options that open it)"""
    (folder / "passphrase").write_text(PASSWORD)
    key, plain, path = folder / "locked.key", folder / "for-locked.ald", folder / "locked.ald"
    for args in (["keygen", "-o", key, "--key-passphrase-file", folder / "passphrase"],
                 ["convert", "-q", source, plain, "--no-streaming"],
                 ["encrypt", "-q", plain, "-o", path, "--recipient", f"{key}.pub"]):
        failure = runner.native(*args)
        if failure:
            sys.exit(failure)
    return path, {"privateKeys": key.read_text(), "keyPassphrase": PASSWORD}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    binary = parser.parse_args().bin
    absent = engines.missing()
    if absent:
        print(f"skipped: {', '.join(absent)}: tools/setup test installs it")
        sys.exit(js_env.SKIP)
    package = js_env.make_package()
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        runner, places = Runner(binary, folder), engines.Engines(package, folder)
        failure = places.node([{"action": "keys", "out": tmp}])[0]
        if failure:
            sys.exit(failure)
        (folder / "password").write_text(PASSWORD)
        want, source = make_table(), folder / "table.arrows"
        with pa.ipc.new_stream(source, want.schema) as writer:
            writer.write_table(want)
        trips = [Trip(folder, *each) for each in itertools.product(BASES, ENCRYPTIONS, (False, True), (False, True))]
        native_files(runner, trips, source)
        marked_files(runner, trips)
        locked = locked_file(runner, folder, source)
        checks = [Check(name, engine, runner, trips, want, source).run(locked) for name, engine in
                  (("node", places.node), ("chromium", places.chromium), ("workerd", places.workerd))]
        places.close()
    for problem in (problem for check in checks for problem in check.problems):
        print(f"FAIL {problem}")
    js_env.finish(sum(check.passed for check in checks), sum(len(check.problems) for check in checks))


if __name__ == "__main__":
    main()
