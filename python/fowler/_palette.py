"""The colors of schemes and causes on white paper.

Copied from crates/figures/src/palette.rs by `make bless`; do not edit.
"""

from __future__ import annotations

SCHEMES = (
    "#004166",
    "#a82c00",
    "#009451",
    "#c76ba6",
    "#cb6800",
    "#1862b8",
    "#1b1f24",
)
"""By the place of a scheme in the comparison."""

CAUSES = {
    "host_link": ("#1862b8", ".."),
    "throttled": ("#cb6800", ".."),
    "queue_full": ("#cb6800", "////"),
    "buffer_full": ("#cb6800", ""),
    "no_space": ("#cb6800", "\\\\\\\\"),
    "behind_host_read": ("#004166", ""),
    "behind_host_program": ("#a82c00", ""),
    "behind_host_erase": ("#c76ba6", ""),
    "behind_gc_read": ("#004166", "////"),
    "behind_gc_program": ("#a82c00", "////"),
    "behind_gc_erase": ("#c76ba6", "////"),
    "behind_wear_read": ("#004166", ".."),
    "behind_wear_program": ("#a82c00", ".."),
    "behind_wear_erase": ("#c76ba6", ".."),
    "behind_refresh_read": ("#004166", "\\\\\\\\"),
    "behind_refresh_program": ("#a82c00", "\\\\\\\\"),
    "behind_refresh_erase": ("#c76ba6", "\\\\\\\\"),
    "behind_parity_read": ("#004166", "---"),
    "behind_parity_program": ("#a82c00", "---"),
    "channel": ("#1862b8", "////"),
    "suspend": ("#1b1f24", ""),
    "merge": ("#1b1f24", "////"),
    "sense": ("#009451", ""),
    "transfer": ("#1862b8", ""),
    "program": ("#009451", "\\\\\\\\"),
    "soft_sensing": ("#009451", "////"),
    "retry": ("#009451", ".."),
    "parity": ("#1b1f24", ".."),
    "degraded": ("#1b1f24", "\\\\\\\\"),
    "mapping": ("#1862b8", "\\\\\\\\"),
    "other": ("#8a9199", ""),
}
"""By the name of a cause: its color and hatch."""
