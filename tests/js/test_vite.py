#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package in a page that Vite builds and serves (tests/js/vite_page.mjs)."""
import tempfile

import engines

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as tmp:
        # Vite takes a file of the package's name in the current folder for the package.
        engines.run_page("vite_page.mjs", tmp, needs=["vite"], cwd=tmp)
