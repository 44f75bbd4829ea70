#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the command and compares what it prints and how it ends with what the cases say.

    test_cli.py --bin PATH [--only TEXT] [--keep] [CASES.toml ...]      default: every *.toml of this folder

A case ([[case]] in a TOML file) runs in an empty folder, with an ALIMENTAR_HOME of its own that is not there yet:
    name        what it shows
    files       name = text, written first
    links       name = target, symbolic links made first
    run         shell lines; `alimentar` is the tool. All but the last must exit 0
    exit        of the last line (0)
    stdout, stderr          its whole output ("" when absent); `stdout_has`, `stderr_has` (lists) instead: parts of it
    stdin       text for the last line
    tty         "both": stdout and stderr are a terminal, 100 columns wide (then their text is compared as stdout)
    file_limit  bytes that the last line may write to one file (a full disk)
    unchanged   files that must be as they were before the last line
    after       name = text, of files that must be there afterwards
    only        the names that must be in the folder afterwards
    needs       a command that must exist, or "the parquet module"; else the case is skipped

The last line of output is `N passed, N failed`.
"""
import argparse
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import fcntl
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
SANITIZERS = ("AddressSanitizer", "LeakSanitizer", "runtime error:", "UndefinedBehaviorSanitizer")


class Failed(Exception):
    """What differs."""


def limits(case):
    """What the child sets before it runs the last line."""
    def apply():
        if "file_limit" in case:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)   # a write then fails with EFBIG, as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (case["file_limit"], case["file_limit"]))
    return apply


def run_tty(line, folder, env):
    """-> (status, output) with a terminal as stdout and stderr"""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    process = subprocess.Popen(["sh", "-c", line], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
    os.close(slave)
    output = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        output += part
    os.close(master)
    return process.wait(timeout=60), output.decode("utf-8", "replace")


def run_line(line, folder, env, case=None):
    """-> (status, stdout, stderr)"""
    case = case or {}
    if case.get("tty"):
        status, output = run_tty(line, folder, env)
        return status, output, ""
    process = subprocess.run(["sh", "-c", line], cwd=folder, env=env, input=case.get("stdin", "").encode(),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, preexec_fn=limits(case))
    return process.returncode, process.stdout.decode("utf-8", "replace"), process.stderr.decode("utf-8", "replace")


def compare(case, what, got):
    parts = case.get(what + "_has")
    if parts is None:
        want = case.get(what, "")
        if got != want:
            raise Failed(f"{what} is\n{got}--- wanted\n{want}---")
        return
    for part in parts:
        if part not in got:
            raise Failed(f"{what} lacks {part!r}: {got!r}")


def check_folder(case, folder, before):
    for name, content in before.items():
        if not (folder / name).exists() or (folder / name).read_bytes() != content:
            raise Failed(f"{name} was changed")
    for name, text in case.get("after", {}).items():
        if not (folder / name).exists():
            raise Failed(f"{name} was not written")
        got = (folder / name).read_text(encoding="utf-8", errors="replace")
        if got != text:
            raise Failed(f"{name} is\n{got}--- wanted\n{text}---")
    if "only" in case:
        got = sorted(os.listdir(folder))
        if got != sorted(case["only"]):
            raise Failed(f"the folder holds {got}, wanted {sorted(case['only'])}")


def run_case(case, folder, env):
    for name, text in case.get("files", {}).items():
        (folder / name).write_bytes(text.encode())
    for name, target in case.get("links", {}).items():
        os.symlink(target, folder / name)
    lines = [case["run"]] if isinstance(case["run"], str) else case["run"]
    for line in lines[:-1]:
        status, _, err = run_line(line, folder, env)
        if status != 0:
            raise Failed(f"exit {status} from `{line}`: {err}")
    before = {name: (folder / name).read_bytes() for name in case.get("unchanged", [])}
    status, out, err = run_line(lines[-1], folder, env, case)
    for word in SANITIZERS:
        if word in err:
            raise Failed(f"{word}: {err[:2000]}")
    if status != case.get("exit", 0):
        raise Failed(f"exit {status}, wanted {case.get('exit', 0)}: {err}")
    compare(case, "stdout", out)
    compare(case, "stderr", err)
    check_folder(case, folder, before)


def environment(binary, home):
    tools = home / "bin"
    tools.mkdir()
    (tools / "alimentar").symlink_to(binary)
    return dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", HOME=str(home), LC_ALL="C.UTF-8", NO_COLOR="1", TMPDIR=str(home))


def has(needed, binary):
    if needed != "the parquet module":
        return shutil.which(needed) is not None
    done = subprocess.run([binary, "schema", "--from", "parquet", "-"], input=b"", capture_output=True)
    return b"which is not installed" not in done.stderr


def main():
    parser = argparse.ArgumentParser(description="Runs the command-line cases.")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--keep", action="store_true", help="keep the folders")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="ald-cli-"))
    env = environment(os.path.abspath(options.bin), home)
    passed = failed = 0
    for path in options.files or sorted(HERE.glob("*.toml")):
        for number, case in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["case"]):
            if options.only not in case["name"]:
                continue
            if "needs" in case and not has(case["needs"], options.bin):
                print(f"skipped {path.stem}: {case['name']}: no {case['needs']}")
                continue
            folder = home / f"{path.stem}-{number}"
            folder.mkdir()
            try:
                run_case(case, folder, dict(env, ALIMENTAR_HOME=f"{folder}-home"))
                passed += 1
            except (Failed, subprocess.TimeoutExpired) as problem:
                failed += 1
                print(f"FAIL {path.stem}: {case['name']}: {problem}")
    if options.keep:
        print(f"kept {home}")
    else:
        shutil.rmtree(home, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
