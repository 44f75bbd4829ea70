# SPDX-License-Identifier: MIT
"""Compiles the library for wasm32 and links its modules; used by tools/wasm_check and tools/wasm_build.

Objects go to build/wasm/obj. One is made again when its command, its source or a header that it read has changed.
"""
import fcntl
import functools
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FETCHED = ROOT / "build/third_party"
OUT = ROOT / "build/wasm"
CORE = ("src/core", *(f"src/interchange/{name}" for name in ("text", "format", "csv", "jsonl", "schema_json", "filter")))
GLUE = "src/wasm"
MODULES = ("ald-reader.wasm", "ald.wasm")

TARGET = ["--target=wasm32-wasi", "-msimd128", "-mbulk-memory", "-msign-ext", "-mnontrapping-fptoint"]
COMPILE = [*TARGET, "-flto", "-std=c11", "-ffp-contract=off", "-ftls-model=local-exec", "-fvisibility=hidden",
           "-ffunction-sections", "-fdata-sections", "-DNDEBUG", "-Dyyjson_api=", "-DNANOARROW_DLL=", "-DALD_STATIC"]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wvla", "-Wstrict-prototypes", "-Wmissing-prototypes",
            "-Werror"]
LINK = [*TARGET, "-flto", "-Wl,--lto-O2", "-Wl,-O2", "-Wl,--compress-relocations", "-mexec-model=reactor", "-Wl,--gc-sections", "-Wl,--strip-all", "-Wl,--no-entry",
        "-Wl,--stack-first", "-Wl,-z,stack-size=131072"]
# No formatted output in the module: wasi-libc's would bring the file system's imports along.
FOREIGN = ["-w", "-Dsnprintf=ald__snprintf", "-Dvsnprintf=ald__vsnprintf"]
SODIUM_FOLDERS = ("include/sodium", "include/sodium/private", "src/curve25519", "src/blake2b", "src/argon2", "src/scrypt", "src/ed25519")
SODIUM = ["-DCONFIGURED=1", "-DSODIUM_STATIC", "-DNATIVE_LITTLE_ENDIAN", *(f"-I{FETCHED / 'libsodium' / f}" for f in SODIUM_FOLDERS)]
# Sources of others: glob -> flags of their own.
FOREIGN_SOURCES = {
    # The amalgamated zstd turns its threads on everywhere but there.
    "zstd/zstd.c": ["-D__EMSCRIPTEN__", "-DZSTD_STRIP_ERROR_STRINGS=1", "-DHUF_FORCE_DECOMPRESS_X1=1", "-DZSTD_NO_INLINE=1",
                    "-DZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT=1", "-DDYNAMIC_BMI2=0", "-DZSTD_NO_TRACE=1"],
    "lz4/lz4.c": [], "lz4/lz4hc.c": [], "lz4/lz4frame.c": [], "lz4/xxhash.c": [],
    "libdeflate/lib/crc32.c": ["-DLIBDEFLATE_CRC32_TABLE=ald__wasm_crc32_table"], "libdeflate/lib/utils.c": [],
    "blake3/blake3.c": [], "blake3/blake3_dispatch.c": [], "blake3/blake3_portable.c": [],
    **{f"bearssl/src/{name}.c": [f"-I{FETCHED / 'bearssl/inc'}", "-DBR_64=1"]
       for name in ("aes_ct64", "aes_ct64_ctr", "aes_ct64_enc", "dec32le", "enc32le", "ghash_ctmul64", "gcm", "ccopy")},
    **{f"libsodium/src/{name}.c": SODIUM
       for name in ("verify", "kdf_hkdf_sha256", "auth_hmacsha256", "hash_sha256_cp", "hash_sha512_cp",
                    "argon2/argon2-core", "argon2/argon2-fill-block-ref", "argon2/blake2b-long",
                    "argon2/pwhash_argon2id", "argon2/argon2-encoding", "blake2b/blake2b-ref",
                    "blake2b/blake2b-compress-ref", "blake2b/generichash_blake2b", "curve25519/scalarmult_curve25519",
                    "ed25519/ed25519_ref10", "scrypt/pbkdf2-sha256", "scrypt/scrypt_platform",
                    "scrypt/nosse/pwhash_scryptsalsa208sha256_nosse")},
    "libsodium/src/argon2/argon2.c": [*SODIUM, "-Drandombytes_buf=ald__wasm_blank"],
    # Its table of functions would bring the multiples of Ed25519's base point along.
    "libsodium/src/curve25519/ref10/x25519_ref10.c": [*SODIUM, "-Dge25519_scalarmult_base=ald__wasm_no_base"],
}
SYSTEM_FOLDERS = ("yyjson", "zstd", "lz4", "libdeflate", "blake3", "bearssl/inc", "libsodium/include")
OWN_FOREIGN = ROOT / "third_party/yyjson/yyjson_all.c"

