#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Passphrases that are typed: on a terminal of their own, which must not show them and must be as before afterwards.

    test_prompt.py --bin PATH

The last line is `N passed, N failed`.
"""
import argparse
import os
import pty
import resource
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

SECRET = "a typed secret"
DEADLINE = 60


class Failed(Exception):
    """What differs."""


def check(condition, what):
    if not condition:
        raise Failed(what)


class Session:
    """The command with a controlling terminal."""

    def __init__(self, binary, folder, *args):
        self.output = b""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.pop("ALIMENTAR_KEY_PASSPHRASE", None)
            os.environ.pop("ALIMENTAR_PASSPHRASE", None)
            os.environ["ALIMENTAR_HOME"] = os.path.join(folder, "home")
            os.execv(binary, [binary, *args])

    def read_until(self, text):
        end = time.monotonic() + DEADLINE
        start = len(self.output)
        while text.encode() not in self.output[start:]:
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            check(ready, f"{text!r} did not come, but {self.output!r}")
            try:
                part = os.read(self.master, 4096)
            except OSError:
                part = b""
            check(part, f"{text!r} did not come, but {self.output!r}")
            self.output += part

    def echoes(self):
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def type(self, line):
        end = time.monotonic() + DEADLINE
        while self.echoes() and time.monotonic() < end:
            time.sleep(0.01)
        check(not self.echoes(), "the terminal echoes")
        os.write(self.master, line.encode() + b"\n")

    def finish(self):
        """-> exit status, or minus the signal"""
        while True:
            try:
                part = os.read(self.master, 4096)
            except OSError:
                break
            if not part:
                break
            self.output += part
        _, status = os.waitpid(self.pid, 0)
        os.close(self.master)
        return os.waitstatus_to_exitcode(status)


def make(binary, folder, first, second):
    session = Session(binary, folder, "keygen", "-o", "my.key", "--only", "sign")
    session.read_until("New passphrase of the key (my.key): ")
    session.type(first)
    session.read_until("The same again: ")
    session.type(second)
    return session


def test_keygen(binary, folder):
    session = make(binary, folder, SECRET, SECRET)
    check(session.finish() == 0, f"keygen: {session.output!r}")
    check(SECRET.encode() not in session.output, "the secret was shown")
    session = Session(binary, folder, "key", "show", "my.key")
    session.read_until("Passphrase of the key (my.key): ")
    session.type(SECRET)
    check(session.finish() == 0, f"key show: {session.output!r}")
    check(b"sign     ed25519, private key" in session.output, f"{session.output!r}")
    check(SECRET.encode() not in session.output, "the secret was shown")


def test_asked_once(binary, folder):
    """One key that signs and receives: its passphrase is asked for once."""
    encrypted(binary, folder, "--passphrase-file", "p")
    run(binary, folder, "keygen", "-o", "my.key", "--key-passphrase-file", "p")
    session = Session(binary, folder, "query", "publish", "u.ald", "--key", "my.key")
    session.read_until("Passphrase of the key (my.key): ")
    session.type(SECRET)
    check(session.finish() == 0, f"{session.output!r}")
    check(session.output.count(b"Passphrase of the key") == 1, f"asked again: {session.output!r}")


def test_not_the_same(binary, folder):
    session = make(binary, folder, SECRET, SECRET + "x")
    check(session.finish() == 2, f"{session.output!r}")
    check(b"the two passphrases are not the same" in session.output, f"{session.output!r}")
    check(os.listdir(folder) == [], "a file was written")


def test_empty(binary, folder):
    session = make(binary, folder, "", "")
    check(session.finish() == 2 and b"the passphrase is empty" in session.output, f"{session.output!r}")
    check(os.listdir(folder) == [], "a file was written")


def test_too_long(binary, folder):
    session = Session(binary, folder, "keygen", "-o", "my.key")
    session.read_until(": ")
    session.type("x" * 1500)
    check(session.finish() == 2 and b"longer than 1024 bytes" in session.output, f"{session.output[-300:]!r}")


def test_interrupted(binary, folder):
    session = Session(binary, folder, "keygen", "-o", "my.key")
    session.read_until(": ")
    check(not session.echoes(), "the terminal echoes")
    os.write(session.master, b"\x03")
    deadline = time.monotonic() + DEADLINE
    while not session.echoes() and time.monotonic() < deadline:
        time.sleep(0.01)
    check(session.echoes(), "the terminal stays silent")
    check(session.finish() == -signal.SIGINT, "not ended by the signal")
    check(os.listdir(folder) == [], "a file was written")


def run(binary, folder, *args):
    """-> output of a command that asks nothing and succeeds"""
    result = subprocess.run([binary, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            stdin=subprocess.DEVNULL, env=dict(os.environ, ALIMENTAR_HOME=os.path.join(folder, "home")))
    check(result.returncode == 0, f"{args}: {result.stdout!r}")


def encrypted(binary, folder, *how):
    """e.ald, and p with its password"""
    (Path(folder) / "in.csv").write_text("a\n123\n")
    (Path(folder) / "p").write_text(SECRET + "\n")
    run(binary, folder, "convert", "in.csv", "u.ald")
    run(binary, folder, "encrypt", "u.ald", "e.ald", *how)


def test_asked_once_for_several(binary, folder):
    """Files of one password: it is asked for once."""
    encrypted(binary, folder, "--passphrase-file", "p")
    for name in ("f.ald", "g.ald"):
        (Path(folder) / name).write_bytes((Path(folder) / "e.ald").read_bytes())
    for command in (("cat", "--json"), ("verify",), ("cat", "--password", "--json"), ("stats",)):
        session = Session(binary, folder, *command, "e.ald", "f.ald", "g.ald")
        session.read_until("assword of the dataset (")
        session.type(SECRET)
        check(session.finish() == 0, f"{command}: {session.output!r}")
        check(session.output.count(b"assword of the dataset") == 1, f"asked again: {session.output!r}")


def test_password(binary, folder):
    encrypted(binary, folder, "--passphrase-file", "p")
    for args in (["cat", "e.ald"], ["cat", "e.ald", "--password"], ["convert", "e.ald", "-", "--to", "csv"],
                 ["verify", "e.ald"]):
        session = Session(binary, folder, *args)
        session.read_until("(e.ald), empty for none: " if args == ["verify", "e.ald"] else "assword of the dataset (e.ald): ")
        session.type(SECRET)
        check(session.finish() == 0, f"{args}: {session.output!r}")
        check(SECRET.encode() not in session.output, "the secret was shown")
        check(args[0] == "verify" or b"123" in session.output, f"{args}: {session.output!r}")


def test_no_password(binary, folder):
    """verify goes on without; what has to read the rows does not."""
    encrypted(binary, folder, "--passphrase-file", "p")
    for command, status, text in (("verify", 0, b"unchecked  decryption"), ("cat", 1, b"--passphrase-file FILE")):
        session = Session(binary, folder, command, "e.ald")
        session.read_until("empty for none: " if command == "verify" else "assword of the dataset (e.ald): ")
        session.type("")
        check(session.finish() == status and text in session.output, f"{session.output!r}")


def test_no_core_dump(binary, folder):
    encrypted(binary, folder, "--passphrase-file", "p")
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if most == 0:
        print("skipped: this system allows no core dumps")
        return
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))
    session = Session(binary, folder, "cat", "e.ald")
    session.read_until(": ")
    limits = Path(f"/proc/{session.pid}/limits").read_text()
    session.type(SECRET)
    check(session.finish() == 0, f"{session.output!r}")
    line = next(x for x in limits.splitlines() if x.startswith("Max core file size"))
    check(line.split()[4:6] == ["0", "0"], line)


def test_wrong_password(binary, folder):
    encrypted(binary, folder, "--passphrase-file", "p")
    session = Session(binary, folder, "cat", "e.ald")
    session.read_until(": ")
    session.type("another")
    check(session.finish() == 1 and b"DecryptionFailed" in session.output, f"{session.output!r}")


def test_no_question(binary, folder):
    """Nobody is asked for what is not needed: by a plain file, or by info and describe of an encrypted one."""
    encrypted(binary, folder, "--passphrase-file", "p")
    (Path(folder) / "m.json").write_text('{"name": "x"}')
    for status, args in ((1, ["cat", "u.ald", "--password"]), (0, ["cat", "u.ald", "--password", "--allow-plain"]),
                         (0, ["info", "e.ald"]), (0, ["schema", "e.ald"]), (0, ["describe", "e.ald", "--metadata", "m.json"]),
                         (0, ["cat", "e.ald", "--passphrase-file", "p"])):
        session = Session(binary, folder, *args)
        check(session.finish() == status, f"{args}: {session.output!r}")
        check(b"assword of" not in session.output, f"{args}: {session.output!r}")


def test_private_key(binary, folder):
    (Path(folder) / "kp").write_text("of the key\n")
    run(binary, folder, "keygen", "-q", "-o", "r", "--key-passphrase-file", "kp")
    encrypted(binary, folder, "--recipient", "r.pub")
    session = Session(binary, folder, "cat", "e.ald", "--private-key", "r")
    session.read_until("Passphrase of the key (r): ")
    session.type("of the key")
    check(session.finish() == 0 and b"123" in session.output, f"{session.output!r}")
    session = Session(binary, folder, "cat", "e.ald")
    check(session.finish() == 1 and b"--private-key FILE" in session.output, f"{session.output!r}")


def test_encrypt(binary, folder):
    """A new password is asked for twice, a wrong second one leaves the file as it was."""
    (Path(folder) / "in.csv").write_text("a\n123\n")
    run(binary, folder, "convert", "in.csv", "u.ald")
    before = (Path(folder) / "u.ald").read_bytes()
    for second, status in ((SECRET + "x", 2), (SECRET, 0)):
        session = Session(binary, folder, "encrypt", "u.ald", "--password")
        session.read_until("New password of the dataset (u.ald): ")
        session.type(SECRET)
        session.read_until("The same again: ")
        session.type(second)
        check(session.finish() == status, f"{session.output!r}")
        check(SECRET.encode() not in session.output, "the secret was shown")
        check(((Path(folder) / "u.ald").read_bytes() == before) == (status != 0), "what became of the file")
    (Path(folder) / "p").write_text(SECRET + "\n")
    run(binary, folder, "cat", "u.ald", "--passphrase-file", "p")


def test_two_secrets(binary, folder):
    """A sale: the key's passphrase, then the dataset's password, each by its name."""
    (Path(folder) / "kp").write_text("of the key\n")
    (Path(folder) / "in.csv").write_text("a\n123\n")
    run(binary, folder, "keygen", "-q", "-o", "s", "--key-passphrase-file", "kp")
    session = Session(binary, folder, "package", "in.csv", "o.ald", "--licensee", "A", "--key", "s", "--password")
    session.read_until("Passphrase of the key (s): ")
    session.type("of the key")
    session.read_until("New password of the dataset (in.csv): ")
    session.type(SECRET)
    session.read_until("The same again: ")
    session.type(SECRET)
    check(session.finish() == 0, f"{session.output!r}")
    session = Session(binary, folder, "open", "o.ald", "-", "--to", "csv", "--trusted-keys", "s.pub")
    session.read_until("assword of the dataset (o.ald)")
    session.type(SECRET)
    check(session.finish() == 0 and b"123" in session.output, f"{session.output!r}")


def test_protecting_needs_no_password(binary, folder):
    """An encrypted file is signed, licensed, checked and given a key for questions without anybody being asked."""
    encrypted(binary, folder, "--passphrase-file", "p")
    run(binary, folder, "keygen", "-q", "-o", "s", "--no-passphrase")
    run(binary, folder, "trust", "add", "s.pub")
    for args in (["license", "e.ald", "--licensee", "A", "--key", "s"], ["license", "check", "e.ald"],
                 ["license", "show", "e.ald"], ["query", "publish", "e.ald", "--key", "s"],
                 ["query", "seal", "e.ald", "--private-key", "s.pub", "-o", "q"], ["sign", "e.ald", "--key", "s"],
                 ["sign", "e.ald", "--strip"]):
        session = Session(binary, folder, *args)
        check(session.finish() == 0, f"{args}: {session.output!r}")
        check(b"assword of" not in session.output, f"{args}: {session.output!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    binary = str(Path(parser.parse_args().bin).resolve())
    tests = [test_keygen, test_asked_once, test_not_the_same, test_empty, test_too_long, test_interrupted, test_password,
             test_asked_once_for_several,
             test_no_password, test_no_core_dump, test_wrong_password, test_no_question, test_private_key, test_encrypt, test_two_secrets,
             test_protecting_needs_no_password]
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(binary, folder)
            except (Failed, OSError) as problem:
                failed += 1
                print(f"FAILED {test.__name__}: {problem}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
