"""A bar while work takes its time: in a terminal and in a notebook, nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def _watched() -> bool:
    """Whether somebody looks: a terminal, or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


@contextmanager
def bar(wanted: bool | None, unit: str) -> Iterator[Callable[[int, int], None] | None]:
    """What is called with what has been done and with all there is, or nothing.

    ``wanted`` is ``None`` to show it where somebody looks.
    """
    if not (_watched() if wanted is None else wanted):
        yield None
        return
    from tqdm import tqdm  # noqa: PLC0415  (a twentieth of a second that nobody pays who needs no bar)

    shown: Any = tqdm(unit=unit, unit_scale=unit == "requests", leave=False, delay=0.5)

    def tell(done: int, everything: int) -> None:
        shown.total = everything or None
        shown.update(done - shown.n)

    try:
        yield tell
    finally:
        shown.close()
