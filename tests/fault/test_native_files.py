#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command on file systems that fail: a full disk, folders and files without permission, a process killed outright.

    test_native_files.py --bin PATH

What was at the output's name before must be there afterwards, whole; nothing else may be left but, after kill -9, one
temporary file. The last line of output is `N passed, N failed`.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OLD = b"what was there before\n"
NOBODY = 65534
FORMATS = ("ald", "arrow", "arrows", "csv", "jsonl")


class Skipped(Exception):
    """What is missing here."""


def table(rows):
    """CSV text that does not shrink to nothing"""
    state, lines = 1, ["id,a,b"]
    for i in range(rows):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        lines.append(f"{i},{state >> 20},x{state:x}")
    return "\n".join(lines) + "\n"


def run(command, **options):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, **options)
    return result.returncode, result.stderr


def expect(ok, text):
    if not ok:
        raise AssertionError(text)


def expect_io_error(status, stderr, *parts):
    expect(status == 3, f"exit {status}, wanted 3: {stderr}")
    expect(stderr.startswith("alimentar: error: IoError: "), f"stderr {stderr!r}")
    for part in parts:
        expect(part in stderr, f"{part!r} is not in {stderr!r}")


def expect_old(path, only):
    expect(path.read_bytes() == OLD, f"{path.name} changed: {path.stat().st_size} bytes")
    names = sorted(os.listdir(path.parent))
    expect(names == sorted(only), f"the folder has {names}")


def test_full_disk(binary, folder):
    """a tmpfs of 256 KiB that the output does not fit on"""
    if os.geteuid() != 0:
        raise Skipped("mounting needs root")
    (folder / "in.csv").write_text(table(20000))
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode != 0:
        raise Skipped("no tmpfs can be mounted")
    try:
        for kind in FORMATS:
            output = disk / f"out.{kind}"
            output.write_bytes(OLD)
            command = [binary, "convert", "--force", str(folder / "in.csv"), str(output)]
            status, stderr = run(command + (["--compression", "none"] if kind == "ald" else []))
            expect_io_error(status, stderr, str(output), "No space left on device")
            expect_old(output, [output.name])
            output.unlink()
        # Scratch space is full too: the crate's layout is spooled.
        output = folder / "crate.ald"
        output.write_bytes(OLD)
        status, stderr = run([binary, "convert", "--force", "--compat", "alimentar-0.2", "--compression", "none",
                              str(folder / "in.csv"), str(output)], env={**os.environ, "TMPDIR": str(disk)})
        expect_io_error(status, stderr, "No space left on device")
        expect_old(output, ["crate.ald", "disk", "in.csv"])
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def as_user(folder, command):
    """Runs as somebody without rights, who may pass through `folder` and what is above it."""
    options = {}
    if os.geteuid() == 0:
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            subprocess.run(["true"], check=True, **options)
        except (OSError, subprocess.SubprocessError) as error:
            raise Skipped("other users are not to be had") from error
        os.chmod(folder, 0o755)
        if subprocess.run(["test", "-x", command[0]], **options).returncode != 0:
            shutil.copy2(command[0], folder / "alimentar")
            command = [str(folder / "alimentar"), *command[1:]]
    return run(command, **options)


def test_unreadable_input(binary, folder):
    """a file without read permission, as input and as metadata"""
    (folder / "in.csv").write_text("a\n1\n")
    os.chmod(folder / "in.csv", 0)
    for verb in ("schema", "cat", "info"):
        status, stderr = as_user(folder, [binary, verb, str(folder / "in.csv")])
        expect_io_error(status, stderr, "in.csv", "Permission denied")


def test_read_only_folder(binary, folder):
    """an output in a folder that cannot be written, new and replaced"""
    (folder / "in.csv").write_text("a\n1\n")
    place = folder / "place"
    place.mkdir()
    (place / "old.ald").write_bytes(OLD)
    os.chmod(place, 0o555)
    for name in ("old.ald", "new.ald"):
        status, stderr = as_user(folder, [binary, "convert", "--force", str(folder / "in.csv"), str(place / name)])
        expect_io_error(status, stderr, str(place / name), "Permission denied")
        expect_old(place / "old.ald", ["old.ald"])
    os.chmod(place, 0o755)


def start_and_kill(command, place, before, delay):
    """kill -9 `delay` seconds after a temporary file appeared; -> whether the process was still at work"""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while process.poll() is None and set(os.listdir(place)) == before and time.monotonic() < deadline:
        time.sleep(0.0005)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    return process.wait(timeout=60) == -signal.SIGKILL


