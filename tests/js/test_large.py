#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A remote file of more than 1.5 GB in Chromium (tests/js/large_page.mjs)."""
import engines

if __name__ == "__main__":
    engines.run_page("large_page.mjs")
