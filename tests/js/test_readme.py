#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of the package's README in Chromium (tests/js/readme_page.mjs)."""
import engines

if __name__ == "__main__":
    engines.run_page("readme_page.mjs")