def test_kill(binary, folder):
    """kill -9 in the middle of convert"""
    (folder / "in.csv").write_text(table(150000))
    place = folder / "place"
    place.mkdir()
    output = place / "out.ald"
    command = [binary, "convert", "--force", "--quiet", "--compression", "zstd-l19", str(folder / "in.csv"), str(output)]
    killed = 0
    for attempt in range(6):
        output.write_bytes(OLD)
        if not start_and_kill(command, place, {"out.ald"}, 0.01 * attempt):
            continue
        killed += 1
        expect(output.read_bytes() == OLD, "the old file changed")
        rest = [name for name in os.listdir(place) if name != "out.ald"]
        expect(len(rest) <= 1 and all(name.startswith("out.ald.") and name.endswith(".tmp") for name in rest),
               f"the folder has {rest}")
        for name in rest:
            (place / name).unlink()
    expect(killed > 0, "the command was never caught at work")
    status, stderr = run([binary, "convert", "--force", "--quiet", str(folder / "in.csv"), str(output)])
    expect(status == 0, stderr)
    status, stderr = run([binary, "verify", str(output)])
    expect(status == 0, stderr)
    expect(os.listdir(place) == ["out.ald"], f"the folder has {os.listdir(place)}")


def test_kill_append(binary, folder):
    """kill -9 in the middle of append: the file is as it was"""
    (folder / "in.csv").write_text(table(150000))
    place = folder / "place"
    place.mkdir()
    output = place / "out.ald"
    status, stderr = run([binary, "convert", "--quiet", "--streaming", "--compression", "none", str(folder / "in.csv"), str(output)])
    expect(status == 0, stderr)
    before = output.read_bytes()
    killed = 0
    for attempt in range(6):
        if start_and_kill([binary, "append", "--quiet", str(output), str(folder / "in.csv")], place, {"out.ald"}, 0.002 * attempt):
            killed += 1
            expect(output.read_bytes() == before, "the file changed")
        output.write_bytes(before)
        for name in os.listdir(place):
            if name != "out.ald":
                (place / name).unlink()
    expect(killed > 0, "the command was never caught at work")