# Most of a module runs once a file. These see every byte of it.
OPTIMIZE = {**dict.fromkeys(("crc32.c", "blake3_portable.c"), "-O2"),
            **dict.fromkeys(("zstd.c", "lz4.c", "aes_ct64.c", "aes_ct64_ctr.c", "aes_ct64_enc.c", "ghash_ctmul64.c"), "-Os")}


def find_tool(*names):
    for name in names:
        path = shutil.which(name) or shutil.which(name, path="/usr/lib/llvm-19/bin")
        if path:
            return path
    sys.exit(f"tools/wasm: {names[0]} is missing: run tools/setup test")


CLANG = os.environ.get("WASM_CC") or find_tool("clang-19")
NM = find_tool("llvm-nm-19", "llvm-nm")
WASM_OPT = [find_tool("wasm-opt"), "-Oz", "--enable-simd", "--enable-bulk-memory", "--enable-sign-ext",
            "--enable-nontrapping-float-to-int", "--enable-mutable-globals"]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@functools.cache
def include_flags():
    flags = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}"]
    for folder in SYSTEM_FOLDERS:
        flags += ["-isystem", str(FETCHED / folder)]
    return flags


class Unit:
    """One source file and how it is compiled."""

    def __init__(self, source, flags, variant=""):
        self.source, self.variant = source, variant
        self.command = [CLANG, *COMPILE, OPTIMIZE.get(source.name, "-Oz"), *flags, *include_flags(), "-c", str(source)]
        key = hashlib.sha256(" ".join(self.command).encode()).hexdigest()[:16]
        self.object = OUT / "obj" / f"{source.stem}{variant}-{key}.o"

    def seen(self, dependencies):
        """What the object was made from, as one hash."""
        digest = hashlib.sha256()
        for name in dependencies:
            digest.update(name.encode() + b"\n" + file_hash(name))
        return digest.hexdigest()

    def is_current(self):
        record = self.object.with_suffix(".seen")
        if not self.object.exists() or not record.exists():
            return False
        want, *dependencies = record.read_text().splitlines()
        return want == self.seen(dependencies)

    def compile(self):
        """-> error text, empty when the object is there"""
        if self.is_current():
            return ""
        scratch = self.object.with_suffix(f".{os.getpid()}")
        listing = self.object.with_suffix(f".{os.getpid()}.d")
        result = run([*self.command, "-MD", "-MF", str(listing), "-o", str(scratch)])
        if result.returncode != 0:
            scratch.unlink(missing_ok=True)
            listing.unlink(missing_ok=True)
            return result.stderr
        text = listing.read_text().replace("\\\n", " ").split(":", 1)[1]
        listing.unlink()
        dependencies = sorted(set(text.split()))
        scratch.rename(self.object)
        self.object.with_suffix(".seen").write_text("\n".join([self.seen(dependencies), *dependencies]))
        return ""


@functools.cache
def file_hash(name):
    try:
        return hashlib.sha256(Path(name).read_bytes()).digest()
    except OSError:
        return b""


# A module has one thread: these have less to do, and to bring along, than elsewhere.
ONE_THREAD = [ROOT / f"src/core/{name}.c" for name in (
    "dataset/block_pool", "dataset/chunker", "dataset/columns", "dataset/items", "watermark/mark_sort", "watermark/mark_survey")]


def core_units():
    sources = sorted(path for folder in CORE for path in (ROOT / folder).rglob("*.c"))
    return [Unit(path, [*WARNINGS, *(["-DALD_ONE_THREAD"] if path in ONE_THREAD else [])]) for path in sources]


def glue_units():
    sodium = ["-DCONFIGURED=1", "-DNATIVE_LITTLE_ENDIAN", "-isystem", str(FETCHED / "libsodium/include/sodium"),
              "-isystem", str(FETCHED / "libsodium/src/scrypt")]  # for its private headers' sake
    return [Unit(path, [*WARNINGS, *(sodium if path.parent.name == "crypto" else [])])
            for path in sorted((ROOT / GLUE).rglob("*.c"))]


READING = {"codec/codec.c": "-DALD_DECODE_ONLY"}


def reading_units():
    """Stand in for the units of the same sources in the module that only reads, and is to be small."""
    return [Unit(ROOT / "src/core" / name, [*WARNINGS, flag], "-reading") for name, flag in READING.items()]


