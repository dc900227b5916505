"""The build backend of the package (PEP 517): maturin, and the modules that `generate_config.py` writes.

These modules follow from the keys of the compiled module, so a wheel takes three steps: maturin compiles, the
generator writes what is missing from the folder of the package, and maturin packs it all. Nothing is compiled
twice.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def build_wheel(folder: str, config: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """Builds a wheel into a folder and returns its name."""
    with tempfile.TemporaryDirectory() as place:
        first = Path(place, maturin.build_wheel(place, config, metadata))
        with zipfile.ZipFile(first) as wheel:
            compiled = next(name for name in wheel.namelist() if Path(name).match("fowler/_core.*so"))
            generate(wheel.extract(compiled, place))
    return maturin.build_wheel(folder, config, metadata)


def build_editable(folder: str, config: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """Builds the compiled module into the folder of the package, and a wheel that points there."""
    wheel = maturin.build_editable(folder, config, metadata)
    generate()
    return wheel


def generate(*compiled: str) -> None:
    """Writes the generated modules in a separate process, because the generator loads the compiled module."""
    generator = Path(__file__).with_name("generate_config.py")
    subprocess.run([sys.executable, generator, *compiled], check=True)
