"""A progress bar for long calls, shown in terminals and notebooks only."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def _watched() -> bool:
    """True if output goes to a terminal or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _kind() -> Any:
    """Returns the notebook bar if it can be shown, else the text bar. `tqdm.auto` would warn instead."""
    # Imported here because the import takes 50 ms, which calls without a bar need not spend.
    if "ipykernel.zmqshell" in sys.modules and importlib.util.find_spec("ipywidgets"):
        from tqdm.notebook import tqdm_notebook  # noqa: PLC0415

        return tqdm_notebook
    from tqdm import tqdm  # noqa: PLC0415

    return tqdm


@contextmanager
def bar(wanted: bool | None, unit: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yields a function that takes ``(done, total)`` and updates the bar, or ``None`` without a bar.

    ``wanted`` is ``None`` to show the bar in terminals and notebooks only.
    """
    if not (_watched() if wanted is None else wanted):
        yield None
        return
    shown: Any = _kind()(unit=unit, unit_scale=unit == "requests", leave=False, delay=0.5)

    def tell(done: int, everything: int) -> None:
        if everything and shown.total != everything:
            # The total becomes known during the run. A notebook bar accepts it only through `reset`.
            shown.reset(everything)
        shown.update(done - shown.n)

    try:
        yield tell
    finally:
        shown.close()
