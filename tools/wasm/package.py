# SPDX-License-Identifier: MIT
"""Puts the npm package together: bindings/js, the modules, and what is made from the library's own lists."""
import re

import build

TARGET = build.ROOT / "build/js/alimentar"
SOURCE = build.ROOT / "bindings/js"


def version():
    text = (build.ROOT / "include/ald/version.h").read_text()
    return ".".join(re.search(rf"define ALD_VERSION_{part} +(\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def put(path, data):
    """Written only when it differs, so that what is cached by time stays so."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def assemble():
    """-> the package's folder. The modules must have been built."""
    with build.locked():
        wanted = {}
        for path in sorted(p for p in SOURCE.rglob("*") if p.is_file()):
            wanted[path.relative_to(SOURCE).as_posix()] = path.read_bytes()
        wanted["package.json"] = wanted["package.json"].replace(b'"version": "0.0.0"', f'"version": "{version()}"'.encode())
        wanted["LICENSE"] = (build.ROOT / "LICENSE").read_bytes()
        for name in build.MODULES:
            wanted[name] = (build.OUT / name).read_bytes()
        for path in list(TARGET.rglob("*")) if TARGET.exists() else ():
            if path.is_file() and path.relative_to(TARGET).as_posix() not in wanted:
                path.unlink()
        for name, data in wanted.items():
            put(TARGET / name, data)
    return TARGET
