"""A bar while work takes its time: in a terminal and in a notebook, nowhere else."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def _watched() -> bool:
    """Whether somebody looks: a terminal, or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _kind() -> Any:
    """The bar of a notebook where one can be shown, else one of letters: tqdm's own choice warns instead."""
    # Imported here: a twentieth of a second that nobody pays who needs no bar.
    if "ipykernel.zmqshell" in sys.modules and importlib.util.find_spec("ipywidgets"):
        from tqdm.notebook import tqdm_notebook  # noqa: PLC0415

        return tqdm_notebook
    from tqdm import tqdm  # noqa: PLC0415

    return tqdm


@contextmanager
def bar(wanted: bool | None, unit: str) -> Iterator[Callable[[int, int], None] | None]:
    """What is called with what has been done and with all there is, or nothing.

    ``wanted`` is ``None`` to show it where somebody looks.
    """
    if not (_watched() if wanted is None else wanted):
        yield None
        return
    shown: Any = _kind()(unit=unit, unit_scale=unit == "requests", leave=False, delay=0.5)

    def tell(done: int, everything: int) -> None:
        if everything and shown.total != everything:
            # The total is known only later; a bar in a notebook takes it from here alone.
            shown.reset(everything)
        shown.update(done - shown.n)

    try:
        yield tell
    finally:
        shown.close()
