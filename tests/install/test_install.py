#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installs a build into an empty folder and uses it as a stranger would: through pkg-config and through find_package,
with the shared and the static library; the command, its man pages and completions are where they belong.

    test_install.py --bin BUILD/alimentar

Skipped where the build has no shared library (sanitizer builds). Ends with `N passed, N failed`.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "examples/load.c"
CONSUMER = """
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(alimentar REQUIRED)
foreach(kind ald ald_static)
    add_executable(with_${kind} "%s")
    target_link_libraries(with_${kind} PRIVATE alimentar::${kind})
endforeach()
"""
FILES = ("bin/alimentar", "include/ald/ald.h", "share/man/man1/alimentar.1",
         "share/bash-completion/completions/alimentar", "share/zsh/site-functions/_alimentar",
         "share/fish/vendor_completions.d/alimentar.fish", "share/licenses/alimentar/LICENSE",
         "share/mime/packages/alimentar.xml", "share/alimentar/alimentar.magic")


class Failed(Exception):
    """What went wrong, with the output of the command."""


def run(command, **kwargs):
    result = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, **kwargs)
    if result.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{result.stdout}")
    return result.stdout


def pkg_config(prefix, *options):
    found = sorted(prefix.rglob("pkgconfig"))
    env = dict(os.environ, PKG_CONFIG_PATH=str(found[0]))
    return run(["pkg-config", *options, "libald"], env=env).split()


def library_folder(prefix):
    return next(iter(prefix.rglob("libald.so"))).parent


def check_files(prefix, _, __):
    missing = [name for name in FILES if not (prefix / name).exists()]
    if missing:
        raise Failed(f"not installed: {', '.join(missing)}")


def check_names(prefix, _, __):
    """libald.so -> libald.so.0 -> the versioned file, as the soname says."""
    library = library_folder(prefix) / "libald.so"
    version = run(["pkg-config", "--modversion", "libald"],
                  env=dict(os.environ, PKG_CONFIG_PATH=str(next(iter(prefix.rglob("pkgconfig")))))).strip()
    if library.resolve().name != f"libald.so.{version}":
        raise Failed(f"libald.so is {library.resolve().name}, the version {version}")
    soname = run(["readelf", "-d", library])
    if "[libald.so.0]" not in soname:
        raise Failed(f"no soname libald.so.0:\n{soname}")


def check_shared(prefix, work, data):
    run(["cc", PROGRAM, *pkg_config(prefix, "--cflags", "--libs"), "-o", work / "shared"])
    run([work / "shared", data, "year"], env=dict(os.environ, LD_LIBRARY_PATH=str(library_folder(prefix))))


def check_static(prefix, work, data):
    libs = [lib for lib in pkg_config(prefix, "--cflags", "--libs", "--static") if lib != "-lald"]
    run(["cc", PROGRAM, library_folder(prefix) / "libald.a", *libs, "-o", work / "static"])
    run([work / "static", data, "year"])


def check_documents(prefix, work, data):
    """The programs of docs/STREAMING.md as they stand there."""
    text = (ROOT / "docs/STREAMING.md").read_text()
    programs = [part.split("```")[0] for part in text.split("```c\n")[1:] if part.startswith("#include")]
    convert = [prefix / "bin/alimentar", "convert", ROOT / "examples/data/penguins.csv", "--null", "NA"]
    run([*convert, work / "train.ald", "--streaming"])
    run([*convert, work / "aligned.ald", "--aligned"])
    said = []
    for program in programs:
        (work / "program.c").write_text(program)
        run(["cc", "-Wall", "-Wextra", "-Werror", work / "program.c", *pkg_config(prefix, "--cflags", "--libs"), "-o",
             work / "program"])
        said += [run([work / "program"], cwd=work, env=dict(os.environ, LD_LIBRARY_PATH=str(library_folder(prefix))))]
    if said != ["344 rows, 3 read\n", "342 values, sum 15021.3\n"]:
        raise Failed(f"the programs of docs/STREAMING.md say {said}")


def check_cmake(prefix, work, data):
    source = work / "consumer"
    source.mkdir()
    (source / "CMakeLists.txt").write_text(CONSUMER % PROGRAM)
    run(["cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={prefix}"])
    run(["cmake", "--build", source / "build"])
    for kind in ("ald", "ald_static"):
        run([source / "build" / f"with_{kind}", data, "year"])


def check_parquet(prefix, work, data):
    """The module is found where it is installed, and finds its libraries there: not those of the build."""
    command = prefix / "bin/alimentar"
    if not any(prefix.rglob("libald_parquet.so")):
        return
    run([command, "convert", data, work / "penguins.parquet"])
    again = run([command, "cat", "--json", work / "penguins.parquet"])
    if again != run([command, "cat", "--json", data]):
        raise Failed("the rows that come back from Parquet are others")
    libraries = run(["ldd", next(iter(prefix.rglob("libald_parquet.so")))])
    if "not found" in libraries or "third_party" in libraries:
        raise Failed(libraries)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True)
    build = parser.parse_args().bin.resolve().parent
    if not (build / "libald.so").exists():
        print("skipped: this build has no shared library")
        return 77
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        work, prefix = Path(folder), Path(folder) / "usr"
        run(["cmake", "--install", build, "--prefix", prefix])
        data = work / "penguins.ald"
        run([prefix / "bin/alimentar", "convert", ROOT / "examples/data/penguins.csv", data])
        for check in (check_files, check_names, check_shared, check_static, check_documents, check_cmake,
                      check_parquet):
            try:
                check(prefix, work, data)
                passed += 1
            except Failed as problem:
                failed += 1
                print(f"{check.__name__}: {problem}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
