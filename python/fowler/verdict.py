"""Findings, which are sentences with the rules behind them, and means over several seeds."""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Mapping, Sequence

from fowler import _core
from fowler.errors import Diagnostic, InputError, arguments
from fowler.results import number

__all__ = ["Finding", "Interval", "Seeds"]


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a rule. ``str`` returns it as whole sentences.

    >>> both.verdict[0].text in str(both.verdict[0])
    True
    """

    rule: str
    """The rule: ``best``, ``noise``, ``coincide``, ``tail``, ``backlog``, ``idle``, ``steady`` or ``few``."""
    schemes: tuple[str, ...]
    """The schemes that the finding is about; empty where drives are compared."""
    text: str
    """The finding, in whole sentences."""
    numbers: Mapping[str, float]
    """The numbers that the finding stands on, with the thresholds that they crossed."""
    next: str | None
    """The next thing to try, to learn more; ``None`` if there is none."""
    devices: tuple[str, ...] = ()
    """The drives that the finding is about, where drives are compared."""

    def __str__(self) -> str:
        return self.text if self.next is None else f"{self.text} Try {self.next}."


def findings(text: str) -> tuple[Finding, ...]:
    """Returns the findings of a list in JSON, with flags rewritten as arguments."""
    return tuple(
        Finding(
            finding["rule"],
            tuple(finding.get("schemes", ())),
            arguments(finding["text"]),
            finding["numbers"],
            finding["next"] and arguments(finding["next"]),
            tuple(finding.get("devices", ())),
        )
        for finding in json.loads(text)
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Interval:
    """A mean, with its 95 % confidence interval by Student's t.

    >>> Interval(2.0, 0.5).low, Interval(2.0, 0.5).high
    (1.5, 2.5)
    """

    mean: float
    """The mean."""
    half_width: float
    """Half the width of the interval."""

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + self.half_width

    def __str__(self) -> str:
        return f"{number(self.mean)} ± {number(self.half_width)}"


class Seeds:
    """The metrics of a comparison over several seeds. The runs of the comparison are those of the first seed.

    >>> both.seeds
    <Seeds: 2 of fifo, rps>
    """

    def __init__(self, core: _core.Spread, schemes: Sequence[str]) -> None:
        """Wraps a spread of the compiled module."""
        self._its = core
        self._schemes = tuple(schemes)
        self._values: list[dict[str, list[float]]] = json.loads(core.text())

    @property
    def count(self) -> int:
        """The number of seeds."""
        return self._its.seeds

    def values(self, metric: str) -> dict[str, list[float]]:
        """Returns the values of a metric under each scheme, in the order of the seeds.

        >>> len(both.seeds.values("waf")["rps"])
        2

        Raises:
            InputError: if no scheme has numbers of that name.
        """
        self._known(metric)
        return {
            scheme: of_scheme.get(metric, [])
            for scheme, of_scheme in zip(self._schemes, self._values, strict=True)
        }

    def mean(self, metric: str) -> dict[str, Interval | None]:
        """Returns the mean of a metric under each scheme; ``None`` if it is not known under each seed.

        >>> both.seeds.mean("read.mean_us")["rps"].half_width > 0.0
        True

        Raises:
            InputError: if no scheme has numbers of that name.
        """
        self._known(metric)
        return {scheme: _interval(self._its.mean(at, metric)) for at, scheme in enumerate(self._schemes)}

    def ratio(self, metric: str) -> dict[str, Interval | None]:
        """Returns the ratio of a metric to that of the first scheme, each seed for itself.

        Variation between seeds that all schemes share does not widen these intervals. ``None`` if the metric
        is not known, or not above zero under the first scheme, under each seed.

        >>> both.seeds.ratio("read.mean_us")["fifo"]
        Interval(mean=1.0, half_width=0.0)

        Raises:
            InputError: if no scheme has numbers of that name.
        """
        self._known(metric)
        return {scheme: _interval(self._its.ratio(at, metric)) for at, scheme in enumerate(self._schemes)}

    def _known(self, metric: str) -> None:
        names = {name for of_scheme in self._values for name in of_scheme}
        if metric not in names:
            near = difflib.get_close_matches(str(metric), names, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "`fowler.metrics()` lists all metrics"
            what = f"`{metric}` is no metric with a number under any scheme"
            raise InputError([Diagnostic("metric", None, "", what, hint=hint)])

    def __repr__(self) -> str:
        """Shows the number of seeds and the schemes."""
        return f"<Seeds: {self.count} of {', '.join(self._schemes)}>"


def _interval(pair: tuple[float, float] | None) -> Interval | None:
    return None if pair is None else Interval(*pair)
