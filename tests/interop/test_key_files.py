#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Key files against OpenSSL's command and Python's cryptography, both ways; signatures are made and verified with them.

    test_key_files.py --bin PATH

Exit status 77: neither of the two is there. The last line is `N passed, N failed`.
"""
import argparse
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from cryptography.hazmat.primitives import serialization as ser
    from cryptography.hazmat.primitives.asymmetric import ed25519, x25519
except ImportError:
    ser = None

OPENSSL = shutil.which("openssl")
PASSPHRASE = "pass phräse"


class Failed(Exception):
    """What differs."""


def check(condition, what):
    if not condition:
        raise Failed(what)


class Place:
    """A folder and the command."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        (folder / "pass").write_text(PASSPHRASE + "\n")

    def run(self, *args, ok=True):
        env = {k: v for k, v in os.environ.items() if k != "ALIMENTAR_KEY_PASSPHRASE"}
        result = subprocess.run([self.binary, *args], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=60)
        check((result.returncode == 0) == ok, f"{args}: exit {result.returncode}: {result.stderr.decode()}")
        return result.stdout.decode()

    def keygen(self, name, encrypted):
        how = ["--key-passphrase-file", "pass"] if encrypted else ["--no-passphrase"]
        self.run("keygen", "-q", "-o", name, *how)

    def show(self, name):
        text = self.run("key", "show", "--json", name, "--key-passphrase-file", "pass")
        return {key["use"]: key for key in json.loads(text)}

    def openssl(self, *args, ok=True):
        result = subprocess.run([OPENSSL, *args], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        check((result.returncode == 0) == ok, f"openssl {args}: {result.stderr.decode()}")
        return result.stdout


def blocks(path):
    text = path.read_bytes()
    return [b"-----BEGIN" + part for part in text.split(b"-----BEGIN")[1:]]


def raw_public(key):
    return key.public_bytes(ser.Encoding.Raw, ser.PublicFormat.Raw).hex()


def test_python_reads_ours(place):
    for encrypted in (False, True):
        name = f"ours{encrypted}"
        place.keygen(name, encrypted)
        shown = place.show(name + ".pub")
        check(stat.S_IMODE((place.folder / name).stat().st_mode) == 0o600, "mode")
        password = PASSPHRASE.encode() if encrypted else None
        sign, receive = [ser.load_pem_private_key(b, password) for b in blocks(place.folder / name)]
        check(isinstance(sign, ed25519.Ed25519PrivateKey) and isinstance(receive, x25519.X25519PrivateKey), "kinds")
        check(raw_public(sign.public_key()) == shown["sign"]["public_key"], "public key of sign")
        check(raw_public(receive.public_key()) == shown["receive"]["public_key"], "public key of receive")
        publics = [ser.load_pem_public_key(b) for b in blocks(place.folder / f"{name}.pub")]
        check([raw_public(p) for p in publics] == [shown[u]["public_key"] for u in ("sign", "receive")], "public file")
        publics[0].verify(sign.sign(b"text"), b"text")


def test_we_read_python(place):
    for key in (ed25519.Ed25519PrivateKey.generate(), x25519.X25519PrivateKey.generate()):
        for number, how in enumerate((ser.NoEncryption(), ser.BestAvailableEncryption(PASSPHRASE.encode()))):
            (place.folder / "py").write_bytes(key.private_bytes(ser.Encoding.PEM, ser.PrivateFormat.PKCS8, how))
            (shown,) = place.show("py").values()
            check(shown["public_key"] == raw_public(key.public_key()) and shown["private"], f"private {number}")
        (place.folder / "py.pub").write_bytes(
            key.public_key().public_bytes(ser.Encoding.PEM, ser.PublicFormat.SubjectPublicKeyInfo))
        (shown,) = place.show("py.pub").values()
        check(shown["public_key"] == raw_public(key.public_key()) and not shown["private"], "public")


def test_openssl_reads_ours(place):
    place.keygen("o", True)
    shown = place.show("o.pub")
    der = place.openssl("pkey", "-in", "o", "-passin", "pass:" + PASSPHRASE, "-pubout", "-outform", "DER")
    check(der[-32:].hex() == shown["sign"]["public_key"], "public key")
    der = place.openssl("pkey", "-pubin", "-in", "o.pub", "-outform", "DER")
    check(der[-32:].hex() == shown["sign"]["public_key"], "public file")
    (place.folder / "message").write_bytes(b"x" * 5000)
    place.openssl("pkeyutl", "-sign", "-rawin", "-inkey", "o", "-passin", "pass:" + PASSPHRASE, "-in", "message", "-out", "sig")
    place.openssl("pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "o.pub", "-in", "message", "-sigfile", "sig")
    place.openssl("pkey", "-in", "o", "-passin", "pass:wrong", "-noout", ok=False)


def test_we_read_openssl(place):
    schemes = [[], ["-scrypt"], ["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA256"], ["-v2", "aes-128-cbc", "-iter", "10000"]]
    for algorithm, use in (("ED25519", "sign"), ("X25519", "receive")):
        place.openssl("genpkey", "-algorithm", algorithm, "-out", "gen")
        public = place.openssl("pkey", "-in", "gen", "-pubout", "-outform", "DER")[-32:].hex()
        check(place.show("gen")[use]["public_key"] == public, "plain")
        for scheme in schemes:
            place.openssl("pkcs8", "-topk8", "-in", "gen", "-out", "p8", "-passout", "pass:" + PASSPHRASE, *scheme)
            check(place.show("p8")[use]["public_key"] == public, f"{scheme}")
    place.openssl("genpkey", "-algorithm", "ED448", "-out", "foreign")
    place.run("key", "show", "foreign", ok=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    binary = str(Path(parser.parse_args().bin).resolve())
    tests = [test_python_reads_ours, test_we_read_python] if ser else []
    tests += [test_openssl_reads_ours, test_we_read_openssl] if OPENSSL else []
    if not tests:
        return 77
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Place(binary, Path(folder)))
            except Exception as problem:  # a broken key raises anything
                failed += 1
                print(f"FAILED {test.__name__}: {type(problem).__name__}: {problem}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
