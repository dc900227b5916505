"""The call behind results, which repeats it for requests and details that were not kept."""

from __future__ import annotations

import pickle
from typing import Any

from fowler import _arguments, _core
from fowler._progress import bar
from fowler._requests import once
from fowler.errors import Diagnostic, InputError


class Call:
    """A run, or a comparison if it has the names of schemes, which may be none on several drives.

    A call is pickled with its requests and policies if these can be pickled. Without them the call cannot be
    repeated.
    """

    def __init__(self, args: _arguments.Run, names: list[str] | None, progress: bool | None) -> None:
        """Notes the arguments of a call."""
        self._args: _arguments.Run | None = args
        self._names = names
        self._progress = progress
        self._why = ""
        self._later: dict[tuple[bool, bool], list[_core.Outcome]] = {}

    def start(self, keep: bool, seeds: int = 1) -> tuple[list[_core.Outcome], _core.Spread | None]:
        """Runs the call for the first time."""
        # A stream is gone afterwards: what a report needs is kept at once.
        return self._outcomes(keep, self._streams(), seeds)

    def again(self, place: int, keep: bool, detail: bool) -> _core.Outcome:
        """Repeats the call and returns one outcome.

        All runs of a comparison run again together, which shares the pass over a trace.

        Raises:
            InputError: if the call cannot be repeated.
        """
        why = self._why
        if self._streams():
            why = "its requests came from a stream, which can be read only once"
        if why:
            hint = "run it with requests=True, or pass a table, such as a polars frame, instead of a stream"
            raise InputError([Diagnostic("", None, "", f"the run cannot be repeated: {why}", hint=hint)])
        if (keep, detail) not in self._later:
            self._later[keep, detail] = self._outcomes(keep, detail, 1)[0]
        return self._later[keep, detail][place]

    def _streams(self) -> bool:
        custom = self._args and self._args["source"]["custom"]
        return bool(custom and once(custom[1]))

    def _outcomes(
        self, keep: bool, detail: bool, seeds: int
    ) -> tuple[list[_core.Outcome], _core.Spread | None]:
        assert self._args is not None, "a call without arguments says why it cannot be repeated"
        args: _arguments.Run = {**self._args, "detail": detail}
        spread = None
        with bar(self._progress, "requests") as tell:
            if self._names is None:
                outcomes = [_core.run(args, keep, tell)]
            else:
                outcomes, spread = _core.compare(args, self._names, keep, tell, seeds)
        for outcome in outcomes:
            outcome.raise_failure()
        return outcomes, spread

    def plain(self) -> dict[str, Any] | None:
        """Returns the call as values of JSON; ``None`` if it has requests or policies of the user's own."""
        if self._args is None or self._args["source"]["custom"] or self._args["policies"]:
            return None
        return {"args": {**self._args, "requests_file": None}, "names": self._names}

    @classmethod
    def of_plain(cls, plain: dict[str, Any] | None) -> Call:
        """Returns the call that :meth:`plain` described."""
        if plain is None:
            return _unrepeatable("its requests or policies are objects of Python, which files do not hold")
        # Files of earlier versions have no list of drives.
        plain["args"].setdefault("devices", [])
        return cls(plain["args"], plain["names"], None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the arguments."""
        if self._args is None:
            return _unrepeatable, (self._why,)
        if self._streams():
            return _unrepeatable, ("its requests came from a stream, which can be read only once",)
        try:
            pickle.dumps((self._args["source"]["custom"], self._args["policies"]))
        except Exception:  # whatever the user's objects raise
            return _unrepeatable, ("its requests or policies could not be pickled",)
        # A file that a user asked for is not written again elsewhere.
        return Call, ({**self._args, "requests_file": None}, self._names, self._progress)


def _unrepeatable(why: str) -> Call:
    call = Call.__new__(Call)
    call._args, call._names, call._progress, call._later = None, None, None, {}
    call._why = why
    return call
