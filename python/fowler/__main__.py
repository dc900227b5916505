"""The command ``fowler``: the same program that the Rust workspace builds."""

from __future__ import annotations

import sys

from fowler import _core


def main() -> int:
    """Runs the command line and returns the exit code."""
    return _core.main(["fowler", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