def test_killed_shards(binary, folder):
    """a signal in the middle of shards: none of them is there, and after SIGTERM no temporary file"""
    (folder / "in.csv").write_text(table(100000))
    for number in (signal.SIGTERM, signal.SIGKILL):
        place = folder / f"place{number}"
        place.mkdir()
        command = [binary, "convert", "--quiet", "--compression", "zstd-l19", str(folder / "in.csv"), str(place / "s-{shard}.ald"),
                   "--rows-per-shard", "3000"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while process.poll() is None and len(os.listdir(place)) < 5 and time.monotonic() < deadline:
            time.sleep(0.0005)
        process.send_signal(number)
        expect(process.wait(timeout=60) == -number, "the command was not caught at work")
        rest = os.listdir(place)
        expect(all(name.endswith(".tmp") for name in rest), f"the folder has {rest}")
        expect(number == signal.SIGKILL or rest == [], f"the folder has {rest}")


def ints(path, first, count):
    path.write_text("a\n" + "".join(f"{first + i}\n" for i in range(count)))


def test_shards_half_replaced(binary, folder):
    """a set whose second file cannot be replaced: the mixture is not read, and written again it is whole"""
    if os.geteuid() != 0:
        raise Skipped("a file of another user needs root")
    place = folder / "place"
    place.mkdir()
    os.chmod(place, 0o1777)
    ints(folder / "old.csv", 0, 4)
    ints(folder / "new.csv", 100, 3)
    convert = [binary, "convert", "--force", "--quiet", "--rows-per-shard", "1"]
    out = str(place / "s-{shard}.ald")
    manifest = place / "s-manifest.json"

    def replace(stuck):
        """`old.csv` is there, `stuck` cannot be renamed over; -> stderr"""
        status, stderr = as_user(folder, [*convert, str(folder / "old.csv"), out])
        expect(status == 0, stderr)
        os.chown(place / stuck, 0, 0)
        status, stderr = as_user(folder, [*convert, str(folder / "new.csv"), out])
        expect_io_error(status, stderr, stuck, "Operation not permitted")
        expect(not [name for name in os.listdir(place) if name.endswith(".tmp")], "temporary files are left")
        os.chown(place / stuck, NOBODY, NOBODY)
        return stderr

    expect("half replaced" in replace("s-1.ald"), "no hint")
    for what in (manifest, place):
        for verb in ("cat", "verify", "info"):
            status, stderr = run([binary, verb, str(what)])
            expect(status == 1 and "two sets" in stderr, f"{verb}: exit {status}, {stderr}")
    status, stderr = run([*convert, str(folder / "new.csv"), out])
    expect(status == 0, stderr)
    expect(sorted(os.listdir(place)) == ["s-0.ald", "s-1.ald", "s-2.ald", "s-manifest.json"], os.listdir(place))
    status, stderr = run([binary, "diff", str(manifest), str(folder / "new.csv")])
    expect(status == 0, stderr)
    for name in os.listdir(place):
        os.chown(place / name, NOBODY, NOBODY)
    replace("s-0.ald")   # nothing was replaced: the old set is as it was
    status, stderr = run([binary, "diff", str(manifest), str(folder / "old.csv")])
    expect(status == 0, stderr)


def test_shards_killed_in_places(binary, folder):
    """kill -9 while the files of a set get their names: what is there is the whole set, or refused"""
    ints(folder / "in.csv", 0, 400)
    killed = 0
    for attempt in range(8):
        place = folder / f"place{attempt}"
        place.mkdir()
        command = [binary, "convert", "--quiet", str(folder / "in.csv"), str(place / "s-{shard}.csv"), "--rows-per-shard", "1"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while process.poll() is None and not (place / "s-manifest.json").exists() and time.monotonic() < deadline:
            time.sleep(0.0001)
        time.sleep(0.0003 * attempt)
        process.send_signal(signal.SIGKILL)
        killed += process.wait(timeout=60) == -signal.SIGKILL
        status, stderr = run([binary, "diff", str(place), str(folder / "in.csv")])
        expect(status == 0 or "two sets" in stderr, f"exit {status}, {stderr}")
    expect(killed > 0, "the command was never caught at work")


def test_shards_of_two_writers(binary, folder):
    """two processes that write one set at the same time: it is one of both, whole"""
    ints(folder / "a.csv", 0, 300)
    ints(folder / "b.csv", 5000, 300)
    place = folder / "place"
    place.mkdir()
    for attempt in range(8):
        writers = [subprocess.Popen([binary, "convert", "--force", "--quiet", str(folder / name), str(place / "s-{shard}.csv"),
                                     "--rows-per-shard", rows], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                   for name, rows in (("a.csv", "10"), ("b.csv", str(10 + attempt % 2 * 5)))]
        ends = [(writer.communicate(timeout=60)[1], writer.returncode) for writer in writers]
        expect(all(status == 0 for _, status in ends), ends)
        status, stderr = run([binary, "verify", str(place)])
        expect(status == 0, stderr)
        status, _ = run([binary, "diff", str(place), str(folder / "a.csv")])
        other, stderr = run([binary, "diff", str(place), str(folder / "b.csv")])
        expect(sorted((status, other)) == [0, 1], f"neither one nor the other: {stderr}")


def test_input_that_vanishes(binary, folder):
    """a file that shrinks between two commands is cut, not believed"""
    (folder / "in.csv").write_text(table(2000))
    status, stderr = run([binary, "convert", str(folder / "in.csv"), str(folder / "a.ald")])
    expect(status == 0, stderr)
    size = (folder / "a.ald").stat().st_size
    for keep in (0, 1, 31, 36, size // 2, size - 1):
        data = (folder / "a.ald").read_bytes()[:keep]
        (folder / "cut.ald").write_bytes(data)
        (folder / "out.csv").write_bytes(OLD)
        for verb in (["cat"], ["verify"], ["convert", "--force"]):
            more = [str(folder / "out.csv")] if verb[0] == "convert" else []
            status, stderr = run([binary, *verb, str(folder / "cut.ald"), *more])
            expect(status == 1 and "Truncated" in stderr, f"{verb[0]} of {keep} bytes: exit {status}, {stderr!r}")
        expect((folder / "out.csv").read_bytes() == OLD, "the old output changed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    binary = str(Path(parser.parse_args().bin).resolve())
    passed = failed = 0
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    for name, test in tests:
        folder = Path(tempfile.mkdtemp(prefix="alimentar-fault-"))
        try:
            test(binary, folder)
            passed += 1
        except Skipped as reason:
            print(f"{name} left out: {reason}")
        except (AssertionError, subprocess.TimeoutExpired) as problem:
            failed += 1
            print(f"FAILED {name} ({test.__doc__}): {problem}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