def exports(module):
    """Names that a module exports, from src/wasm/exports.txt."""
    lines = (ROOT / GLUE / "exports.txt").read_text().splitlines()
    pairs = [line.split() for line in lines if line and not line.startswith("#")]
    return [name for where, name in pairs if where == "reader" or module == "ald.wasm"]


def units_of(module, core, glue, foreign):
    """The units that a module is linked from; what nothing in it needs is left out by the linker."""
    other = ROOT / GLUE / ("reading" if module == "ald.wasm" else "writing")
    units = [unit for unit in (*core, *glue) if unit.source.parent != other]
    if module != "ald.wasm":
        reading = reading_units()
        units = [unit for unit in units if unit.source not in {other.source for other in reading}] + reading
    return [*units, *foreign]


def foreign_units():
    units = [Unit(FETCHED / name, [*FOREIGN, *flags]) for name, flags in FOREIGN_SOURCES.items()]
    missing = [unit.source for unit in units if not unit.source.exists()]
    if missing:
        sys.exit(f"tools/wasm: {missing[0].relative_to(ROOT)} is missing: run tools/fetch --for all")
    return [*units, Unit(OWN_FOREIGN, FOREIGN)]


def compile_all(units, jobs):
    """-> [(unit, error text)]"""
    (OUT / "obj").mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        return list(zip(units, pool.map(Unit.compile, units)))


@functools.cache
def symbols(path):
    """-> (defined global names, undefined names) of an object or archive"""
    defined, undefined = set(), set()
    for line in run([NM, "--format=posix", "--extern-only", str(path)]).stdout.splitlines():
        match = re.match(r"(\S+) ([A-Za-z])\b", line)
        if match:
            (undefined if match[2] in "Uw" else defined).add(match[1])
    return defined, undefined


def builtins():
    path = run([CLANG, *TARGET, "--print-libgcc-file-name"]).stdout.strip()
    if not Path(path).exists():
        sys.exit("tools/wasm: libclang-rt-19-dev-wasm32 is missing: run tools/setup test")
    return symbols(path)[0]


# ---- what a module asks for: its sections are walked by hand to need no tool

def leb128(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at


def imports(module):
    """The imports of a module, as "module.name"."""
    at, names = 8, []
    while at < len(module):
        kind = module[at]
        size, start = leb128(module, at + 1)
        at = start + size
        if kind != 2:
            continue
        count, place = leb128(module, start)
        for _ in range(count):
            parts = []
            for _ in range(2):
                length, place = leb128(module, place)
                parts.append(module[place:place + length].decode())
                place += length
            names.append(".".join(parts))
            place = skip_import(module, place)
    return names


def skip_import(module, at):
    kind = module[at]
    if kind == 0:
        return leb128(module, at + 1)[1]
    if kind == 3:
        return at + 3
    at += 2 if kind == 1 else 1
    flags = module[at]
    at = leb128(module, at + 1)[1]
    return leb128(module, at)[1] if flags & 1 else at


def link(name, units, extra=()):
    """Links build/wasm/<name>, if anything of it has changed. -> (its bytes or None, error text)"""
    target, record = OUT / name, OUT / f"{name}.seen"
    command = [CLANG, *LINK, *extra, *(str(unit.object) for unit in units),
               *(f"-Wl,--export={name}" for name in exports(name))]
    seen = [unit.object.with_suffix(".seen").read_text().split("\n", 1)[0] for unit in units]
    want = hashlib.sha256("\n".join([*command, *WASM_OPT, *seen]).encode()).hexdigest()
    if target.exists() and record.exists() and record.read_text() == want:
        return target.read_bytes(), ""
    scratch = target.with_suffix(f".{os.getpid()}")
    for step in ([*command, "-o", str(scratch)], [*WASM_OPT, str(scratch), "-o", str(scratch)]):
        result = run(step)
        if result.returncode != 0:
            scratch.unlink(missing_ok=True)
            return None, result.stderr
    scratch.rename(target)
    record.write_text(want)
    return target.read_bytes(), ""


def build_modules(jobs):
    """Makes both modules for a test that needs them; what fails is said by tools/wasm_check, too."""
    with locked():
        core, glue, foreign = core_units(), glue_units(), foreign_units()
        errors = [error for _, error in compile_all([*core, *glue, *foreign, *reading_units()], jobs) if error]
        for name in MODULES if not errors else ():
            errors += [error for error in link(name, units_of(name, core, glue, foreign))[1:] if error]
    if errors:
        sys.exit(f"tools/wasm: {errors[0]}")


def gzip_size(data):
    return len(gzip.compress(data, 9, mtime=0))


def locked():
    """Held while modules are made: tests that run side by side all ask for them."""
    OUT.mkdir(parents=True, exist_ok=True)
    handle = open(OUT / ".lock", "w")
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle
